"""Argument checks of the dataset package: the kinds of errors and their texts follow the original's."""
import inspect
import numbers
import os

INT32_MAX = 2147483647
FLOAT_INTEGER = 16777216  # the last integer from which float32 counts without gaps
INT64_MAX = 9223372036854775807
MAX_WORKERS = max(os.cpu_count() or 1, 128)


def kind(name, value, *types):
    """TypeError unless value has one of the types; bool is no int here. The text then has a tuple, as the original's."""
    if isinstance(value, bool) and bool not in types and numbers.Number not in types and isinstance(value, types):
        raise TypeError(f'Argument {name} with value {value} is not of type {types}, but got {type(value)}.')
    if not isinstance(value, types):
        raise TypeError(f'Argument {name} with value {value} is not of type {list(types)}, but got {type(value)}.')
    return value


def integer(name, value, low=0, high=INT32_MAX):
    kind(name, value, int)
    if not low <= value <= high:
        raise ValueError(f'Input {name} is not within the required interval of [{low}, {high}].')
    return value


def within(name, value, low, high):
    """A number in an interval; the text is the original's, which does not name the argument: a note does."""
    if not low <= value <= high:
        error = ValueError(f'Input is not within the required interval of [{low}, {high}].')
        if hasattr(error, 'add_note'):
            error.add_note(f'{name} is {value}.')
        raise error
    return value


def choice(name, value, allowed):
    if value not in allowed:
        raise ValueError(f'Input {name} is not within the valid set of {list(allowed)}.')
    return value


def samples(value):
    """A number of rows, 0 for all; None stays."""
    if value is not None:
        kind('num_samples', value, int)
        if not 0 <= value <= INT64_MAX:
            raise ValueError(f'num_samples exceeds the boundary between 0 and {INT64_MAX}(INT64_MAX)!')
    return value


def shard(num_shards, shard_id):
    integer('num_shards', num_shards, 1)
    kind('shard_id', shard_id, int)
    if not 0 <= shard_id < num_shards:
        raise ValueError(f'Input shard_id is not within the required interval of [0, {num_shards - 1}].')


def number(name, value):
    return within(name, kind(name, value, float, int), -FLOAT_INTEGER, FLOAT_INTEGER)


def unit(name, value):
    """A probability."""
    kind(name, value, float, int)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f'Input {name} is not within the required interval of [0.0, 1.0].')
    return float(value)


def names(name, value):
    """A column name or a list of them, as a list; a comma would end a name in the C interface."""
    many = [value] if isinstance(value, str) else value
    if isinstance(many, (list, tuple)) and not many:
        raise ValueError(f'{name} should not be empty.')
    if not isinstance(many, (list, tuple)):
        raise TypeError(f'Argument {name} with value {value} is not of type [<class \'str\'>, <class \'list\'>], '
                        f'but got {type(value)}.')
    for k, item in enumerate(many):
        kind(f'{name}[{k}]', item, str)
        if not item or ',' in item or '\0' in item:
            what = 'contain a comma or a null character' if item else 'be empty'
            raise ValueError(f'{name}[{k}] should not {what}, but got {item!r}.')
    if len(set(many)) != len(many):
        raise ValueError(f'{name} should not contain duplicate names, but got {list(many)}.')
    return list(many)


def joined(name, value):
    """Names as the C interface takes them; None stays."""
    return None if value is None or value == [] else ','.join(names(name, value))


def workers(value):
    """0 = the configured number."""
    if value is None:
        return 0
    if not 1 <= kind('num_parallel_workers', value, int) <= MAX_WORKERS:
        raise ValueError(f'num_parallel_workers exceeds the boundary between 1 and {MAX_WORKERS}!')
    return value


def row_size(value, pair=True):
    """The megabytes that a row may take between processes: an int, for map and batch also [in, out]; -1: as it needs."""
    if value is None:
        return
    kind('max_rowsize', value, *((int, list) if pair else (int,)))
    if isinstance(value, int):
        integer('max_rowsize', value, -1)
        return
    if len(value) != 2:
        raise TypeError('max_rowsize should be a single integer or a list[in_rowsize, out_rowsize] of length 2.')
    for i, v in enumerate(value):
        integer(f'max_rowsize[{i}]', v, -1)


def only(function, options, allowed):
    """TypeError for keywords that a function does not know."""
    for key in options:
        if key not in allowed:
            raise TypeError(f'{function}() got an unexpected keyword argument {key!r}')


class Recorded:
    """Base of classes whose objects keep the arguments that they were made with, `_given`."""

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self._given = args, kwargs
        return self


class Described:
    """Base of classes that give their parameters as a lambda, `_arguments`, which becomes their signature."""

    def __init_subclass__(cls):
        if '_arguments' in cls.__dict__:
            cls.__signature__ = inspect.signature(cls._arguments)

    def _bind(self, args, kwargs):
        """{parameter: value} with the defaults."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(f'{type(self).__name__}.__init__() {e}') from None
        bound.apply_defaults()
        return bound.arguments
