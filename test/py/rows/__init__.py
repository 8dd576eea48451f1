from . import elementwise, operators, reduction  # noqa: F401
from .table import TABLE  # noqa: F401
