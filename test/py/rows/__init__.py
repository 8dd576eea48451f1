from . import elementwise, operators, reduction, shape  # noqa: F401
from .table import TABLE  # noqa: F401
