"""Momentum and SGD."""
from mindspore.common import dtype as mstype
from mindspore.common._rows import optim as _optim
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.layer._check import check_bool
from mindspore.nn.optim._check import check_at_least_zero
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["Momentum", "SGD"]


class Momentum(Optimizer):
    """v = momentum v + g;  p -= lr v  (nesterov: p -= lr (g + momentum v)). Polyak 1964; Sutskever et al. 2013."""

    @opt_init_args_register
    def __init__(self, params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0, use_nesterov=False):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._momentum = check_at_least_zero(momentum, "momentum", self.cls_name,
                                             f"For '{self.cls_name}', the argument 'momentum' must be at least 0.0, but got "
                                             f"{momentum}")
        self.momentum = Parameter(Tensor(self._momentum, mstype.float32), name="momentum")
        self.use_nesterov = check_bool(use_nesterov, "use_nesterov", self.cls_name)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")

    def construct(self, gradients):
        gradients, lr = self._begin(gradients)
        for p, m, g, rate, decay in self._each_set(gradients, lr, self.moments):
            _optim.momentum(p, m, g, rate, self._momentum, decay, self._grad_scale, self.use_nesterov)
        return self._done()


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum, dampening and Nesterov's form."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False,
                 loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        self._momentum = check_at_least_zero(momentum, "momentum", who,
                                             f"For '{who}', the argument 'momentum' must be at least 0.0, but got {momentum}.")
        self.dampening = check_at_least_zero(dampening, "dampening", who,
                                             f"For '{who}', the argument 'dampening' must be at least 0.0, but got "
                                             f"'dampening' {dampening}")
        self.nesterov = check_bool(nesterov, "nesterov", who)
        if nesterov and (self._momentum <= 0 or self.dampening != 0):
            raise ValueError(f"For '{who}', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to 0.0, "
                             f"but got 'momentum' {momentum}, 'dampening' {dampening}.")
        self.momentum = Parameter(Tensor(self._momentum, mstype.float32), name="momentum")
        self.accum = self.parameters.clone(prefix="accum", init="zeros")
        self.stat = self.parameters.clone(prefix="stat", init="ones")

    def construct(self, gradients):
        gradients, lr = self._begin(gradients)
        for p, accum, stat, g, rate, decay in self._each_set(gradients, lr, self.accum, self.stat):
            _optim.sgd(p, accum, stat, g, rate, self._momentum, self.dampening, decay, self._grad_scale, self.nesterov)
        return self._done()
