"""Special functions: every row `mint.special.x` of the registry."""
from mindspore import _c

globals().update(_c.rows('mint.special'))
