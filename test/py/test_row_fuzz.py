"""Every row of the API called with odd arguments: empty and 0-d tensors, NaN, other dtypes, numbers whose products overflow. A call gives
something or an exception of Python's; a child process that dies is a defect, and its call is in the message. MS_FUZZ_ROUNDS and
MS_FUZZ_SEED ask for more calls, or others."""
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _c

ROUNDS, SEED = int(os.environ.get('MS_FUZZ_ROUNDS', 2)), os.environ.get('MS_FUZZ_SEED', '1')
REFUSALS = (ValueError, TypeError, RuntimeError, IndexError, NotImplementedError, KeyError, ZeroDivisionError, OverflowError, MemoryError)
NUMBERS = [0, 1, -1, 2, 3, -2, 7, -9, 2 ** 40, -2 ** 31, 2 ** 62, -2 ** 63, 2 ** 63 - 1]
FLOATS = [0.0, 1.0, -1.0, float('nan'), float('inf'), 1e308, 5e-324]
TEXTS = ['mean', 'none', '', 'zz', 'ij', 'reflect', 'ij,jk->ik', 'same', 'nearest', 'add', 'fro', 'a' * 3000, 'é']
TENSORS = [(lambda a=a, d=d: Tensor(a, d)) for a, d in (
    (np.zeros(0), ms.float32), (np.zeros((2, 0, 3)), ms.float32), (1.5, ms.float32), ([np.nan, np.inf, -np.inf], ms.float32),
    (np.ones((2, 3)), ms.float32), (np.ones((1,) * 8), ms.float32), (np.ones((2, 3, 4, 5)), ms.float32), (np.ones((3, 3)), ms.float64),
    (np.arange(6).reshape(2, 3), ms.int64), ([-1, 2 ** 62], ms.int64), (2 ** 62, ms.int64), ([5, -7], ms.int32), ([True, False], ms.bool_),
    (np.ones((2, 2)), ms.complex64), (np.ones(3), ms.float16), ([1.0], ms.bfloat16), (np.ones((2, 3)), ms.uint8))]
TENSORS.append(lambda: Tensor(np.ones((2, 3, 4, 5), np.float32))[:, ::-1, 1:3])


def odd(draw, kinds):
    """A value of one of the kinds in the text of a signature, or now and then of none."""
    if draw.random() < 0.04:
        return draw.choice([None, 'x', [], {}, object(), 1 << 70, [None], b'x'])
    kind = draw.choice([k.strip().rstrip('?') for k in kinds.split('|')])
    numbers = tuple(draw.choice(NUMBERS if draw.random() < 0.3 else range(4)) for _ in range(draw.choice([0, 1, 2, 3, 4, 9])))
    return {'int': lambda: draw.choice(NUMBERS), 'float': lambda: draw.choice(FLOATS), 'number': lambda: draw.choice(FLOATS + NUMBERS[:6]),
            'bool': lambda: draw.random() < 0.5, 'ints': lambda: numbers, 'floats': lambda: FLOATS[:len(numbers)],
            'dtype': lambda: draw.choice([ms.float32, ms.int8, ms.bool_, ms.complex64, ms.bfloat16]), 'str': lambda: draw.choice(TEXTS),
            'tensors': lambda: [draw.choice(TENSORS)() for _ in range(draw.randrange(4))],
            'any': lambda: draw.choice([draw.choice(TENSORS)(), draw.choice(NUMBERS), draw.choice(TEXTS), numbers, None, ..., slice(1, None, -1),
                                        [draw.choice(TENSORS)() for _ in range(2)]])}.get(kind, lambda: draw.choice(TENSORS)())()


def call(draw, row):
    """(arguments, named arguments)."""
    args, named, in_place = [], {}, True
    for name, kind, default, types in row._parameters:
        if default is not ... and draw.random() < 0.4:
            in_place = False
        elif kind == 2:
            args += [odd(draw, types) for _ in range(draw.randrange(3))] if in_place else []
        elif kind == 1 and in_place:
            args.append(odd(draw, types))
        else:
            named[name] = odd(draw, types)
    return args, named


def run_all(prefix, log):
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    done = 0
    for name, row in sorted(_c.rows(prefix).items()):
        draw = random.Random(f'{SEED}{prefix}.{name}')
        for _ in range(ROUNDS):
            args, named = call(draw, row)
            log.write_text(f'{prefix}.{name} {args} {named}'[:2000])
            signal.alarm(60)
            try:
                row(*args, **named)
                done += 1
            except REFUSALS:
                pass
    assert done


@pytest.mark.parametrize('prefix', ['ops', 'mint', 'mint.nn.functional', 'Tensor', '_p', '_nn', '_linalg', '_init', '_optim'])
def test_odd_arguments(tmp_path, prefix):
    log = tmp_path / 'call'
    run = subprocess.run([sys.executable, __file__, prefix, str(log)], stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, f'status {run.returncode} {run.stderr[-1000:]} after {log.read_text()}'


if __name__ == '__main__':
    run_all(sys.argv[1], pathlib.Path(sys.argv[2]))
