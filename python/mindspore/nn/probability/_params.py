"""Parameters of distributions and bijectors: numbers become Tensors, Parameters stay, shapes are broadcast."""
import numpy as np

from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor

FLOATS = (mstype.float16, mstype.float32, mstype.float64, mstype.bfloat16)


def parameter(value, dtype):
    """A number, list or array as a Tensor of ``dtype``; None and Parameters as they are."""
    if value is None or isinstance(value, Parameter):
        return value
    if isinstance(value, (str, bool)):
        raise TypeError(f"Unable to convert input of type {type(value)} to a Tensor of type {dtype}")
    return value.astype(dtype) if isinstance(value, Tensor) else Tensor(np.asarray(value), dtype)


def check(ok, text):
    """ValueError unless ``ok`` holds everywhere; what has no value yet is not looked at."""
    if not isinstance(ok, Tensor) or not ok._traced:
        if not np.all(ok.asnumpy() if isinstance(ok, Tensor) else ok):
            raise ValueError(text)


def positive(name, value, text=None):
    if value is not None:
        check(value > 0, f"{text or name} must be greater than zero.")


def tensor(value, what):
    if not isinstance(value, Tensor):
        raise TypeError(f"For {what}, input type must be a Tensor or Parameter.")
    return value


def batch_shape(values):
    return None if any(v is None for v in values) else np.broadcast_shapes(*(v.shape for v in values))


def text_of(value):
    return str(value.asnumpy()) if isinstance(value, Tensor) else str(value)
