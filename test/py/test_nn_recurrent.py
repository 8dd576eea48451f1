"""Recurrent layers and transformers beside PyTorch's definitions, written out in numpy; eager beside compiled."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn

RNG = np.random.RandomState(3)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def one_step(mode, x, h, c, w, u, b, d):
    a, r = x @ w.T + b, h @ u.T + d
    n = h.shape[1]
    if mode == "LSTM":
        i, f, g, o = np.split(a + r, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if mode == "GRU":
        reset, keep = sigmoid((a + r)[:, :n]), sigmoid((a + r)[:, n:2 * n])
        new = np.tanh(a[:, 2 * n:] + reset * r[:, 2 * n:])
        return (1 - keep) * new + keep * h, c
    return (np.tanh(a + r) if mode == "RNN" else np.maximum(a + r, 0)), c


def layer(mode, x, h, c, weights, lengths, reverse):
    y = np.zeros((*x.shape[:2], h.shape[1]))
    for b in range(x.shape[1]):
        for k in range(lengths[b]):
            t = lengths[b] - 1 - k if reverse else k
            new, cell = one_step(mode, x[t, b][None], h[b][None], c[b][None], *weights)
            y[t, b] = h[b] = new[0]
            c[b] = cell[0]
    return y, h, c


def reference(net, mode, x, h0, c0, lengths):
    h0, c0, dirs = h0.copy(), c0.copy(), 2 if net.bidirectional else 1
    for k in range(net.num_layers):
        ys = []
        for d in range(dirs):
            suffix = f"_l{k}" + ("_reverse" if d else "")
            weights = [getattr(net, n + suffix).asnumpy().astype(float) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            at = k * dirs + d
            y, h0[at], c0[at] = layer(mode, x, h0[at], c0[at], weights, lengths, d == 1)
            ys.append(y)
        x = np.concatenate(ys, -1)
    return x, h0, c0


CASES = [("LSTM", {}), ("GRU", {}), ("RNN", {}), ("RELU", {}), ("LSTM", dict(num_layers=2, bidirectional=True)),
         ("GRU", dict(num_layers=2, bidirectional=True, batch_first=True)), ("RNN", dict(bidirectional=True))]


def make(mode, kw):
    return nn.RNN(3, 4, nonlinearity="relu", **kw) if mode == "RELU" else getattr(nn, mode)(3, 4, **kw)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("mode,kw", CASES)
def test_layers(mode, kw, given):
    net = make(mode, kw)
    x = RNG.randn(5, 2, 3)
    n = net.num_layers * (2 if net.bidirectional else 1)
    h, c = (RNG.randn(n, 2, 4), RNG.randn(n, 2, 4)) if given else (np.zeros((n, 2, 4)), np.zeros((n, 2, 4)))
    lengths = [5, 3] if given else [5, 5]
    want = reference(net, mode, x, h, c, lengths)
    xt = Tensor(np.ascontiguousarray(x.swapaxes(0, 1) if net.batch_first else x).astype(np.float32))
    ht, ct = Tensor(h.astype(np.float32)), Tensor(c.astype(np.float32))
    hx = None if not given else (ht, ct) if mode == "LSTM" else ht
    args = (xt, hx, Tensor(lengths, ms.int32)) if given else (xt,)
    y, last = net(*args)
    if mode == "LSTM":
        np.testing.assert_allclose(last[1].asnumpy(), want[2], atol=1e-5)
        last = last[0]
    y = y.asnumpy()
    np.testing.assert_allclose(y.swapaxes(0, 1) if net.batch_first else y, want[0], atol=1e-5)
    np.testing.assert_allclose(last.asnumpy(), want[1], atol=1e-5)
    again = ms.jit(lambda *a: net(*a)[0])(*args).asnumpy()
    np.testing.assert_allclose(again, y, atol=1e-6)


@pytest.mark.parametrize("name,mode", [("LSTMCell", "LSTM"), ("GRUCell", "GRU"), ("RNNCell", "RNN")])
def test_cells(name, mode):
    cell = getattr(nn, name)(3, 4)
    x, h, c = RNG.randn(2, 3), RNG.randn(2, 4), RNG.randn(2, 4)
    want = one_step(mode, x, h, c, *[p.asnumpy().astype(float) for p in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)])
    t = [Tensor(v.astype(np.float32)) for v in (x, h, c)]
    got = cell(t[0], (t[1], t[2]) if mode == "LSTM" else t[1])
    for g, w in zip(got if mode == "LSTM" else (got,), want):
        np.testing.assert_allclose(g.asnumpy(), w, atol=1e-6)
    assert repr(cell) == name + "()"


def test_names_and_refusals():
    net = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    names = [p.name for p in net.get_parameters()]
    assert names[:4] == ["weight_ih_l0", "weight_ih_l0_reverse", "weight_ih_l1", "weight_ih_l1_reverse"] and len(names) == 16
    assert all(abs(p.asnumpy()).max() <= 0.5 for p in net.get_parameters())
    for text, kind in (("nn.LSTM(0, 4)", ValueError), ("nn.LSTM(3, 'a')", TypeError), ("nn.LSTM(3, 4, dropout=1.5)", ValueError),
                       ("nn.RNN(3, 4, nonlinearity='x')", ValueError), ("nn.LSTM(3, 4, batch_first=1)", TypeError),
                       ("nn.LSTM(3, 4, foo=1)", TypeError), ("nn.LSTM(3, 4)(Tensor(np.ones((2, 3), np.float32)))", ValueError),
                       ("nn.LSTM(3, 4)(Tensor(np.ones((2, 2, 5), np.float32)))", ValueError)):
        with pytest.raises(kind):
            eval(text)


def test_dropout_between_layers():
    net = nn.GRU(3, 4, num_layers=2, dropout=0.5)
    x = Tensor(RNG.randn(5, 2, 3).astype(np.float32))
    assert (net(x)[0].asnumpy() == net(x)[0].asnumpy()).all()
    net.set_train()
    assert not (net(x)[0].asnumpy() == net(x)[0].asnumpy()).all()


def test_gradient_of_lstm():
    net = nn.LSTM(2, 3, bidirectional=True)
    x = RNG.randn(3, 2, 2).astype(np.float32)
    lengths = Tensor([3, 2], ms.int32)

    def loss(v):
        return (net(v, None, lengths)[0] ** 2).sum()
    grads = ms.grad(loss, 0, net.trainable_params())(Tensor(x))
    for t, g in [(x, grads[0])] + [(p, q) for p, q in zip(net.trainable_params(), grads[1])]:
        value = t.copy() if isinstance(t, np.ndarray) else t.asnumpy().copy()
        at = tuple(s // 2 for s in value.shape)
        diff = []
        for e in (1e-2, -1e-2):
            moved = value.copy()
            moved[at] += e
            if isinstance(t, np.ndarray):
                diff.append(float(loss(Tensor(moved))))
            else:
                t.set_data(Tensor(moved))
                diff.append(float(loss(Tensor(x))))
        if not isinstance(t, np.ndarray):
            t.set_data(Tensor(value))
        np.testing.assert_allclose(float(g.asnumpy()[at]), (diff[0] - diff[1]) / 2e-2, rtol=2e-2, atol=2e-3)


def attention(net, q, k, v, mask):
    """[length, batch, width] inputs; addend [batch, heads, n, m]; gives output and mean weights."""
    w, b = net.in_proj_weight.asnumpy(), net.in_proj_bias.asnumpy()
    e, heads = net.embed_dim, net.num_heads
    q, k, v = (x @ w[i * e:(i + 1) * e].T + b[i * e:(i + 1) * e] for i, x in enumerate((q, k, v)))
    split = lambda x: x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2, 0, 3)
    q, k, v = split(q), split(k), split(v)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + mask
    s = np.exp(s - s.max(-1, keepdims=True))
    s /= s.sum(-1, keepdims=True)
    o = (s @ v).transpose(2, 0, 1, 3).reshape(q.shape[2], q.shape[0], e)
    return o @ net.out_proj.weight.asnumpy().T + net.out_proj.bias.asnumpy(), s.mean(1)


@pytest.mark.parametrize("first", [False, True])
def test_multihead_attention(first):
    net = nn.MultiheadAttention(8, 2, batch_first=first)
    q, k = RNG.randn(5, 2, 8).astype(np.float32), RNG.randn(4, 2, 8).astype(np.float32)
    padding = np.array([[0, 0, 0, 1], [0, 0, 1, 1]], bool)
    hide = np.triu(np.ones((5, 4), bool), 2)
    mask = np.where(padding[:, None, None] | hide, -np.inf, 0)
    want, scores = attention(net, q, k, k, mask)
    swap = (lambda a: np.ascontiguousarray(a.swapaxes(0, 1))) if first else (lambda a: a)
    for need in (True, False):
        y, w = net(Tensor(swap(q)), Tensor(swap(k)), Tensor(swap(k)), Tensor(padding), need, Tensor(hide))
        np.testing.assert_allclose(swap(y.asnumpy()), want, atol=1e-5)
        assert w is None if not need else np.allclose(w.asnumpy(), scores, atol=1e-6)
    assert net(Tensor(q[:, 0]), Tensor(k[:, 0]), Tensor(k[:, 0]))[0].shape == (5, 8)
    one = nn.MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True, add_zero_attn=True)
    assert [p.name for p in one.get_parameters()] == ["q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "bias_k",
                                                     "bias_v", "out_proj.weight", "out_proj.bias"]
    y, w = one(Tensor(q), Tensor(RNG.randn(4, 2, 4).astype(np.float32)), Tensor(RNG.randn(4, 2, 6).astype(np.float32)))
    assert y.shape == (5, 2, 8) and w.shape == (2, 5, 6)


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer(norm_first):
    net = nn.Transformer(8, 2, 2, 1, 16, norm_first=norm_first)
    names = [p.name for p in net.get_parameters()]
    assert names[0] == "encoder.layers.0.self_attn.in_proj_weight" and names[-1] == "decoder.norm.beta"
    assert len(set(names)) == len(names) == 12 * 2 + 2 + 18 + 2
    src, tgt = Tensor(RNG.randn(5, 2, 8).astype(np.float32)), Tensor(RNG.randn(4, 2, 8).astype(np.float32))
    y = net(src, tgt)
    assert y.shape == (4, 2, 8)
    np.testing.assert_allclose(ms.jit(lambda a, b: net(a, b))(src, tgt).asnumpy(), y.asnumpy(), atol=1e-5)
    grads = ms.grad(lambda a: net(a, tgt).sum(), None, net.trainable_params())(src)
    assert all(np.isfinite(g.asnumpy()).all() for g in grads)
    net.set_train()
    assert not (net(src, tgt).asnumpy() == net(src, tgt).asnumpy()).all()


def test_encoder_layer():
    net = nn.TransformerEncoderLayer(8, 2, 16)
    x = RNG.randn(5, 2, 8).astype(np.float32)
    norm = lambda v: (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
    y = norm(x + attention(net.self_attn, x, x, x, 0)[0])
    hidden = np.maximum(y @ net.dense1.weight.asnumpy().T + net.dense1.bias.asnumpy(), 0)
    want = norm(y + hidden @ net.dense2.weight.asnumpy().T + net.dense2.bias.asnumpy())
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), want, atol=2e-5)


def test_weights_are_those_of_the_lists():
    one, other = nn.LSTM(4, 3), nn.LSTM(4, 3)
    outer = nn.SequentialCell(other)  # gives the weights longer names
    for name in ("w_ih_list", "w_hh_list", "b_ih_list", "b_hh_list"):
        setattr(one, name, getattr(other, name))
    x, h = Tensor(RNG.randn(5, 2, 4).astype(np.float32)), Tensor(RNG.randn(1, 2, 3).astype(np.float32))
    np.testing.assert_array_equal(one(x, (h, h))[0].asnumpy(), other(x, (h, h))[0].asnumpy())
    assert [id(p) for p in one.trainable_params()] == [id(p) for p in outer.trainable_params()]
