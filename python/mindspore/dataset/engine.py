"""Where scripts look for what lies behind mindspore.dataset."""
import sys

from . import config, datasets, samplers  # noqa: F401
from . import datasets as iterators
from .datasets import *  # noqa: F401,F403
from .samplers import *  # noqa: F401,F403

_sources = dict.fromkeys(('datasets_audio', 'datasets_standard_format', 'datasets_text', 'datasets_user_defined', 'datasets_vision'),
                         sys.modules[__package__])
globals().update(_sources)
for _name, _module in {'iterators': iterators, 'datasets': datasets, 'samplers': samplers, **_sources}.items():
    sys.modules[f'{__name__}.{_name}'] = _module
sys.modules[f'{__package__}.core'] = sys.modules[__name__]  # the settings have had a place of their own, too
sys.modules[f'{__package__}.core.config'] = config
