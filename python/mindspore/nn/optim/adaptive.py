"""RMSProp and Adagrad."""
from mindspore.common._rows import optim as _optim
from mindspore.nn.layer._check import check_bool, check_type
from mindspore.nn.optim._check import check_at_least_zero, check_positive
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["RMSProp", "Adagrad"]


class RMSProp(Optimizer):
    """Hinton 2012: gradients over the root of their moving mean square; ``centered`` subtracts the squared mean."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        check_type(decay, "decay", float, who)
        self.decay = check_at_least_zero(decay, "decay", who,
                                         f"For '{who}', the argument 'decay' must be at least 0.0, but got {decay}.")
        self.momentum = check_at_least_zero(momentum, "momentum", who,
                                            f"For '{who}', the argument 'momentum' must be at least 0.0, but got {momentum}.")
        self.epsilon = check_positive(epsilon, "epsilon", who)
        self.use_locking = check_bool(use_locking, "use_locking", who)
        self.centered = check_bool(centered, "centered", who)
        if centered:
            self.mg = self.parameters.clone(prefix="mean_grad", init="zeros")
        self.ms = self.parameters.clone(prefix="mean_square", init="ones")
        self.moment = self.parameters.clone(prefix="moment", init="zeros")

    def construct(self, gradients):
        gradients, lr = self._begin(gradients)
        states = (self.ms, self.moment) + ((self.mg,) if self.centered else ())
        for p, ms, mom, *more, g, rate, decay in self._each_set(gradients, lr, *states):
            _optim.rmsprop(p, ms, mom, more[0] if more else None, g, rate, self.decay, self.momentum, self.epsilon, decay,
                           self._grad_scale)
        return self._done()


class Adagrad(Optimizer):
    """Duchi et al. 2011: gradients over the root of the sum of their squares."""

    @opt_init_args_register
    def __init__(self, params, accum=0.1, learning_rate=0.001, update_slots=True, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        who = self.cls_name
        check_type(accum, "accum", float, who)
        if accum < 0:
            raise ValueError(f"For '{who}', the 'accum' must be float and must >= 0, but got '{accum}' with type 'float'.")
        self.update_slots = check_bool(update_slots, "update_slots", who)
        self.accum = self.parameters.clone(prefix="accum", init=accum)

    def construct(self, gradients):
        gradients, lr = self._begin(gradients)
        for p, accum, g, rate, decay in self._each_set(gradients, lr, self.accum):
            _optim.adagrad(p, accum, g, rate, decay, self._grad_scale, self.update_slots)
        return self._done()
