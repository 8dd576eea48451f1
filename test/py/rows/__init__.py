from . import elementwise, operators, index, linear, loss, making, network, order, reduction, shape  # noqa: F401
from .table import TABLE  # noqa: F401
