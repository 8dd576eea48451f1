"""AdaFactor under the path that existing code imports it from."""
from mindspore.nn.optim.rules import AdaFactor

__all__ = ["AdaFactor"]
