"""Optimizers after PyTorch's definitions, as rules of the library's table."""
from mindspore.common import dtype as mstype
from mindspore.common._rows import optim as _optim
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer

__all__ = ["Adam", "AdamW", "SGD", "Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"]


def _at_least(who, **values):
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"For '{who}', the '{name}' must be a number, but got {type(value).__name__}.")
        if not value >= 0:
            raise ValueError(f"For '{who}', the '{name}' must be >= 0, but got {value}.")


def _check_betas(who, betas):
    if not isinstance(betas, (tuple, list)) or len(betas) != 2 or not all(0 <= b < 1 for b in betas):
        raise ValueError(f"For '{who}', the 'betas' must be two numbers in [0, 1), but got {betas}.")


class _Rule(Optimizer):
    _rule = None
    _step_name = None

    def _counter(self):
        step = Parameter(Tensor(0, mstype.int32), name=self._step_name)
        setattr(self, self._step_name, step)

    def _scalars(self, prefix, init):
        """A 0-d state for every parameter."""
        return self._made(prefix, lambda params: ParameterTuple(
            Parameter(Tensor(init, mstype.float32), name=f"{prefix}.{p.name}") for p in params))

    def _numbers(self, group):
        return ()

    def _lists(self):
        """The states, in the order of the rule."""
        return ()

    def construct(self, gradients):
        if len(gradients) != len(self.parameters):
            raise ValueError(f"For '{type(self).__name__}', there are {len(self.parameters)} parameters, but {len(gradients)} gradients.")
        shared = ()
        if self._step_name is not None:
            step = self._params[self._step_name]
            _optim.increment(step, 1)
            shared = (step,)
        for k, group in enumerate(self.param_groups):
            span = slice(self.group_start_id[k], self.group_start_id[k + 1])
            if span.start == span.stop:
                continue
            lists = [states[span] for states in self._lists()]
            sign = -1.0 if group.get("maximize") else 1.0
            self._update(group, self.parameters[span], gradients[span], lists, shared, sign)
        return True

    def _update(self, group, params, gradients, lists, shared, sign):
        numbers = [float(n) for n in self._numbers(group)]
        _optim.step(self._rule, params, gradients, lists, (group["lr"], *shared), numbers, float(group["weight_decay"]), sign)


class Adam(_Rule):
    """Kingma & Ba 2015."""

    _rule, _step_name, _decoupled = "adam", "state_step", 0.0

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, *, maximize=False):
        _check_betas(type(self).__name__, betas)
        _at_least(type(self).__name__, eps=eps)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize))
        self.exp_avg, self.exp_avg_sq = self._states("exp_avg"), self._states("exp_avg_sq")
        self.max_exp_avg_sq = self._states("max_exp_avg_sq")
        self._counter()

    def _lists(self):
        return self.exp_avg, self.exp_avg_sq, self.max_exp_avg_sq

    def _numbers(self, group):
        return (*group["betas"], group["eps"], group["amsgrad"], self._decoupled)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019)."""

    _decoupled = 1.0

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class SGD(_Rule):
    """Stochastic gradient descent with momentum."""

    def __init__(self, params, lr, momentum=0, dampening=0, weight_decay=0.0, nesterov=False, *, maximize=False):
        _at_least("SGD", momentum=momentum, dampening=dampening)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', nesterov needs a momentum and no dampening, but got momentum "
                             f"{momentum} and dampening {dampening}.")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
                                      maximize=maximize, grad_centralization=False))
        for group in self.param_groups:
            group["momentum"], group["dampening"] = float(group["momentum"]), float(group["dampening"])
        self.accum, self.stat = self._states("accum"), self._states("stat", "ones")

    def _lists(self):
        return self.accum, self.stat

    def _update(self, group, params, gradients, lists, shared, sign):
        if group["grad_centralization"]:
            gradients = tuple(g - g.mean(tuple(range(1, g.ndim)), keepdims=True) if g.ndim > 1 else g for g in gradients)
        _optim.sgd(params, *lists, gradients, group["lr"], float(group["momentum"]), float(group["dampening"]),
                   float(group["weight_decay"]), sign, bool(group["nesterov"]))


class Adagrad(_Rule):
    """Duchi et al. 2011."""

    _rule, _step_name = "adagrad", "step_t"

    def __init__(self, params, lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10, *, maximize=False):
        _at_least("Adagrad", lr_decay=lr_decay, initial_accumulator_value=initial_accumulator_value, eps=eps)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, maximize=maximize))
        self.accum = self._states("accum", initial_accumulator_value)
        self._counter()

    def _lists(self):
        return (self.accum,)

    def _numbers(self, group):
        return group["lr_decay"], group["eps"]


class Adadelta(_Rule):
    """Zeiler 2012."""

    _rule = "Adadelta"

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, *, maximize=False):
        _at_least("Adadelta", rho=rho, eps=eps)
        if rho > 1:
            raise ValueError(f"For 'Adadelta', the 'rho' must be in [0, 1], but got {rho}.")
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize))
        self.accum, self.accum_update = self._states("accum"), self._states("accum_update")

    def _lists(self):
        return self.accum, self.accum_update

    def _numbers(self, group):
        return group["rho"], group["eps"]


class Adamax(_Rule):
    """Adam with the infinity norm (Kingma & Ba 2015)."""

    _rule, _step_name = "adamax", "step_t"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, *, maximize=False):
        _check_betas("Adamax", betas)
        _at_least("Adamax", eps=eps)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize))
        self._counter()
        self.exp_avg, self.exp_inf = self._states("exp_avg"), self._states("exp_inf")

    def _lists(self):
        return self.exp_avg, self.exp_inf

    def _numbers(self, group):
        return (*group["betas"], group["eps"])


class ASGD(_Rule):
    """Averaged stochastic gradient descent (Polyak & Juditsky 1992)."""

    _rule, _step_name = "asgd", "step_t"

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0, maximize=False):
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, maximize=maximize))
        self.ax = self._states("ax")
        self._counter()
        self.eta, self.mu = self._scalars("eta", 0.0), self._scalars("mu", 1.0)

    def _lists(self):
        return self.ax, self.eta, self.mu

    def _numbers(self, group):
        return group["lambd"], group["alpha"], group["t0"]


class NAdam(_Rule):
    """Adam with Nesterov momentum (Dozat 2016)."""

    _rule, _step_name = "nadam", "step_t"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
        _check_betas("NAdam", betas)
        _at_least("NAdam", eps=eps, momentum_decay=momentum_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay))
        self._counter()
        self.exp_avg, self.exp_avg_sq = self._states("exp_avg"), self._states("exp_avg_sq")
        self.mu_product = self._scalars("mu_product", 1.0)

    def _lists(self):
        return self.exp_avg, self.exp_avg_sq, self.mu_product

    def _numbers(self, group):
        return (*group["betas"], group["eps"], group["momentum_decay"])


class RAdam(_Rule):
    """Adam with a rectified adaptive rate (Liu et al. 2020)."""

    _rule, _step_name = "radam", "step_t"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        _check_betas("RAdam", betas)
        _at_least("RAdam", eps=eps)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))
        self._counter()
        self.exp_avg, self.exp_avg_sq = self._states("exp_avg"), self._states("exp_avg_sq")

    def _lists(self):
        return self.exp_avg, self.exp_avg_sq

    def _numbers(self, group):
        return (*group["betas"], group["eps"])


class RMSprop(_Rule):
    """Hinton 2012."""

    _rule = "rmsprop"

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, maximize=False):
        _at_least("RMSprop", alpha=alpha, eps=eps, momentum=momentum)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
                                      maximize=maximize))
        self.mean_grad = self._states("mean_grad")
        self.mean_square, self.moment = self._states("mean_square"), self._states("moment")

    def _lists(self):
        return self.mean_square, self.moment, self.mean_grad

    def _numbers(self, group):
        return group["alpha"], group["eps"], group["momentum"], group["centered"]


class Rprop(_Rule):
    """Resilient backpropagation (Riedmiller & Braun 1993)."""

    _rule, _step_name = "rprop", "step_t"

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, maximize=False):
        if not (isinstance(etas, tuple) and len(etas) == 2 and 0 < etas[0] < 1 < etas[1]):
            raise ValueError(f"For 'Rprop', the 'etas' must be a number in (0, 1) and one above 1, but got {etas}.")
        if not isinstance(step_sizes, tuple) or len(step_sizes) != 2 or step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', the 'step_sizes' must be a minimum and a maximum, but got {step_sizes}.")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, maximize=maximize))
        self.prev, self.step_size = self._states("prev"), self._states("step_size")
        self._counter()

    def _lists(self):
        return self.prev, self.step_size

    def _numbers(self, group):
        return (*group["etas"], *group["step_sizes"])
