"""Matrix products by our own loops (src/cpu/gemm.c): whole numbers, so that every order of a sum gives the same."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import mint, ops

# Rows, columns, depth: one of each, several blocks of each, more columns than are packed at a time, hardly any rows.
SIZES = [(1, 1, 1), (8, 48, 336), (7, 300, 500), (130, 97, 800), (3, 5000, 2), (300, 4200, 700), (600, 16, 1000), (2, 3, 9000)]


def whole(rng, *shape):
    return rng.integers(-4, 5, shape).astype(np.float64)


def check(m, n, k):
    rng = np.random.default_rng(m + n + k)
    a, b, bias = whole(rng, m, k), whole(rng, k, n), whole(rng, n)
    want = a @ b
    for turn_a in (False, True):
        for turn_b in (False, True):
            x, y = ms.Tensor(a.T.copy() if turn_a else a), ms.Tensor(b.T.copy() if turn_b else b)
            got = ops.matmul(x.T if turn_a else x, y.T if turn_b else y)
            np.testing.assert_array_equal(got.asnumpy(), want)
    y = ms.Tensor(b.T.copy())
    np.testing.assert_array_equal(mint.nn.functional.linear(ms.Tensor(a), y, ms.Tensor(bias)).asnumpy(), want + bias)
    columns = ops.zeros((n, m), ms.float64)  # a result that lies column by column
    columns.T[...] = ops.matmul(ms.Tensor(a), ms.Tensor(b))
    np.testing.assert_array_equal(columns.asnumpy(), want.T)
    few = ms.Tensor(a[:, :0]), ms.Tensor(b[:0])
    np.testing.assert_array_equal(ops.matmul(*few).asnumpy(), 0 * want)


@pytest.mark.parametrize("size", SIZES)
def test_products_are_exact(size):
    check(*size)


@pytest.mark.parametrize("isa", ["base", "avx2"])
def test_products_of_other_instruction_sets(isa):
    code = "import test_products as t\nfor size in t.SIZES: t.check(*size)"
    env = dict(os.environ, MS_ISA_MAX=isa, PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), *sys.path]))
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


def test_products_do_not_depend_on_the_number_of_threads():
    code = """if True:
        import hashlib, sys, numpy as np, mindspore as ms
        from mindspore import ops
        ms.set_context(runtime_num_threads=int(sys.argv[1]))
        r = np.random.default_rng(0)
        for m, n, k in [(5, 900, 700), (333, 1000, 1500), (1000, 24, 40)]:
            y = ops.matmul(ms.Tensor(r.standard_normal((m, k))), ms.Tensor(r.standard_normal((k, n))))
            print(hashlib.sha1(y.asnumpy().tobytes()).hexdigest())"""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    runs = [subprocess.run([sys.executable, "-c", code, n], env=env, capture_output=True, check=True).stdout for n in "135"]
    assert runs[0] == runs[1] == runs[2] and len(runs[0].split()) == 3
