"""The primitive classes under scipy's functions."""
from mindspore.ops.operations import Eig, Eigh  # noqa: F401
from mindspore.ops.primitive import Primitive
from mindspore.scipy.optimize import linear_sum_assignment

__all__ = ["Eig", "Eigh", "LinearSumAssignment"]


class LinearSumAssignment(Primitive):
    """linear_sum_assignment as an object; the limit comes before the choice of the largest sum."""

    def __init__(self):
        super().__init__("LinearSumAssignment")

    def __call__(self, cost_matrix, dimension_limit, maximize):
        return linear_sum_assignment(cost_matrix, maximize, dimension_limit)
