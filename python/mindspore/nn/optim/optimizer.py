"""Optimizer: learning rates, parameter groups and the step counter that all optimizers share.

All state that changes from step to step is a Parameter (the step counter too), so that a step can be compiled. Parameters
with one learning rate and one weight decay are updated by one call.
"""
import functools
import inspect
from collections.abc import Iterable

import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn, optim as _optim
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_float
from mindspore.nn.layer.container import CellList
from mindspore.nn.learning_rate_schedule import LearningRateSchedule

__all__ = ["Optimizer", "opt_init_args_register"]

_GROUP_KEYS = ["params", "lr", "weight_decay", "order_params", "grad_centralization"]


def opt_init_args_register(fn):
    """Keeps the arguments an optimizer was made with in ``init_args``, ``init_params`` and ``init_learning_rate``."""
    @functools.wraps(fn)
    def init(self, *args, **kwargs):
        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        values = dict(list(bound.arguments.items())[1:])
        d = self.__dict__
        d["init_params"] = {"params": values.pop("params", None)}
        d["init_learning_rate"] = values.pop("learning_rate", None)
        d["init_args"] = {k: v for k, v in values.items() if not isinstance(v, (Cell, dict))}
        fn(self, *args, **kwargs)
    return init


class _IteratorLearningRate(LearningRateSchedule):
    """One learning rate per step, from a list."""

    def __init__(self, learning_rate, name):
        super().__init__()
        self.learning_rate = Parameter(learning_rate, name)

    def construct(self, global_step):
        return _nn.take(self.learning_rate, global_step)


class _ConvertToCell(LearningRateSchedule):
    """A constant learning rate among scheduled ones."""

    def __init__(self, learning_rate):
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step):
        return self.learning_rate + 0.0


class Optimizer(Cell):
    """Base of optimizers. ``optimizer(gradients)`` takes one gradient per entry of ``parameters``."""

    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        parameters = self._listed(parameters)
        who = self.cls_name
        self.loss_scale = check_float(self._number(loss_scale, "loss_scale"), "loss_scale", who, 0.0, True)
        weight_decay = self._check_weight_decay(weight_decay)
        self.global_step = Parameter(Tensor(np.zeros(1, np.int32)), name="global_step")
        self.global_step_increase_tensor = Tensor([1], mstype.int32)
        self.dynamic_lr = False
        self.dynamic_weight_decay = isinstance(weight_decay, Cell)
        self.grad_centralization = False
        self.is_group = isinstance(parameters[0], dict)
        self.is_group_lr = self.is_group and any("lr" in g for g in parameters)
        self.is_group_params_ordered = False
        default_lr = self._make_lr(learning_rate, "learning_rate")
        if self.is_group:
            self._init_groups(parameters, default_lr, weight_decay)
            parameters = self.group_params
            decays = self.group_weight_decay
            self.decay_flags = tuple(isinstance(d, Cell) or d > 0 for d in decays)
            self.dynamic_decay_flags = tuple(isinstance(d, Cell) for d in decays)
            self.dynamic_weight_decay = any(self.dynamic_decay_flags)
        else:
            self.decay_flags = tuple("beta" not in p.name and "gamma" not in p.name for p in parameters)
            self.dynamic_decay_flags = self.dynamic_weight_decay
            decays = [weight_decay if flag else 0.0 for flag in self.decay_flags]
        self._set_learning_rate(default_lr)
        self.parameters = ParameterTuple(parameters)
        self._parameters = self.parameters
        self.param_length = len(self.parameters)
        self.params = self.parameters
        self._set_weight_decay(weight_decay, decays)
        self.exec_weight_decay = any(isinstance(d, Cell) or d > 0 for d in decays)
        self.need_scale = self.loss_scale != 1.0
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, mstype.float32)
        self._grad_scale = 1.0 / self.loss_scale
        self._unique = True
        self._target = "CPU"
        self.use_parallel = False
        self.assignadd = ops.assign_add
        self.map_, self.map_reverse, self.hyper_map = ops.Map(), ops.Map(None, True), ops.HyperMap()
        self.optim_filter = (True,) * self.param_length
        self._partition(decays)

    # ---- arguments ----

    def _number(self, value, name):
        if isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        return value

    def _listed(self, parameters):
        if parameters is None:
            raise ValueError("For 'Optimizer', the argument parameters must not be None.")
        if not isinstance(parameters, Iterable):
            raise TypeError(f"For 'Optimizer', the argument parameters must be Iterable type, but got {type(parameters)}.")
        parameters = list(parameters)
        if not parameters:
            raise ValueError("For 'Optimizer', the argument parameters must not be empty.")
        kinds = {dict if isinstance(p, dict) else Parameter if isinstance(p, Parameter) else None for p in parameters}
        if kinds not in ({dict}, {Parameter}):
            raise TypeError("For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or 'dict', please "
                            "check the 'parameters'.")
        return parameters

    def _check_weight_decay(self, weight_decay):
        if isinstance(weight_decay, Cell):
            return weight_decay
        if isinstance(weight_decay, bool) or not isinstance(weight_decay, (int, float)):
            raise TypeError(f"For 'Optimizer', the argument 'Weight_decay' must be int, float or Cell.but got "
                            f"{type(weight_decay)}")
        return check_float(float(weight_decay), "weight_decay", self.cls_name, 0.0)

    def _make_lr(self, learning_rate, name):
        """A learning rate argument as a 0-d Parameter or a schedule Cell."""
        if isinstance(learning_rate, LearningRateSchedule):
            self.dynamic_lr = True
            return learning_rate
        if isinstance(learning_rate, Tensor):
            if learning_rate.ndim > 1:
                raise ValueError(f"For 'Optimizer', if 'learning_rate' is Tensor type, then the dimension of it must be 0 or "
                                 f"1, but got {learning_rate.ndim}.")
            values = learning_rate.asnumpy()
        elif isinstance(learning_rate, Iterable) and not isinstance(learning_rate, str):
            values = np.array(list(learning_rate))
        else:
            values = np.array(check_float(float(learning_rate), "learning rate", self.cls_name, 0.0))
        values = values.astype(np.float32)
        if (values < 0).any():
            raise ValueError(f"For '{self.cls_name}', every 'learning rate' must be >= 0, but got {float(values.min())}.")
        if values.ndim == 0:
            return Parameter(Tensor(values), name=name)
        self.dynamic_lr = True
        return _IteratorLearningRate(Tensor(values), name)

    def _init_groups(self, groups, default_lr, default_decay):
        ordered, found, seen = None, [], set()
        for k, group in enumerate(groups):
            if "order_params" in group:
                if len(group) > 1:
                    raise ValueError("For 'Optimizer', the order params dict in group parameters should only include the "
                                     f"'order_params' key, but got {list(group)}.")
                ordered = list(group["order_params"])
                continue
            wrong = [key for key in group if key not in _GROUP_KEYS]
            if wrong:
                raise KeyError(f"For 'Optimizer', the key in group params must be one of in {_GROUP_KEYS}, but got {wrong}.")
            params = list(group["params"])
            if not params:
                raise ValueError("For 'Optimizer', the argument group `params` must not be empty.")
            lr = self._make_lr(group["lr"], f"learning_rate_group_{k}") if "lr" in group else default_lr
            decay = self._check_weight_decay(group["weight_decay"]) if "weight_decay" in group else default_decay
            for p in params:
                if not isinstance(p, Parameter):
                    raise TypeError(f"For 'Optimizer', the 'params' of a group must be Parameters, but got {type(p)}.")
                if p.name in seen:
                    raise RuntimeError(f"For 'Optimizer', the {p.name} parameter already exists, it does not support repeated "
                                       "setting. Please check whether the optimizer parameter has been set multiple times.")
                seen.add(p.name)
                found.append((p, lr, decay, bool(group.get("grad_centralization", False))))
        if ordered is not None:
            found = self._ordered(found, ordered)
        self.group_params = [f[0] for f in found]
        d = self.__dict__
        d["group_lr"] = [f[1] for f in found]
        d["group_weight_decay"] = [f[2] for f in found]
        self.group_grad_centralization = [f[3] for f in found]
        self.grad_centralization_flags = tuple(self.group_grad_centralization)
        self.grad_centralization = any(self.group_grad_centralization)

    def _ordered(self, found, ordered):
        if len(ordered) != len(found):
            raise ValueError("For 'Optimizer',the length of order parameters must be the same as the length of group "
                             f"parameters, but got order parameters' length {len(ordered)}, group parameters' length "
                             f"{len(found)}.")
        by_id = {id(f[0]): f for f in found}
        for p in ordered:
            if id(p) not in by_id:
                raise ValueError(f"For 'Optimizer', the parameter {p.name} of 'order_params' is in no group.")
        self.is_group_params_ordered = True
        return [by_id[id(p)] for p in ordered]

    def _set_learning_rate(self, default_lr):
        if not self.is_group_lr:
            self.learning_rate = default_lr
        elif self.dynamic_lr:
            cells = {}
            for lr in self.group_lr:
                if id(lr) not in cells:
                    cells[id(lr)] = lr if isinstance(lr, Cell) else _ConvertToCell(lr)
            self.learning_rate = CellList([cells[id(lr)] for lr in self.group_lr], auto_prefix=False)
        else:
            self.learning_rate = ParameterTuple(self.group_lr)

    def _set_weight_decay(self, weight_decay, decays):
        def value(d):
            return d if isinstance(d, Cell) else Tensor(d, mstype.float32)
        if self.is_group:
            cells = [d for d in decays if isinstance(d, Cell)]
            for k, cell in enumerate(cells):
                self.insert_child_to_cell(f"weight_decay_{k}", cell)
            self.weight_decay = tuple(value(d) for d in decays)
        else:
            self.weight_decay = value(weight_decay)

    def _partition(self, decays):
        """Splits the parameters into sets that one call can update: [(index of the first, indices, weight decay)]."""
        sets = {}
        for k in range(self.param_length):
            lr = id(self.group_lr[k]) if self.is_group_lr else 0
            static = 0.0 if isinstance(decays[k], Cell) else float(decays[k])
            key = (lr, static, self.parameters[k].dtype)
            sets.setdefault(key, []).append(k)
        self.__dict__["_sets"] = [(ks[0], tuple(ks), key[1]) for key, ks in sets.items()]

    # ---- what subclasses use ----

    def _is_dynamic_lr_or_weight_decay(self):
        return self.dynamic_lr or self.dynamic_weight_decay

    def get_weight_decay(self):
        """The weight decay of this step: a Tensor, or a tuple with one per parameter."""
        def value(d):
            return d(self.global_step).reshape(()) if isinstance(d, Cell) else d
        if self.is_group:
            return tuple(value(d) for d in self.weight_decay)
        return value(self.weight_decay)

    def get_lr(self):
        """The learning rate of this step: a scalar, or a tuple with one per parameter."""
        if not self.dynamic_lr:
            return self.learning_rate
        if self.is_group_lr:
            found, out = {}, []
            for cell in self.learning_rate:
                if id(cell) not in found:
                    found[id(cell)] = cell(self.global_step).reshape(())
                out.append(found[id(cell)])
            return tuple(out)
        return self.learning_rate(self.global_step).reshape(())

    def get_lr_parameter(self, param):
        """The learning rate (Parameter or schedule) of a parameter or of each of a list."""
        single = isinstance(param, Parameter)
        if not single and not (isinstance(param, (list, tuple)) and all(isinstance(p, Parameter) for p in param)):
            raise TypeError("For 'get_lr_parameter', the 'param' must be 'Parameter' or 'list of Parameter', but got "
                            f"{type(param)}.")
        out = []
        for p in [param] if single else param:
            at = next((k for k, mine in enumerate(self.parameters) if mine is p), None)
            if at is None:
                raise ValueError(f"For 'get_lr_parameter', the parameter {p.name} is not in optimizer, please check whether "
                                 "the argument 'param' is correct.")
            out.append(self.group_lr[at] if self.is_group_lr else self.learning_rate)
        return out[0] if single else out

    def decay_weight(self, gradients):
        """Gradients plus weight decay times parameter, where it applies."""
        if not self.exec_weight_decay:
            return gradients
        decay = self.get_weight_decay()
        return tuple((g + p * (decay[k] if self.is_group else decay)) if flag else g
                     for k, (g, p, flag) in enumerate(zip(gradients, self.parameters, self.decay_flags)))

    def gradients_centralization(self, gradients):
        """Gradients minus their mean over all axes but the first, where a group asks for it (convolution weights)."""
        if not (self.is_group and self.grad_centralization):
            return gradients
        return tuple(g - g.mean(tuple(range(1, g.ndim)), keep_dims=True) if flag and g.ndim > 2 else g
                     for g, flag in zip(gradients, self.grad_centralization_flags))

    def scale_grad(self, gradients):
        """Gradients over the loss scale."""
        if not self.need_scale:
            return gradients
        return tuple(g * self.reciprocal_scale.astype(g.dtype) for g in gradients)

    def flatten_gradients(self, gradients):
        return gradients

    def broadcast_params(self, optim_result):
        return optim_result

    def _grad_sparse_indices_deduplicate(self, gradients):
        return gradients

    def _set_base_target(self, value):
        self.target = value

    # ---- one step ----

    def _begin(self, gradients):
        """Checks and prepares the gradients; gives them and the learning rate, and counts the step."""
        if not isinstance(gradients, (tuple, list)):
            raise TypeError(f"For '{self.cls_name}', the gradients must be a tuple of Tensors, but got {type(gradients)}.")
        if len(gradients) != self.param_length:
            raise ValueError(f"For '{self.cls_name}', there are {self.param_length} parameters, but {len(gradients)} "
                             "gradients.")
        gradients = self.gradients_centralization(gradients)
        lr = self.get_lr()
        if self.dynamic_weight_decay:
            gradients = self._dynamic_decay(gradients)
        _optim.increment(self.global_step, 1)
        return gradients, lr

    def _dynamic_decay(self, gradients):
        """Adds a scheduled weight decay to the gradients; they will be divided by the loss scale later."""
        decay = self.get_weight_decay()
        flags = self.dynamic_decay_flags if self.is_group else self.decay_flags
        return tuple(g + p * ((decay[k] if self.is_group else decay) * self.loss_scale) if flag else g
                     for k, (g, p, flag) in enumerate(zip(gradients, self.parameters, flags)))

    def _each_set(self, gradients, lr, *states):
        """Yields (parameters, states..., gradients, learning rate, weight decay) for each call to make."""
        sets = self._sets
        if len(sets) == 1:
            yield (self.parameters, *states, gradients, lr[0] if self.is_group_lr else lr, sets[0][2])
            return
        for first, ks, decay in sets:
            yield (*([values[k] for k in ks] for values in (self.parameters, *states, gradients)),
                   lr[first] if self.is_group_lr else lr, decay)

    def _done(self):
        return (True,) * self.param_length

    @property
    def target(self):
        return self._target

    @target.setter
    def target(self, value):
        if value not in ("CPU", "Ascend", "GPU"):
            raise ValueError(f"For 'Optimizer', the 'target' must be one of ['CPU', 'Ascend', 'GPU'], but got {value}.")
        object.__setattr__(self, "_target", value)

    @property
    def unique(self):
        return self._unique

    @unique.setter
    def unique(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"For 'Optimizer', the property 'unique' must be bool, but got {type(value)}.")
        object.__setattr__(self, "_unique", value)

    def construct(self, *hyper_params):
        raise NotImplementedError(f"'{self.cls_name}' must define 'construct'.")
