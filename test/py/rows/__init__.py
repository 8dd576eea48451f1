from . import (decomposition, elementwise, fourier, index, linear, loss, making, measure, methods, network,  # noqa: F401
               older, operators, order, patch, reduction, shape, signal, special)
from .table import TABLE  # noqa: F401
