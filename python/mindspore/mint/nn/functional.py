"""Functions of mint.nn: every row `mint.nn.functional.x` of the registry."""
from mindspore import _c

globals().update(_c.rows('mint.nn.functional'))
