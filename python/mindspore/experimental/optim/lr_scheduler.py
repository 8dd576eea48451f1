"""Schedules that set the learning rates of an optimizer's groups; ``step()`` goes one epoch (or step) on.

The rates are numbers here: what a compiled step reads is the Parameter of each group, which every call rewrites.
"""
import math
from bisect import bisect_right
from collections import Counter

from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer

__all__ = ["LRScheduler", "StepLR", "LinearLR", "LambdaLR", "ExponentialLR", "PolynomialLR", "MultiplicativeLR", "ConstantLR",
           "MultiStepLR", "SequentialLR", "ReduceLROnPlateau", "CyclicLR", "CosineAnnealingWarmRestarts", "CosineAnnealingLR"]


def _seen(method):
    """Marks a method that changes numbers of its object, or such a class: ``jit`` follows it as it does the user's code."""
    method.ms_rewrite = True
    return method


def _set(group, rate):
    group["lr"].assign_value(Tensor(float(rate), mstype.float32))


def _number(lr):
    return float(lr.asnumpy()) if isinstance(lr, Tensor) else float(lr)


@_seen
class LRScheduler:
    """Base: subclasses define ``get_lr``, which gives one rate per group from ``last_epoch``, ``base_lrs`` and the present rates."""

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if isinstance(last_epoch, bool) or not isinstance(last_epoch, int):
            raise TypeError(f"For '{type(self).__name__}', the 'last_epoch' must be int, but got {type(last_epoch).__name__}.")
        if last_epoch < -1:
            raise ValueError(f"Invalid last_epoch: {last_epoch}")
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{k}] when resuming an optimizer")
        self.base_lrs = [_number(group["initial_lr"]) for group in optimizer.param_groups]
        self.optimizer = optimizer
        self.groups_num = len(optimizer.param_groups)
        self.last_epoch = last_epoch
        self._rates = [_number(group["lr"]) for group in optimizer.param_groups]
        self.step()

    @property
    def _last_lr(self):
        return [Tensor(r, mstype.float32) for r in self._rates]

    def get_last_lr(self):
        """The present rates, one Tensor per group."""
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    @_seen
    def step(self, epoch=None):
        """Goes to the next epoch, or to ``epoch``."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else int(epoch)
        if epoch is not None and hasattr(self, "_closed_form"):
            self._rates = [float(r) for r in self._closed_form()]
        else:
            self._rates = [float(r) for r in self.get_lr()]
        for group, rate in zip(self.optimizer.param_groups, self._rates):
            _set(group, rate)

    def _scaled(self, factor):
        return [rate * factor for rate in self._rates]


def _int(who, name, value, least):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{who}', the '{name}' must be int, but got {type(value).__name__}.")
    if value < least:
        raise ValueError(f"For '{who}', the '{name}' must be >= {least}, but got {value}.")
    return value


def _real(who, name, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{who}', the '{name}' must be a number, but got {type(value).__name__}.")
    return value


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = _int("StepLR", "step_size", step_size, 1), _real("StepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._scaled(self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1.0)

    def _closed_form(self):
        return [r * self.gamma ** (self.last_epoch // self.step_size) for r in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times gamma at every milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        if not isinstance(milestones, (tuple, list)):
            raise TypeError(f"For 'MultiStepLR', the 'milestones' must be a list, but got {type(milestones).__name__}.")
        for m in milestones:
            _int("MultiStepLR", "milestones", m, 0)
        self.milestones, self.gamma = Counter(milestones), _real("MultiStepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._scaled(self.gamma ** self.milestones.get(self.last_epoch, 0))

    def _closed_form(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [r * self.gamma ** passed for r in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = _real("ExponentialLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._scaled(self.gamma if self.last_epoch else 1.0)

    def _closed_form(self):
        return [r * self.gamma ** self.last_epoch for r in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times factor during the first total_iters epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= _real("ConstantLR", "factor", factor) <= 1:
            raise ValueError(f"For 'ConstantLR', the 'factor' must be in [0, 1], but got {factor}.")
        self.factor, self.total_iters = factor, _int("ConstantLR", "total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        return self._scaled(1.0 / self.factor if self.last_epoch == self.total_iters else 1.0)

    def _closed_form(self):
        return [r * (self.factor if self.last_epoch < self.total_iters else 1.0) for r in self.base_lrs]


class LinearLR(LRScheduler):
    """From start_factor to end_factor in total_iters epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < _real("LinearLR", "start_factor", start_factor) <= 1:
            raise ValueError(f"Starting multiplicative factor expected to be in (0, 1], but got {start_factor}.")
        if not 0 <= _real("LinearLR", "end_factor", end_factor) <= 1:
            raise ValueError(f"Ending multiplicative factor expected to be in [0, 1], but got {end_factor}.")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = _int("LinearLR", "total_iters", total_iters, 1)
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        done = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * done

    def get_lr(self):
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self.last_epoch > self.total_iters:
            return self._scaled(1.0)
        return self._scaled(self._factor(self.last_epoch) / self._factor(self.last_epoch - 1))

    def _closed_form(self):
        return [r * self._factor(self.last_epoch) for r in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to 0 along a power of the rest of the way."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = _int("PolynomialLR", "total_iters", total_iters, 0), _real("PolynomialLR", "power", power)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self._scaled(1.0)
        rest = (1 - self.last_epoch / self.total_iters) / (1 - (self.last_epoch - 1) / self.total_iters)
        return self._scaled(rest ** self.power)

    def _closed_form(self):
        rest = 1 - min(self.last_epoch, self.total_iters) / self.total_iters
        return [r * rest ** self.power for r in self.base_lrs]


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _functions("LambdaLR", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [r * f(self.last_epoch) for r, f in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(LRScheduler):
    """The present rate times a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _functions("MultiplicativeLR", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return self._scaled(1.0)
        return [r * f(self.last_epoch) for r, f in zip(self._rates, self.lr_lambdas)]


def _functions(who, optimizer, lr_lambda):
    n = len(optimizer.param_groups)
    found = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * n
    if len(found) != n:
        raise ValueError(f"Expected {n} lr_lambdas, but got {len(found)}")
    if not all(callable(f) for f in found):
        raise TypeError(f"For '{who}', the 'lr_lambda' must be callable or a list of functions.")
    return found


class CosineAnnealingLR(LRScheduler):
    """Half a cosine between the initial rate and eta_min in T_max epochs (Loshchilov & Hutter 2017)."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = _int("CosineAnnealingLR", "T_max", T_max, 1), _real("CosineAnnealingLR", "eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return self._scaled(1.0)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [r + (b - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2 for b, r in zip(self.base_lrs, self._rates)]
        now, before = (1 + math.cos(math.pi * e / self.T_max) for e in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (r - self.eta_min) + self.eta_min for r in self._rates]

    def _closed_form(self):
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (r - self.eta_min) * share for r in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines of T_0, T_0 T_mult, ... epochs (Loshchilov & Hutter 2017)."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0, last_epoch=-1):
        if isinstance(T_0, bool) or not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if isinstance(T_mult, bool) or not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min = _real("CosineAnnealingWarmRestarts", "eta_min", eta_min)
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (r - self.eta_min) * share for r in self.base_lrs]

    @_seen
    def step(self, epoch=None):
        """Goes to the next epoch, or to ``epoch``, which may be a fraction."""
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._rates = self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, self._rates):
            _set(group, rate)

    def _place(self, epoch):
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** n


class CyclicLR(LRScheduler):
    """Up and down between base_lr and max_lr (Smith 2017): triangular, triangular2 (halved every cycle), exp_range."""

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", last_epoch=-1):
        who, n = "CyclicLR", len(optimizer.param_groups)
        bases, self.max_lrs = (list(v) if isinstance(v, (list, tuple)) else [v] * n for v in (base_lr, max_lr))
        if len(bases) != n or len(self.max_lrs) != n:
            raise ValueError(f"For '{who}', the 'base_lr' and 'max_lr' must have {n} elements.")
        up = float(_real(who, "step_size_up", step_size_up))
        down = up if step_size_down is None else float(_real(who, "step_size_down", step_size_down))
        if up <= 0 or down <= 0:
            raise ValueError(f"For '{who}', the steps up and down must be > 0, but got {up} and {down}.")
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: {mode}")
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"For '{who}', the 'scale_mode' must be 'cycle' or 'iterations', but got {scale_mode}.")
        self.total_size, self.step_ratio = up + down, up / (up + down)
        self.mode, self.gamma = mode, gamma
        self._scale_fn, self.scale_mode = scale_fn, scale_mode
        if scale_fn is None:
            self._scale_fn = {"triangular": lambda x: 1.0, "triangular2": lambda x: 1 / 2.0 ** (x - 1),
                              "exp_range": lambda x: gamma ** x}[mode]
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        if last_epoch == -1:
            for group, base in zip(optimizer.param_groups, bases):
                _set(group, base)
                group["initial_lr"] = float(base)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [float(b) for b in bases]

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self._scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return [b + (m - b) * height * scale for b, m in zip(self.base_lrs, self.max_lrs)]


@_seen
class SequentialLR:
    """One schedule after the other, changing at the milestones."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        for s in schedulers:
            if s.optimizer is not optimizer:
                raise ValueError("For 'SequentialLR', all schedulers must belong to the same optimizer.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("For 'SequentialLR', there must be one milestone less than schedulers, but got "
                             f"{len(milestones)} milestones and {len(schedulers)} schedulers.")
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.optimizer, self.last_epoch = optimizer, last_epoch + 1
        for group in optimizer.param_groups:
            _set(group, group["initial_lr"])
        for s in self._schedulers:
            s.last_epoch -= 1
            s._rates = [float(r) for r in s.base_lrs]
        self._schedulers[0].step()
        self._last = self._schedulers[0]

    @_seen
    def step(self):
        self.last_epoch += 1
        k = bisect_right(self._milestones, self.last_epoch)
        self._last = self._schedulers[k]
        if k > 0 and self._milestones[k - 1] == self.last_epoch:
            self._last.step(0)
        else:
            self._last.step()

    @property
    def _last_lr(self):
        return self._last._last_lr

    def get_last_lr(self):
        return self._last_lr


@_seen
class ReduceLROnPlateau:
    """Times factor when a metric has not improved for ``patience`` epochs."""

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0, min_lr=0,
                 eps=1e-8):
        who = "ReduceLROnPlateau"
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if not _real(who, "factor", factor) < 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"`mode` should be 'min' or 'max', but got {mode}.")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"`threshold_mode` should be 'rel' or 'abs', but got {threshold_mode}.")
        n = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * n
        if len(self.min_lrs) != n:
            raise ValueError(f"expected {n} min_lrs, but got {len(self.min_lrs)}")
        self.optimizer, self.factor, self.patience = optimizer, factor, _int(who, "patience", patience, 0)
        self.cooldown, self.cooldown_counter = _int(who, "cooldown", cooldown, 0), 0
        self.mode, self.threshold, self.threshold_mode, self.eps = mode, threshold, threshold_mode, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs, self.last_epoch = 0, 0

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def _better(self, value):
        if self.threshold_mode == "rel":
            if self.mode == "min":
                return value < self.best * (1.0 - self.threshold)
            return value > self.best * (1.0 + self.threshold)
        return value < self.best - self.threshold if self.mode == "min" else value > self.best + self.threshold

    @_seen
    def step(self, metrics):
        """Takes the metric of an epoch into account."""
        value = _number(metrics)
        self.last_epoch += 1
        if self._better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                old = _number(group["lr"])
                new = max(old * self.factor, least)
                if old - new > self.eps:
                    _set(group, new)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def get_last_lr(self):
        return [Tensor(_number(group["lr"]), mstype.float32) for group in self.optimizer.param_groups]
