"""Where scripts look for what lies behind mindspore.dataset."""
import sys

from . import datasets, samplers  # noqa: F401
from . import datasets as iterators
from .datasets import *  # noqa: F401,F403
from .samplers import *  # noqa: F401,F403

for _name, _module in (('iterators', iterators), ('datasets', datasets), ('samplers', samplers)):
    sys.modules[f'{__name__}.{_name}'] = _module
