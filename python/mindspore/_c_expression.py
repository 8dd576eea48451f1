"""Names that existing code takes from the original's extension."""
from mindspore._c import Tensor
from mindspore._c import Tensor as TensorPy
from mindspore.common import dtype as typing

__all__ = ['Tensor', 'TensorPy', 'typing', 'security', 'get_code_extra', 'update_pijit_default_config', 'jit_mode_pi_enable',
           'jit_mode_pi_disable', '_random_normal', '_random_uniform', '_truncated_normal']


class security:
    """Whether this was built without the tools that write data out: it never is."""

    @staticmethod
    def enable_security():
        return False


def get_code_extra(function):
    """What is known about a function or code object that ``jit`` was given: how often it was compiled, ran as a graph, and had to
    look at a value in between. None for others."""
    from mindspore.jit.front import counts_of
    return counts_of(getattr(function, '__code__', function))


def update_pijit_default_config(**config):
    """Options of how the original reads bytecode."""


def jit_mode_pi_enable():
    """Compilation from bytecode is there in any case."""


jit_mode_pi_disable = jit_mode_pi_enable


def _fill(data, draw, *numbers):
    """Fills an ndarray with values of a native stream."""
    from mindspore.common import dtype
    kind = dtype.float64 if data.dtype == 'float64' else dtype.float32
    data[...] = draw(numbers[0], data.shape, kind, *numbers[1:]).asnumpy()


def _random_normal(seed, data, mean, sigma):
    """Fills an ndarray with values of a normal distribution; the seed determines them."""
    from mindspore.common._rows import init
    _fill(data, init.normal, seed, mean, sigma)


def _random_uniform(seed, data, a, b):
    """Fills an ndarray with values between a and b."""
    from mindspore.common._rows import init
    _fill(data, init.uniform, seed, (b - a) / 2)
    data += (a + b) / 2


def _truncated_normal(seed, data, a, b, mean, sigma):
    """Fills an ndarray with values of a normal distribution cut at mean + a * sigma and mean + b * sigma."""
    from mindspore.common._rows import init
    _fill(data, init.truncated_normal, seed, mean, sigma, mean + a * sigma, mean + b * sigma)
