"""Optimizers that are rules of the library's table: each declares its states and hands over its numbers."""
from mindspore.common import dtype as mstype
from mindspore.common._rows import optim as _optim
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.layer._check import check_bool, check_type
from mindspore.nn.optim._check import check_at_least_zero, check_positive, check_range
from mindspore.nn.optim.adam import Adam
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["AdaMax", "Adadelta", "AdaFactor", "AdamOffload", "ASGD", "FTRL", "Lamb", "LARS", "LazyAdam", "ProximalAdagrad",
           "Rprop"]


def _not_negative(value, name, who):
    return check_at_least_zero(value, name, who, f"For '{who}', the '{name}' must be float and must >= 0, but got '{value}'.")


class _Rule(Optimizer):
    """Runs the rule named like the class, or as ``_rule`` says."""

    _rule = None

    def _step(self, gradients, states=(), shared=(), numbers=()):
        gradients, lr = self._begin(gradients)
        for p, *of_set, g, rate, decay in self._each_set(gradients, lr, *states):
            _optim.step(self._rule or self.cls_name, p, g, of_set, (rate, *shared), numbers, decay, self._grad_scale)
        return self._done()

    def _scalars(self, prefix, init):
        """A 0-d Parameter for every parameter."""
        return ParameterTuple(Parameter(Tensor(init, mstype.float32), name=prefix + p.name) for p in self.parameters)


class AdaMax(_Rule):
    """Adam with the infinity norm (Kingma & Ba 2015)."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        self.beta1 = check_range(beta1, "beta1", who, 0.0, 1.0)
        self.beta2 = check_range(beta2, "beta2", who, 0.0, 1.0)
        self.eps = check_positive(eps, "eps", who)
        self.beta1_power = Parameter(Tensor([1.0], mstype.float32), name="beta1_power")
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")

    def construct(self, gradients):
        _optim.scale(self.beta1_power, self.beta1)
        return self._step(gradients, (self.moment1, self.moment2), (self.beta1_power,), (self.beta1, self.beta2, self.eps))


class Adadelta(_Rule):
    """Zeiler 2012."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=1.0, rho=0.9, epsilon=1e-6, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        check_type(rho, "rho", float, who)
        if not 0 <= rho <= 1:
            raise ValueError(f"For '{who}', the 'rho' must be in range of [0.0, 1.0], but got {rho} with type 'float'.")
        self.rho, self.epsilon = rho, _not_negative(epsilon, "epsilon", who)
        self.accum = self.parameters.clone(prefix="accum", init=0)
        self.accum_update = self.parameters.clone(prefix="accum_update", init=0)

    def construct(self, grads):
        return self._step(grads, (self.accum, self.accum_update), (), (self.rho, self.epsilon))


class AdaFactor(_Rule):
    """Adam with a factored second moment (Shazeer & Stern 2018)."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=None, eps=(1e-30, 1e-3), clip_threshold=1.0, decay_rate=0.8, beta1=0.9,
                 weight_decay=0.0, scale_parameter=True, relative_step=True, warmup_init=False, compression=False,
                 loss_scale=1.0):
        who = type(self).__name__
        if learning_rate is not None and relative_step:
            raise ValueError(f"For '{who}', 'learning_rate' must be None when 'relative_step' is True.")
        if learning_rate is None and not relative_step:
            raise ValueError(f"For '{who}', 'learning_rate' must be given when 'relative_step' is False.")
        if warmup_init and not relative_step:
            raise ValueError(f"For '{who}', 'warmup_init' needs 'relative_step' to be True.")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        check_type(eps, "eps", (tuple, list), who)
        if len(eps) != 2:
            raise ValueError(f"For '{who}', 'eps' must have two elements, but got {eps}.")
        self.eps = tuple(check_positive(e, "eps", who) for e in eps)
        self.clip_threshold = _not_negative(clip_threshold, "clip_threshold", who)
        self.decay_rate = check_range(decay_rate, "decay_rate", who, 0.0, 1.0)
        self.beta1 = beta1
        for name, value in (("scale_parameter", scale_parameter), ("relative_step", relative_step),
                            ("warmup_init", warmup_init), ("compression", compression)):
            setattr(self, name, check_bool(value, name, who))
        self.init_ada_factor_state(beta1)
        self.step = Parameter(Tensor([0.0], mstype.float32), name="afactor_step")

    def init_ada_factor_state(self, beta1):
        """The states; those that a parameter does not use have one element. With ``compression`` the first moment is kept in
        float16; squares would vanish there."""
        def make(prefix, shape_of, dtype=None):
            return ParameterTuple(Parameter(initializer(0, shape_of(p), dtype or p.dtype), name=prefix + p.name)
                                  for p in self.parameters)
        self.exp_avg = make("exp_avg.", (lambda p: p.shape) if beta1 is not None and beta1 > 0 else (lambda p: (1,)),
                            mstype.float16 if self.compression else None)
        self.exp_avg_sq_row = make("exp_avg_sq_row_", lambda p: p.shape[:-1] if p.ndim > 1 else (1,))
        self.exp_avg_sq_col = make("exp_avg_sq_col_", lambda p: p.shape[:-2] + p.shape[-1:] if p.ndim > 1 else (1,))
        self.exp_avg_sq = make("exp_avg_sq_", lambda p: (1,) if p.ndim > 1 else p.shape or (1,))

    @property
    def supports_memory_efficient_fp16(self):
        return True

    @property
    def supports_flat_params(self):
        return False

    def construct(self, gradients):
        _optim.increment(self.step, 1)
        beta1 = self.beta1 if self.beta1 is not None and self.beta1 > 0 else -1.0
        relative = (2.0 if self.warmup_init else 1.0) if self.relative_step else 0.0
        numbers = (*self.eps, self.clip_threshold, self.decay_rate, beta1, float(self.scale_parameter), relative)
        return self._step(gradients, (self.exp_avg, self.exp_avg_sq_row, self.exp_avg_sq_col, self.exp_avg_sq), (self.step,),
                          numbers)


class ASGD(_Rule):
    """Averaged stochastic gradient descent (Polyak & Juditsky 1992)."""

    _rule = "asgd"

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.):
        super().__init__(learning_rate, params, weight_decay)
        who = self.cls_name
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            setattr(self, name, check_type(value, name, float, who))
        self.mu = self._scalars("mu_", 1.0)
        self.eta = self._scalars("eta_", 0.0)
        self.ax = self.parameters.clone(prefix="ax_", init="zeros")

    def construct(self, gradients):
        return self._step(gradients, (self.ax, self.eta, self.mu), (self.global_step,), (self.lambd, self.alpha, self.t0)) and True


class FTRL(_Rule):
    """Follow the regularised leader (McMahan et al. 2013)."""

    @opt_init_args_register
    def __init__(self, params, initial_accum=0.1, learning_rate=0.001, lr_power=-0.5, l1=0.0, l2=0.0, use_locking=False,
                 loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError(f"For '{who}', dynamic learning rates and groups with an 'lr' are not supported.")
        _not_negative(initial_accum, "initial_accum", who)
        check_type(lr_power, "lr_power", float, who)
        if lr_power > 0:
            raise ValueError(f"For '{who}', the 'lr_power' must be at most 0, but got {lr_power}.")
        self.lr_power, self.l1, self.l2 = lr_power, _not_negative(l1, "l1", who), _not_negative(l2, "l2", who)
        self.use_locking = check_bool(use_locking, "use_locking", who)
        self.moments = self.parameters.clone(prefix="moments", init=initial_accum)
        self.linear = self.parameters.clone(prefix="linear", init="zeros")

    def construct(self, grads):
        return self._step(grads, (self.moments, self.linear), (), (self.lr_power, self.l1, self.l2))


class ProximalAdagrad(_Rule):
    """Adagrad with a proximal step for l1 and l2 (Duchi & Singer 2009)."""

    @opt_init_args_register
    def __init__(self, params, accum=0.1, learning_rate=0.001, l1=0.0, l2=0.0, use_locking=False, loss_scale=1.0,
                 weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        if self.is_group_lr:
            raise ValueError(f"For '{who}', groups with an 'lr' are not supported.")
        _not_negative(accum, "accum", who)
        self.l1, self.l2 = _not_negative(l1, "l1", who), _not_negative(l2, "l2", who)
        self.use_locking = check_bool(use_locking, "use_locking", who)
        self.accum = self.parameters.clone(prefix="accum", init=accum)

    def construct(self, grads):
        return self._step(grads, (self.accum,), (), (self.l1, self.l2))


class Rprop(_Rule):
    """Resilient backpropagation (Riedmiller & Braun 1993)."""

    _rule = "rprop"

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 50.), weight_decay=0.):
        super().__init__(learning_rate, params, weight_decay)
        who = self.cls_name
        check_type(etas, "etas", tuple, who)
        check_type(step_sizes, "step_sizes", tuple, who)
        if len(etas) != 2 or len(step_sizes) != 2:
            raise ValueError(f"For '{who}', the 'etas' and 'step_sizes' must have two elements, but got {etas} and {step_sizes}.")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For '{who}', the minimum step size must not exceed the maximum, but got {step_sizes}.")
        check_range(etas[0], "etas[0]", who, 0.0, 1.0)
        if not etas[1] > 1.0:
            raise ValueError(f"For '{who}', the 'etas[1]' must be > 1, but got {etas[1]}.")
        self.etas, self.step_sizes = etas, step_sizes
        self.prev = self.parameters.clone(prefix="prev", init="zeros")
        self.step_size = self.parameters.clone(prefix="step_size", init="zeros")

    def construct(self, gradients):
        return self._step(gradients, (self.prev, self.step_size), (self.global_step,), (*self.etas, *self.step_sizes)) and True


class Lamb(_Rule):
    """Adam with a layer-wise trust ratio (You et al. 2020)."""

    @opt_init_args_register
    def __init__(self, params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        who = self.cls_name
        self.beta1 = check_range(beta1, "beta1", who, 0.0, 1.0)
        self.beta2 = check_range(beta2, "beta2", who, 0.0, 1.0)
        self.eps = check_positive(eps, "eps", who)
        if self.dynamic_weight_decay:
            raise ValueError(f"For '{who}', a scheduled weight decay is not supported.")
        self.moments1 = self.parameters.clone(prefix="lamb_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix="lamb_v", init="zeros")

    def construct(self, gradients):
        return self._step(gradients, (self.moments1, self.moments2), (self.global_step,), (self.beta1, self.beta2, self.eps))


class LARS(Optimizer):
    """Scales each gradient by the ratio of norms of parameter and gradient, for another optimizer (You et al. 2017)."""

    @opt_init_args_register
    def __init__(self, optimizer, epsilon=1e-05, coefficient=0.001, use_clip=False,
                 lars_filter=lambda x: "LayerNorm" not in x.name and "bias" not in x.name):
        super().__init__(0.0, [Parameter(Tensor(0.0), name="fake_param")])
        who = self.cls_name
        check_type(optimizer, "optimizer", Optimizer, who)
        if optimizer.is_group:
            raise RuntimeError(f"For '{who}', the 'optimizer' must not have parameter groups.")
        if optimizer.dynamic_weight_decay:
            raise RuntimeError(f"For '{who}', the 'optimizer' must not have a scheduled weight decay.")
        self.epsilon = check_positive(epsilon, "epsilon", who)
        self.coefficient = check_positive(coefficient, "coefficient", who)
        self.use_clip = check_bool(use_clip, "use_clip", who)
        if not callable(lars_filter):
            raise TypeError(f"For '{who}', the 'lars_filter' must be callable, but got {type(lars_filter).__name__}.")
        self.opt = optimizer
        self.learning_rate.name = "fake_lr"
        self._params["global_step"] = optimizer.global_step
        self.parameters = self._parameters = self.params = optimizer.parameters
        self.param_length = len(self.parameters)
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        self.is_group, self.dynamic_lr = False, optimizer.dynamic_lr
        self.is_group_lr, self.grad_centralization = optimizer.is_group_lr, False
        self.loss_scale, self.need_scale = optimizer.loss_scale, optimizer.need_scale
        self.reciprocal_scale = optimizer.reciprocal_scale
        # the decay is part of the scaled gradient: the optimizer must not add it again
        self._decays = tuple(float(optimizer.weight_decay) if flag else 0.0 for flag in optimizer.decay_flags)
        optimizer.weight_decay = Tensor(0.0, mstype.float32)
        optimizer.exec_weight_decay = False
        optimizer._partition([0.0] * self.param_length)
        optimizer.__dict__["loss_scale"], optimizer.need_scale, optimizer._grad_scale = 1.0, False, 1.0

    def get_lr(self):
        return self.opt.get_lr()

    def construct(self, gradients):
        lr, new = self.get_lr(), []
        for p, g, flag, decay in zip(self.parameters, self.scale_grad(gradients), self.lars_flag, self._decays):
            if flag:
                g, = _optim.lars([p], [g], lr, self.coefficient, self.epsilon, self.use_clip, decay)
            elif decay:
                g = g + p * decay
            new.append(g)
        return self.opt(tuple(new))


class LazyAdam(Adam):
    """Adam; rows of a sparse gradient that are absent would be left alone, but gradients are dense."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False, use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0):
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdamOffload(LazyAdam):
    """Adam on the host, which is where everything runs."""
