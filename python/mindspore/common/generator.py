"""Generators of random numbers: a seed and how far it was used, in a tensor that random functions advance."""
import os

from mindspore import _c
from mindspore._c import Tensor

__all__ = ['Generator', 'default_generator', 'manual_seed', 'seed', 'initial_seed', 'get_rng_state', 'set_rng_state']


class Generator:
    """A source of random numbers; random functions take it as `generator`."""

    def __init__(self):
        self._tensor = Tensor([0, 0], _c.dtypes['int64'])

    def manual_seed(self, seed):
        """Restarts the stream of a seed; returns the generator."""
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise TypeError(f"For 'manual_seed', the 'seed' must be int, but got {type(seed).__name__}.")
        self._tensor.asnumpy()[:] = (seed & (2**63 - 1), 0)
        return self

    def seed(self):
        """Restarts from a seed of the system, which is returned."""
        value = int.from_bytes(os.urandom(6), 'little')
        self.manual_seed(value)
        return value

    def initial_seed(self):
        """The seed that the stream began with."""
        return self._tensor.tolist()[0]

    def get_state(self):
        """The state as 16 bytes, beginning with the seed."""
        return Tensor(self._tensor.asnumpy().view('uint8'))

    def set_state(self, state):
        """Goes back to what get_state gave."""
        if not isinstance(state, Tensor) or state.dtype is not _c.dtypes['uint8'] or state.shape != (16,):
            raise TypeError("For 'set_state', the 'state' must be a uint8 Tensor of 16 elements.")
        self._tensor.asnumpy()[:] = state.asnumpy().view('int64')

    def _step(self, step):
        """(seed, offset) as Tensors; the next draw begins ``step`` further on."""
        state = self._tensor.copy()
        self._tensor[1] += step
        return state[0], state[1]


class _Default(Generator):
    def __init__(self):
        self._tensor = _c.random_state()


default_generator = _Default()


def manual_seed(seed):
    """Seeds the default generator."""
    return default_generator.manual_seed(seed)


def seed():
    """Seeds the default generator from the system and returns the seed."""
    return default_generator.seed()


def initial_seed():
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state():
    """State of the default generator."""
    return default_generator.get_state()


def set_rng_state(state):
    """Restores what get_rng_state gave."""
    default_generator.set_state(state)
