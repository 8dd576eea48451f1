"""Fused programs of cheap float32 steps (src/cpu/isa/chain.c): the same bits as one operator after the other."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import ops

ONE = [ops.neg, ops.square, ops.abs, ops.sqrt, ops.rsqrt, ops.reciprocal, ops.relu]
TWO = [ops.add, ops.sub, ops.mul, ops.div, ops.maximum, ops.minimum]
SHAPES = [(511,), (512,), (2048 + 37,), (40000,), (3, 700), (70000,)]


def program(rng, n_in, n_step, n_out, total):
    """Steps that read inputs and each other's results: chains as well as values that wait for their use."""
    steps = []
    for k in range(n_step):
        latest = [n_in + k - 1] if k else []
        any_of = lambda: int(rng.choice(latest * 3 + list(range(n_in + k))))
        if rng.random() < 0.35:
            steps.append((ONE[rng.integers(len(ONE))], any_of()))
        else:
            steps.append((TWO[rng.integers(len(TWO))], any_of(), any_of()))
    outs = [n_in + n_step - 1] + [int(x) for x in rng.choice(n_in + np.arange(n_step - 1), n_out - 1, replace=False)]

    def run(*args):
        values = list(args)
        for op, *which in steps:
            values.append(op(*[values[i] for i in which]))
        return values[outs[0]].sum() if total else tuple(values[i] for i in outs)
    return run


def inputs(rng, shape, n_in):
    """Full tensors, rows, columns and single values; NaN, infinities, zeros of both signs and subnormals among them."""
    made = []
    for i in range(n_in):
        kept = shape if i == 0 else [shape, shape[-1:], (1,) * len(shape), shape[:-1] + (1,)][rng.integers(4)]
        x = rng.standard_normal(kept).astype(np.float32)
        odd = rng.choice(np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40]), x.shape)
        made.append(ms.Tensor(np.where(rng.random(x.shape) < 0.02, odd, x)))
    return made


def bits(x):
    """NaN by place, everything else by its bits."""
    x = x.asnumpy()
    return np.isnan(x).tolist(), np.where(np.isnan(x), np.float32(0), x).tobytes()


def check(seed):
    rng = np.random.default_rng(seed)
    n_in, n_step = int(rng.integers(1, 5)), int(rng.integers(2, 9))
    total = rng.random() < 0.3
    fn = program(rng, n_in, n_step, int(rng.integers(1, min(3, n_step) + 1)), total)
    args = inputs(rng, SHAPES[rng.integers(len(SHAPES))], n_in)
    want = ms.jit(fn, jit_level="O0")(*args)
    got = ms.jit(fn, jit_level="O1")(*args)
    for w, g in zip(*[(r,) if total else r for r in (want, got)]):
        assert bits(w) == bits(g), seed


@pytest.mark.parametrize("seed", range(40))
def test_chain_gives_the_same_bits(seed):
    check(seed)


@pytest.mark.parametrize("isa", ["base", "avx2"])
def test_chain_of_other_instruction_sets(isa):
    code = "import test_chains\nfor seed in range(40, 60): test_chains.check(seed)"
    env = dict(os.environ, MS_ISA_MAX=isa, PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), *sys.path]))
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
