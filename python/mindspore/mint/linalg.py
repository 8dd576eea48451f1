"""Linear algebra: every row `mint.linalg.x` of the registry."""
from mindspore import _c

globals().update(_c.rows('mint.linalg'))
