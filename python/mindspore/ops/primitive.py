"""Primitive: an operator as an object, its attributes given when it is made and its inputs when it is called.

The classes of ``mindspore.ops`` are lines of the table in ``operations/_table.py``: attributes, inputs, and the call of
the library that computes them.
"""
import functools
import inspect


__all__ = ["Primitive", "PrimitiveWithInfer", "PrimitiveWithCheck", "prim_attr_register", "constexpr"]

_SEVERAL = ("axis", "dilation", "kernel_size", "output_padding", "pad", "pad_list", "pads", "stride", "strides")  # a number or one per axis
_KINDS = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}


class Primitive:
    """Base of operator objects; subclasses define ``__call__`` or, as existing code does, ``__infer__`` for documentation."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"For 'Primitive', the 'name' must be str, but got {type(name).__name__}.")
        self.name = name
        self.attrs = {}
        self.instance_name = name
        self.init_attrs = {"name": name}

    def add_prim_attr(self, name, value):
        """Keeps an attribute under its name; returns the primitive."""
        self.__dict__[name] = value
        self.attrs[name] = value
        return self

    def del_prim_attr(self, name):
        self.__dict__.pop(name, None)
        self.attrs.pop(name, None)
        return self

    def _set_prim_arg(self, name, value):
        return self.add_prim_attr(name, value)

    def init_prim_io_names(self, inputs, outputs):
        """Names inputs and outputs; kept as attributes."""
        self.attrs["input_names"], self.attrs["output_names"] = inputs, outputs

    def set_prim_instance_name(self, name):
        self.instance_name = name
        return self

    def set_device(self, device_target):
        """Operators run on the CPU."""
        if device_target != "CPU":
            raise ValueError(f"For 'set_device', the 'device_target' must be 'CPU', but got {device_target}.")
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage):
        return self.add_prim_attr("stage", stage)

    def shard(self, in_strategy=None, out_strategy=None):
        """Keeps a strategy; on one device every strategy is the same computation."""
        if in_strategy is not None and not isinstance(in_strategy, (tuple, list)):
            raise TypeError(f"For 'shard', the 'in_strategy' must be tuple, but got {type(in_strategy).__name__}.")
        self.add_prim_attr("in_strategy", in_strategy)
        if out_strategy is not None:
            self.add_prim_attr("out_strategy", out_strategy)
        return self

    def recompute(self, mode=True):
        """Asks to compute the output again for the gradient; values are the same either way."""
        if not isinstance(mode, bool):
            raise TypeError(f"For 'recompute', the 'mode' must be bool, but got {type(mode).__name__}.")
        return self.add_prim_attr("recompute", mode)

    def place(self, role, rank_id):
        raise NotImplementedError("For 'place', computing an operator in another process is not supported.")

    @property
    def update_parameter(self):
        """Whether the primitive writes its inputs."""
        return False

    def check_elim(self, *args):
        """(False, None): no call is replaced by a known value."""
        return False, None

    def __call__(self, *args):
        raise NotImplementedError(f"The primitive '{self.name}' has no implementation: define '__call__'.")

    def __repr__(self):
        attrs = ", ".join(f"{k}={v}" for k, v in self.attrs.items() if k not in ("input_names", "output_names"))
        return f"Prim[{self.name}]<{attrs}>" if attrs else f"Prim[{self.name}]"


class PrimitiveWithCheck(Primitive):
    """A Primitive of the user's, with ``__check__`` for its inputs."""


class PrimitiveWithInfer(Primitive):
    """A Primitive of the user's, with ``infer_shape``, ``infer_dtype`` and ``infer_value``."""


def prim_attr_register(fn):
    """Decorates ``__init__`` of a Primitive: its arguments become attributes."""
    sig = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self, *args, **kwargs):
        bound = sig.bind(self, *args, **kwargs)
        bound.apply_defaults()
        class_name = type(self).__name__
        Primitive.__init__(self, class_name)
        values = dict(list(bound.arguments.items())[1:])
        for name, value in values.items():
            self.add_prim_attr(name, value)
        self.init_attrs = values
        return fn(self, *args, **kwargs)
    return init


def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):
    """Decorates a function of constants: it runs while a graph is made and gives a constant."""
    def deco(f):
        @functools.wraps(f)
        def call(*args, **kwargs):
            return f(*args, **kwargs)
        return call
    return deco(fn) if fn is not None else deco


# ---- classes from the table ----

def _check(self, name, value, default):
    kinds = _KINDS.get(type(default))
    if name in _SEVERAL and isinstance(value, (tuple, list)):
        return
    if kinds is not None and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
        wanted = " or ".join(k.__name__ for k in kinds)
        raise TypeError(f"For '{self.name}', the type of '{name}' should be {wanted}, but got {type(value).__name__}.")


def make_class(name, init, call, run, check=None):
    """A Primitive class with attributes ``init`` (a Signature) that ``check(self)`` looks at, inputs ``call`` and the function
    ``run(self, *inputs)``."""
    params = list(init.parameters.values())

    def __init__(self, *args, **kwargs):
        try:
            bound = init.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(f"For '{name}', {e}.") from None
        bound.apply_defaults()
        Primitive.__init__(self, name)
        for p in params:
            value = bound.arguments[p.name]
            if value is not None or p.default is not None:
                _check(self, p.name, value, p.default)
            self.__dict__[p.name] = self.attrs[p.name] = value
        if check is not None:
            check(self)
        self.init_attrs = dict(bound.arguments)
        self.init_prim_io_names([p.name for p in call.parameters.values()], ["output"])

    def __call__(self, *args, **kwargs):
        return run(self, *args, **kwargs)

    return type(name, (Primitive,), {"__init__": __init__, "__call__": __call__, "__module__": "mindspore.ops.operations",
                                     "__signature__": init, "inputs": tuple(call.parameters), "__doc__": f"{name}{init}: called with {call}."})
