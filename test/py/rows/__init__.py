from . import (decomposition, elementwise, files, fourier, index, layer, linear, loss, making, measure, methods, network,  # noqa: F401
               older, operators, order, patch, primitive, reduction, shape, signal, special, step)
from .table import TABLE  # noqa: F401
