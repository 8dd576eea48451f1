"""Attention in graphs: found in its plain formulation and computed as one operator, equal to the steps one by one."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import nn, ops


def plain(q, k, v, mask, kind, scale):
    scores = ops.matmul(q, k.swapaxes(-1, -2)) * scale
    if kind == 'add':
        scores = scores + mask
    elif kind == 'where':
        scores = ops.where(mask, scores, ms.Tensor(-1e4, scores.dtype))
    elif kind == 'fill':
        scores = scores.masked_fill(mask, -1e9)
    return ops.matmul(ops.softmax(scores, -1), v)


def reference(q, k, v, mask, kind, scale):
    s = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) * scale
    if kind == 'add':
        s = s + mask
    elif kind == 'where':
        s = np.where(mask, s, -1e4)
    elif kind == 'fill':
        s = np.where(mask, -1e9, s)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize('kind', ['none', 'add', 'where', 'fill'])
@pytest.mark.parametrize('n,m,d', [(5, 7, 4), (70, 70, 20), (17, 130, 33)])
def test_graph_equals_steps(kind, n, m, d):
    r = np.random.RandomState(0)
    q, k, v = (r.randn(2, 3, s, d).astype(np.float32) for s in (n, m, m))
    mask = np.triu(np.ones((n, m), bool), 1)
    if kind == 'add':
        mask = np.where(mask, -np.inf, r.randn(n, m)).astype(np.float32)
    elif kind == 'where':
        mask = ~mask
    args = [ms.Tensor(x) for x in (q, k, v)]
    mask_t = ms.Tensor(mask)

    def f(a, b, c):
        return plain(a, b, c, mask_t, kind, 0.3)
    want = reference(q, k, v, mask, kind, 0.3)
    fast = ms.jit(f, jit_level='O1')
    for _ in range(3):
        np.testing.assert_allclose(fast(*args).asnumpy(), want, rtol=2e-5, atol=2e-6)
    w = ms.Tensor(r.randn(2, 3, n, d).astype(np.float32))

    def loss(a, b, c):
        return (f(a, b, c) * w).sum()
    steps = ms.grad(loss, (0, 1, 2))(*args)
    graph = ms.jit(ms.grad(loss, (0, 1, 2)), jit_level='O1')
    for _ in range(2):
        for g, s in zip(graph(*args), steps):
            np.testing.assert_allclose(g.asnumpy(), s.asnumpy(), rtol=1e-4, atol=2e-5)


def test_heads_of_one_projection_train():
    """Splitting heads, causal mask, layer norm, tied embedding: O0, O1 and PyNative give the same step."""
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = ms.Parameter(ms.Tensor(np.random.RandomState(1).randn(40, 24).astype(np.float32)), name='t')
            self.qkv, self.ln = nn.Dense(24, 72), nn.LayerNorm([24])
            self.mask = ms.Tensor(np.triu(np.full((6, 6), -np.inf, np.float32), 1))

        def construct(self, tokens):
            x = ops.gather(self.table, tokens, 0)
            b, s, w = x.shape
            q, k, v = [t.reshape(b, s, 3, 8).transpose(0, 2, 1, 3) for t in ops.split(self.qkv(self.ln(x)), w, axis=-1)]
            y = plain(q, k, v, self.mask, 'add', 8 ** -0.5)
            x = x + y.transpose(0, 2, 1, 3).reshape(b, s, w)
            return ops.dense(x, self.table)

    net = Net()
    tokens = ms.Tensor(np.random.RandomState(2).randint(0, 40, (2, 6)), ms.int32)

    def loss(t):
        return ops.cross_entropy(net(t).reshape(-1, 40), t.reshape(-1))
    grad = ms.value_and_grad(loss, None, net.trainable_params())
    value, grads = grad(tokens)
    for level in ('O0', 'O1'):
        f = ms.jit(grad, jit_level=level)
        for _ in range(2):
            got, got_grads = f(tokens)
            np.testing.assert_allclose(got.asnumpy(), value.asnumpy(), rtol=1e-5)
            for a, b in zip(got_grads, grads):
                np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-4, atol=1e-5)


def test_dropout_of_the_probabilities():
    """The same generator state gives the same step in PyNative and in graphs of both levels."""
    r = np.random.RandomState(0)
    q, k, v = (ms.Tensor(r.randn(2, 3, 20, 8).astype(np.float32)) for _ in range(3))

    def loss(a, b, c):
        p = ops.softmax(ops.matmul(a, b.swapaxes(-1, -2)) * 0.4, -1)
        return (ops.matmul(ops.dropout(p, 0.3), c) * v).sum()
    grad = ms.value_and_grad(loss, (0, 1, 2))
    results = []
    for f in (grad, ms.jit(grad, jit_level='O0'), ms.jit(grad, jit_level='O1')):
        for _ in range(2):
            ms.set_seed(5)
            value, grads = f(q, k, v)
            results.append([value.asnumpy(), *(g.asnumpy() for g in grads)])
    for other in results[1:]:
        for a, b in zip(other, results[0]):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
