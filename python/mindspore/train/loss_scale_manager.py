"""Loss scale managers: which factor keeps the gradients of half precision in range, and the Cell that updates it."""

__all__ = ["LossScaleManager", "FixedLossScaleManager", "DynamicLossScaleManager"]


class LossScaleManager:
    """Base: subclasses define the three methods."""

    def get_loss_scale(self):
        """The present factor."""

    def update_loss_scale(self, overflow):
        """Adapts the factor to whether the last gradients overflowed."""

    def get_update_cell(self):
        """The Cell with which a TrainOneStepWithLossScaleCell updates its factor; None: it has none."""


class FixedLossScaleManager(LossScaleManager):
    """A constant factor; steps that overflow are skipped if ``drop_overflow_update``."""

    def __init__(self, loss_scale=128.0, drop_overflow_update=True):
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)) or loss_scale < 1:
            raise ValueError(f"For 'FixedLossScaleManager', the argument 'loss_scale' must be >= 1, but got {loss_scale}.")
        if not isinstance(drop_overflow_update, bool):
            raise TypeError("For 'FixedLossScaleManager', the 'drop_overflow_update' must be bool, but got "
                            f"{type(drop_overflow_update).__name__}.")
        self._loss_scale, self._drop_overflow_update = loss_scale, drop_overflow_update

    def get_loss_scale(self):
        return self._loss_scale

    def get_drop_overflow_update(self):
        return self._drop_overflow_update

    def get_update_cell(self):
        if not self._drop_overflow_update:
            return None
        from mindspore.nn import FixedLossScaleUpdateCell  # nn imports this package for its wrappers
        return FixedLossScaleUpdateCell(self._loss_scale)


class DynamicLossScaleManager(LossScaleManager):
    """The factor is divided by ``scale_factor`` after an overflow and multiplied by it after ``scale_window`` steps without."""

    def __init__(self, init_loss_scale=2 ** 24, scale_factor=2, scale_window=2000):
        if isinstance(init_loss_scale, bool) or not isinstance(init_loss_scale, (int, float)) or init_loss_scale < 1:
            raise ValueError(f"For 'DynamicLossScaleManager', the argument 'init_loss_scale' must be > 1, but got {init_loss_scale}.")
        for name, value in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"For 'DynamicLossScaleManager', the argument '{name}' must be a positive int, but got {value}.")
        self.loss_scale, self.scale_factor, self.increase_ratio = init_loss_scale, scale_factor, scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.scale_window = scale_window
        self.cur_iter, self.last_overflow_iter = 1, 0

    def get_loss_scale(self):
        return self.loss_scale

    def get_drop_overflow_update(self):
        return True

    def update_loss_scale(self, overflow):
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
        elif (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
            self.loss_scale *= self.increase_ratio
        self.cur_iter += 1

    def get_update_cell(self):
        from mindspore.nn import DynamicLossScaleUpdateCell  # nn imports this package for its wrappers
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
