from . import (decomposition, elementwise, fourier, index, linear, loss, making, measure, network, older, operators, order,  # noqa: F401
               reduction, shape, special)
from .table import TABLE  # noqa: F401
