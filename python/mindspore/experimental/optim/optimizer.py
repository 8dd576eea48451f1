"""Optimizer: groups of parameters, each a dict of options; the learning rate of a group is a Parameter."""
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

__all__ = ["Optimizer"]


class Optimizer(Cell):
    """Base: ``defaults`` fills what a group leaves out. Called with one gradient per parameter, in the order of the groups."""

    def __init__(self, params, defaults):
        super().__init__(auto_prefix=False)
        if isinstance(params, Parameter) or not hasattr(params, "__iter__"):
            raise TypeError(f"For 'Optimizer', the argument parameters must be Iterable type, but got {type(params)}.")
        groups = list(params)
        if not groups:
            raise ValueError("For 'Optimizer', the argument parameters must not be empty.")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        d = self.__dict__
        d["defaults"] = dict(defaults)
        d["param_groups"] = []
        d["group_start_id"] = [0]
        d["_seen"] = set()
        d["_makers"] = {}
        self.parameters = ()
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """Adds a dict with 'params' and options of its own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"For 'Optimizer', a parameter group must be a dict, but got {type(param_group)}.")
        group, k = dict(param_group), len(self.param_groups)
        params = group["params"]
        params = [params] if isinstance(params, Parameter) else list(params)
        for p in params:
            if not isinstance(p, Parameter):
                raise TypeError(f"For 'Optimizer', the elements of 'params' must be Parameters, but got {type(p)}.")
            if id(p) in self._seen:
                raise ValueError(f"For 'Optimizer', the parameter {p.name} appears in more than one group.")
            self._seen.add(id(p))
        group["params"] = params
        for name, default in self.defaults.items():
            group.setdefault(name, default)
        if not {"lr", "weight_decay"} <= set(group):
            group.setdefault("weight_decay", 0.0)
        group["lr"] = self._rate(group["lr"], k)
        group["weight_decay"] = self._decay(group["weight_decay"])
        self.param_groups.append(group)
        self.group_start_id.append(self.group_start_id[-1] + len(params))
        everything = [p for g in self.param_groups for p in g["params"]]
        object.__setattr__(self, "parameters", tuple(everything))
        for p in params:
            self._params[p.name] = p
        for prefix, make in self._makers.items():
            self._extend(prefix, make(ParameterTuple(params)))
        self._ms_touch()

    def _rate(self, lr, k):
        if isinstance(lr, bool) or not isinstance(lr, (int, float, Tensor)):
            raise TypeError(f"For 'Optimizer', the learning rate must be int, float or a Tensor, but got {type(lr)}.")
        if isinstance(lr, Tensor):
            if lr.size != 1:
                raise ValueError(f"For 'Optimizer', the learning rate must have one element, but got shape {lr.shape}.")
            lr = float(lr)
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        return Parameter(Tensor(lr, mstype.float32), name=f"learning_rate_group_{k}")

    def _decay(self, value):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"For 'Optimizer', the argument 'weight_decay' must be int or float, but got {type(value)}.")
        if value < 0:
            raise ValueError(f"For 'Optimizer', the 'weight_decay' must be >= 0, but got {value}.")
        return float(value)

    def _states(self, prefix, init="zeros"):
        """A state like each parameter, also for those of groups added later."""
        return self._made(prefix, lambda params: params.clone(prefix=prefix, init=init))

    def _made(self, prefix, make):
        self._makers[prefix] = make
        return make(ParameterTuple(self.parameters))

    def _extend(self, prefix, more):
        for name, value in list(self.__dict__.items()):
            if isinstance(value, ParameterTuple) and value and value[0].name == f"{prefix}.{self.parameters[0].name}":
                setattr(self, name, ParameterTuple(value + more))

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for k, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {k}")
            for key in sorted(group):
                if key != "params":
                    value = group[key]
                    lines.append(f"    {key}: {float(value.asnumpy()):.7g}" if isinstance(value, Tensor) else f"    {key}: {value}")
        return "\n".join(lines) + "\n)"

    def construct(self, *hyper_params):
        raise NotImplementedError(f"'{type(self).__name__}' must define 'construct'.")
