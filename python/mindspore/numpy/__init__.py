"""numpy's functions on Tensors: its names and defaults over the same rows as ops and mint."""
from mindspore.common.dtype import (bool_, float16, float32, float64, int8, int16, int32, int64, uint8, uint16,  # noqa: F401
                                    uint32, uint64)
from mindspore.numpy import fft  # noqa: F401
from mindspore.numpy.array_ops import *  # noqa: F401,F403
from mindspore.numpy.math_ops import *  # noqa: F401,F403

int_, uint, float_ = int32, uint32, float32
