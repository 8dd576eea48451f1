"""Parameter: a Tensor with a name that a Cell owns and an optimizer updates."""
import itertools

import numpy as np

from mindspore.common import dtype as mstype, hook_handle
from mindspore.common._rows import nn as _nn
from mindspore.common.tensor import Tensor

__all__ = ["Parameter", "ParameterTuple"]

_numbers = itertools.count(1)
_GENERATED = "Parameter#"


def _is_parameter_generated(name):
    """Whether nobody gave a Parameter this name."""
    return isinstance(name, str) and name.startswith(_GENERATED)



def _initial(default_input):
    """A new Tensor with the initial values, which nobody else holds."""
    if isinstance(default_input, Tensor):
        if default_input.has_init:
            from mindspore.common.initializer import make
            return make(default_input.init, default_input.shape, default_input.dtype)
        return Tensor(default_input)
    if isinstance(default_input, bool):
        raise ValueError("Parameter data can not be `bool`")
    if isinstance(default_input, int):
        return Tensor(default_input, mstype.int32)
    if isinstance(default_input, (float, list, np.ndarray, np.generic)):
        return Tensor(default_input)
    if default_input is None or isinstance(default_input, str):
        raise TypeError("For 'Tensor', the type of 'input_data' should be one of '['TensorPy', 'Tensor', 'ndarray', 'str_', "
                        f"'list', 'tuple', 'float', 'int', 'bool', 'complex', 'bytes']', but got type "
                        f"'{type(default_input).__name__}'.")
    raise TypeError("The type of the argument 'default_input' must be in ['Tensor', 'int', 'float', 'numpy.ndarray', 'list']. "
                    f"But got type {type(default_input)}.")


def _flag(name):
    def read(self):
        return self.__dict__.get("_" + name, False)

    def write(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"The argument `{name}` must be bool type.")
        self.__dict__["_" + name] = value
    return property(read, write)


class ParamInfo:
    """What a Parameter is besides its data; reads and writes go to the Parameter, ``obj``."""

    NAMES = ("name", "requires_grad", "layerwise_parallel", "parallel_optimizer", "parallel_optimizer_comm_recompute", "comm_fusion",
             "requires_aggr", "cache_enable", "cache_shape", "key", "storage_format")

    def __init__(self, obj):
        self.__dict__["obj"] = obj

    @property
    def parameter_shape(self):
        return list(self.obj.shape)

    def __getattr__(self, name):
        if name not in self.NAMES:
            raise AttributeError(f"'ParamInfo' object has no attribute {name!r}")
        return getattr(self.obj, name)

    def __setattr__(self, name, value):
        if name not in self.NAMES:
            raise AttributeError(f"'ParamInfo' object has no attribute {name!r} that can be set")
        setattr(self.obj, name, value)


class Parameter(Tensor):
    """A Tensor that is trained. ``default_input``: a Tensor (of ``initializer`` too), a number, an ndarray or a list."""

    init_mode = None
    is_init = False
    sliced = False
    cache_enable = False
    cache_shape = ()
    key = -1
    unique = False
    comm_fusion = 1
    requires_aggr = True

    def __new__(cls, default_input, *args, **kwargs):
        return Tensor.__new__(cls, 0).__share(_initial(default_input))

    def __init__(self, default_input, name=None, requires_grad=True, layerwise_parallel=False, parallel_optimizer=True,
                 storage_format=""):
        self.name = name
        self.requires_grad = requires_grad
        self.layerwise_parallel, self.parallel_optimizer = layerwise_parallel, parallel_optimizer
        self.storage_format = storage_format

    def __share(self, tensor):
        return Tensor.assign_value(self, tensor)

    @classmethod
    def _ms_adopt(cls, tensor, name=None, requires_grad=True):
        """A Parameter over the memory of ``tensor``."""
        self = Tensor.__new__(cls, 0).__share(tensor)
        cls.__init__(self, tensor, name, requires_grad)
        return self

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name in hook_handle.watched:
            hook_handle.version[0] += 1

    # ---- name and flags ----

    @property
    def name(self):
        return self._name

    @name.setter
    def name(self, value):
        if value is not None and not isinstance(value, str):
            raise ValueError(f"The type of the Parameter's name should be 'string' or 'None', but got {type(value)}.")
        self._ms_unnamed = not value
        self._name = value or f"{_GENERATED}{next(_numbers)}"

    @property
    def requires_grad(self):
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, bool):
            raise TypeError("The argument `requires_grad` must be bool type")
        self._requires_grad = value

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self

    layerwise_parallel = _flag("layerwise_parallel")
    parallel_optimizer = _flag("parallel_optimizer")
    parallel_optimizer_comm_recompute = _flag("parallel_optimizer_comm_recompute")

    @property
    def param_info(self):
        return ParamInfo(self)

    @param_info.setter
    def param_info(self, info):
        for name in ParamInfo.NAMES:
            setattr(self, name, getattr(info, name))

    @property
    def inited_param(self):
        """The Parameter that replaced this one when it was initialised: none, it is initialised at once."""
        return None

    # ---- values ----

    def value(self):
        """The data as a plain Tensor that shares memory."""
        return Tensor.__new__(Tensor, 0).assign_value(self)

    @property
    def data(self):
        return self.value()

    @data.setter
    def data(self, value):
        self.set_data(value)

    def init_data(self, layout=None, set_sliced=False):
        """The Parameter itself: its data are made at once."""
        return self

    def assign_value(self, value):
        """Writes ``value`` into the elements, cast to the Parameter's type."""
        if isinstance(value, Tensor) and tuple(value.shape) != tuple(self.shape):
            return self.set_data(value)
        _nn.assign(self, value)
        return self

    def set_data(self, data, slice_shape=False):
        """Replaces the data by a Tensor or a number, also by one of another shape; the type stays."""
        if isinstance(data, bool) or not isinstance(data, (Tensor, int, float)):
            raise TypeError("Parameter data must be [`Tensor`, `int`, `float`] or a kind of `Tensor` (like `Tensor`). But with "
                            f"type {type(data)}.")
        if not isinstance(data, Tensor):
            data = Tensor(data, self.dtype)
        elif data.has_init:
            data = _initial(data)
        if tuple(data.shape) == tuple(self.shape):
            _nn.assign(self, data)
        else:
            self.__share(Tensor(data, self.dtype))
        return self

    def set_dtype(self, dtype):
        """Casts the data, and with them the Parameter, to another type."""
        if dtype != self.dtype:
            self.__share(self.value().astype(dtype))
        return self

    def clone(self, init="same"):
        """A new Parameter of this name: with the same values, or those that ``initializer(init)`` gives."""
        if isinstance(init, str) and init == "same":
            values = Tensor(self)
        else:
            from mindspore.common.initializer import initializer
            values = _initial(initializer(init, self.shape, self.dtype)) if self.size else Tensor(self)
        new = type(self)._ms_adopt(values, self._name, self._requires_grad)
        for flag in ("layerwise_parallel", "parallel_optimizer", "parallel_optimizer_comm_recompute"):
            setattr(new, flag, getattr(self, flag))
        return new

    def copy(self):
        """A new Parameter with the same name and values."""
        return self.clone()

    # ---- Python protocols ----

    def __repr__(self):
        return (f"Parameter (name={self._name}, shape={tuple(self.shape)}, dtype={self.dtype}, "
                f"requires_grad={self._requires_grad})")

    __str__ = __repr__

    def __reduce__(self):
        return _rebuild, (type(self), self.value(), dict(self.__dict__))

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __deepcopy__(self, memo):
        new = _rebuild(type(self), Tensor(self), dict(self.__dict__))
        memo[id(self)] = new
        return new


def _rebuild(cls, tensor, state):
    new = cls._ms_adopt(tensor)
    new.__dict__.update(state)
    return new


class _Buffer(Tensor):
    """A Tensor that a Cell keeps as a buffer when it is assigned to an attribute."""


class ParameterTuple(tuple):
    """Parameters whose names differ."""

    def __new__(cls, iterable):
        data = tuple(iterable)
        seen = {}
        for p in data:
            if not isinstance(p, Parameter):
                raise TypeError("For ParameterTuple initialization, ParameterTuple input should be 'Parameter' collection, but "
                                f"got a {type(iterable)}. ")
            if seen.setdefault(p.name, p) is not p:
                raise ValueError(f"The value {p} , its name '{p.name}' already exists. Please set a unique name for the "
                                 "parameter.")
        return tuple.__new__(cls, data)

    def clone(self, prefix, init="same"):
        """New Parameters called prefix.name; see Parameter.clone."""
        if not isinstance(prefix, str):
            raise TypeError(f"For 'clone', the 'prefix' must be str, but got {type(prefix).__name__}.")
        new = []
        for p in self:
            q = p.clone(init)
            q.name = f"{prefix}.{p.name}"
            new.append(q)
        return ParameterTuple(new)
