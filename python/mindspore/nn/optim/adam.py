"""Adam and AdamWeightDecay."""
from mindspore.common import dtype as mstype
from mindspore.common._rows import optim as _optim
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.layer._check import check_bool
from mindspore.nn.optim._check import check_positive, check_range
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["Adam", "AdamWeightDecay"]


class Adam(Optimizer):
    """Kingma & Ba 2015; weight decay is added to the gradient.

    use_lazy concerns gradients of some rows, use_offload other devices than the host: neither changes anything here.
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False, use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0, use_amsgrad=False, **kwargs):
        lazy, offload = (check_bool(kwargs.pop(name, False), name, type(self).__name__) for name in ("use_lazy", "use_offload"))
        if lazy and offload:
            raise ValueError(f"For '{type(self).__name__}', 'use_lazy' and 'use_offload' can not both be True.")
        if use_amsgrad and (lazy or offload):
            raise ValueError("For lazy Adam and Adam with offload, there is no parameter named 'use_amsgrad'.")
        if kwargs:
            names = ", ".join(kwargs)
            raise TypeError(f"For '{type(self).__name__}', these arguments are not supported: {names}.")
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        self._beta1 = check_range(beta1, "beta1", who, 0.0, 1.0)
        self._beta2 = check_range(beta2, "beta2", who, 0.0, 1.0)
        self._eps = check_positive(eps, "eps", who)
        self.use_locking = check_bool(use_locking, "use_locking", who)
        self.use_nesterov = check_bool(use_nesterov, "use_nesterov", who)
        self.use_amsgrad = check_bool(use_amsgrad, "use_amsgrad", who)
        self.beta1, self.beta2 = Tensor(beta1, mstype.float32), Tensor(beta2, mstype.float32)
        self.eps = eps
        self.beta1_power = Parameter(Tensor(1.0, mstype.float32), name="beta1_power")
        self.beta2_power = Parameter(Tensor(1.0, mstype.float32), name="beta2_power")
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")
        if use_amsgrad:
            self.vhat = self.parameters.clone(prefix="vhat", init="zeros")

    def construct(self, gradients):
        gradients, lr = self._begin(gradients)
        b1, b2 = self.beta1_power, self.beta2_power
        _optim.scale(b1, self._beta1)
        _optim.scale(b2, self._beta2)
        states = (self.moment1, self.moment2) + ((self.vhat,) if self.use_amsgrad else ())
        for p, m, v, *more, g, rate, decay in self._each_set(gradients, lr, *states):
            _optim.adam(p, m, v, more[0] if more else None, g, rate, b1, b2, self._beta1, self._beta2, self._eps, decay,
                        self._grad_scale, self.use_nesterov)
        return self._done()


class AdamWeightDecay(Optimizer):
    """Adam without bias correction, with decoupled weight decay."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        who = self.cls_name
        self._beta1 = check_range(beta1, "beta1", who, 0.0, 1.0)
        self._beta2 = check_range(beta2, "beta2", who, 0.0, 1.0)
        self._eps = check_positive(eps, "eps", who)
        self.beta1, self.beta2 = Tensor([beta1], mstype.float32), Tensor([beta2], mstype.float32)
        self.eps = Tensor([eps], mstype.float32)
        self.moments1 = self.parameters.clone(prefix="adam_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix="adam_v", init="zeros")

    def _dynamic_decay(self, gradients):
        """A scheduled weight decay shrinks the parameters before the step, which is the decoupled form."""
        decay, lr = self.get_weight_decay(), self.get_lr()
        flags = self.dynamic_decay_flags if self.is_group else self.decay_flags
        for k, (p, flag) in enumerate(zip(self.parameters, flags)):
            if flag:
                rate = (lr[k] if self.is_group_lr else lr) * (decay[k] if self.is_group else decay)
                p.assign_value(p - p * rate.astype(p.dtype))
        return gradients

    def construct(self, gradients):
        gradients, lr = self._begin(gradients)
        for p, m, v, g, rate, decay in self._each_set(gradients, lr, self.moments1, self.moments2):
            _optim.adamw(p, m, v, g, rate, self._beta1, self._beta2, self._eps, decay, self._grad_scale)
        return self._done()
