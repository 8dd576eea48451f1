"""Gradients over the devices of a group; there is one."""
from mindspore.nn.cell import Cell

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """Sum (or mean) of the gradients over all devices: with one device the gradients themselves, over ``degree`` if given."""

    def __init__(self, parameters, mean=None, degree=None, fusion_type=1, group="hccl_world_group"):
        super().__init__(auto_prefix=False)
        if degree is not None and (isinstance(degree, bool) or not isinstance(degree, int) or degree <= 0):
            raise ValueError(f"For '{self.cls_name}', the 'degree' must be a positive int, but got {degree}.")
        if degree is not None and degree > 1:
            raise ValueError(f"For '{self.cls_name}', the 'degree' must not exceed the number of devices, which is 1, but got "
                             f"{degree}.")
        self.parameters = tuple(parameters)
        self.mean, self.degree, self.fusion_type, self.group = bool(mean), degree or 1, fusion_type, group

    def construct(self, grads):
        return grads
