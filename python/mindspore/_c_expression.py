"""Names that existing code takes from the original's extension."""
from mindspore._c import Tensor
from mindspore._c import Tensor as TensorPy
from mindspore.common import dtype as typing

__all__ = ['Tensor', 'TensorPy', 'typing', 'security', 'get_code_extra', 'update_pijit_default_config', 'jit_mode_pi_enable',
           'jit_mode_pi_disable']


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
