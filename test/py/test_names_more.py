"""swap_tensors, run_check; Cell.to; layers and primitives under older names: values, gradients, refusals."""
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, mint, nn, ops

rng = np.random.default_rng(3)


def close(got, want, tol=1e-6):
    np.testing.assert_allclose(got.asnumpy(), want, tol, tol)
    assert got.shape == np.shape(want)


def test_swap_tensors():
    a, b = Tensor([1., 2.]), Tensor([3], ms.int32)
    ms.swap_tensors(a, b)
    assert a.tolist() == [3] and a.dtype is ms.int32 and b.tolist() == [1, 2]
    p, q = Parameter(Tensor([1.]), name='p'), Parameter(Tensor([2., 3.]), name='q', requires_grad=False)
    ms.swap_tensors(p, q)
    assert (p.name, p.requires_grad, p.asnumpy().tolist()) == ('q', False, [2, 3]) and (q.name, q.requires_grad) == ('p', True)
    with pytest.raises(RuntimeError):
        ms.swap_tensors(a, p)
    with pytest.raises(TypeError):
        ms.swap_tensors(a, 1)


def test_checks(capsys):
    ms.run_check()
    assert 'successfully' in capsys.readouterr().out
    before = sys.getrecursionlimit()
    try:
        ms.set_recursion_limit(12345)
        assert sys.getrecursionlimit() == 12345
    finally:
        sys.setrecursionlimit(before)
    for kind, value in ((ValueError, 0), (TypeError, 1.5)):
        with pytest.raises(kind):
            ms.set_recursion_limit(value)


def test_cell_to():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3))
    net.insert_param_to_cell('count', Parameter(3, name='count'))
    w = net[0].weight
    want = w.asnumpy().astype(np.float16)
    assert net.to(ms.float16) is net and net[0].weight is w and w.dtype is ms.float16 and (w.asnumpy() == want).all()
    assert net.count.dtype is ms.int32 and net[0](Tensor(np.ones((1, 2), np.float16))).dtype is ms.float16
    assert net.to('CPU', ms.float32)[0].bias.dtype is ms.float32 and net.to(Tensor(1., ms.float64)) and w.dtype is ms.float64
    assert net.to(device='CPU', dtype=ms.bfloat16, non_blocking=True)[1].gamma.dtype is ms.bfloat16
    assert net.to_empty(device='CPU') is net and w.shape == (3, 2) and w.dtype is ms.bfloat16
    with pytest.raises(TypeError):
        net.to(ms.int32)
    for call in (lambda: net.to('Ascend'), lambda: net.to_empty(device='GPU')):
        with pytest.raises(ValueError, match='CPU'):
            call()


def test_layers_under_older_names():
    for name in ('AvgPool1d', 'AvgPool2d', 'AvgPool3d', 'Dropout2d', 'Dropout', 'Embedding', 'L1Loss', 'LayerNorm', 'LogSoftmax', 'MaxPool2d',
                 'PReLU'):
        assert getattr(nn, name + 'Ext') is getattr(mint.nn, name)


@pytest.mark.parametrize('a, b', [(False, False), (True, False), (False, True), (True, True)])
def test_sparse_products(a, b):
    at, v = np.array([[0, 1], [2, 0], [0, 1]]), rng.normal(size=3)
    sparse, dense = np.zeros((3, 2)), rng.normal(size=(3 if a else 2, 4))
    np.add.at(sparse, tuple(at.T), v)
    want = (sparse.T if a else sparse) @ dense
    given = Tensor(dense.T.copy() if b else dense)
    for layer in (nn.SparseTensorDenseMatmul(a, b), ops.SparseTensorDenseMatmul(a, b)):
        close(layer(Tensor(at), Tensor(v), (3, 2), given), want)
    g = ms.grad(lambda t: nn.SparseTensorDenseMatmul(a, b)(Tensor(at), t, (3, 2), given).sum())(Tensor(v))
    close(g, dense.sum(1)[at[:, 0 if a else 1]])
    with pytest.raises(ValueError):
        ops.SparseTensorDenseMatmul(a, b)(Tensor(at), Tensor(v), (5, 5), given)
    close(ops.SparseTensorDenseAdd()(Tensor(at), Tensor(v), (3, 2), Tensor(sparse)), 2 * sparse)
    close(nn.SparseToDense()(ms.COOTensor(Tensor(at[:2]), Tensor(v[:2]), (3, 2))).sum(), v[:2].sum())


def test_primitives():
    labels, guesses = Tensor([0, 1, 1, 2], ms.int32), Tensor([0, 1, 2, 2], ms.int32)
    close(ops.ConfusionMatrix(4)(labels, guesses), np.diag([1, 1, 1, 0]) + np.eye(4)[1][:, None] * np.eye(4)[2])
    assert ops.ConfusionMatrix(4, 'float32')(labels, guesses, Tensor([.5, 1, 1, 1]))[0, 0].item() == .5
    assert ops.ConfusionMatrix(4)(labels, guesses).dtype is ms.int32
    x = Tensor(rng.normal(size=(3, 4)))
    assert ops.FloatStatus()(x).tolist() == [0] and ops.FloatStatus()(x / 0).tolist() == [1]
    close(ops.NuclearNorm()(x), np.linalg.norm(x.asnumpy(), 'nuc')), close(ops.NuclearNorm((0, 1), True)(x), [[np.linalg.norm(x.asnumpy(), 'nuc')]])
    close(ops.Expand()(Tensor([[1.], [2.]]), Tensor([2, 2])), [[1, 1], [2, 2]])
    close(ops.ScatterAddWithAxis(1)(Tensor([[1., 2., 3.]]), Tensor([[0, 0]]), Tensor([[5., 7.]])), [[13, 2, 3]])
    d = [rng.normal(size=(2, 1, 4)) for _ in range(3)]
    rhs = rng.normal(size=(2, 4, 3))
    full = np.stack([np.diag(d[0][k, 0, :-1], 1) + np.diag(d[1][k, 0]) + np.diag(d[2][k, 0, 1:], -1) for k in range(2)])
    close(ops.TridiagonalMatMul()(*map(Tensor, d), Tensor(rhs)), full @ rhs)


def test_functions():
    x, y = Tensor(rng.normal(size=(2, 4))), Tensor(rng.normal(size=(2, 4)))
    close(ops.swiglu(x), ops.silu(x[:, :2]).asnumpy() * x.asnumpy()[:, 2:])
    close(ops.swiglu(x, 0), ops.silu(x[:1]).asnumpy() * x.asnumpy()[1:])
    with pytest.raises(ValueError):
        ops.swiglu(x[:, :3])
    out, rstd, total = ops.add_rms_norm(x, y, Tensor(np.ones(4)), 1e-3)
    close(total, (x + y).asnumpy()), close(rstd, 1 / np.sqrt((total.asnumpy()**2).mean(-1, keepdims=True) + 1e-3))
    close(out, total.asnumpy() * rstd.asnumpy())
    close(ops.diff_ext(x, 2, 1), np.diff(x.asnumpy(), 2)), close(ops.embedding(Tensor([1, 0]), x), x.asnumpy()[::-1])
    assert ops.isnan_ext(Tensor([np.nan, 1.])).tolist() == [True, False]
    a, b, c = (Tensor(rng.normal(size=s)) for s in ((2, 3, 5), (2, 3, 4), (2, 4, 5)))
    close(ops.baddbmm_ext(a, b, c, beta=2, alpha=3), 2 * a.asnumpy() + 3 * b.asnumpy() @ c.asnumpy())


def test_counting_primitives():
    x = rng.normal(size=(2, 16)).astype(np.float32)
    close(ops.CompareAndBitpack()(Tensor(x), Tensor(.25)), np.packbits(x > .25, -1))
    assert ops.CompareAndBitpack()(Tensor(x), Tensor(.25)).dtype is ms.uint8
    with pytest.raises(ValueError):
        ops.CompareAndBitpack()(Tensor(x[:, :7]), Tensor(.25))
    want = np.histogram(np.clip(x, -1, .999), 5, (-1, 1))[0]
    close(ops.HistogramFixedWidth(5)(Tensor(x), Tensor([-1., 1.])), want)
    assert ops.HistogramFixedWidth(5, 'int64')(Tensor(x), Tensor([-1., 1.])).dtype is ms.int64
    for args, limits in (((0,), (-1., 1.)), ((5, 'x'), (-1., 1.)), ((5,), (1., 1.))):
        with pytest.raises(ValueError):
            ops.HistogramFixedWidth(*args)(Tensor(x), Tensor(limits))


@pytest.mark.parametrize('starts, limits, deltas', [([2, 5, 8], [3, 5, 12], [1, 1, 1]), ([0, 9], [5, 2], [2, -3]), ([0., 1.], [1., 1.5], [.3, .25]),
                                                    ([1], [7], [3]), ([5], [2], [1])])
def test_ragged_range(starts, limits, deltas):
    splits, values = ops.RaggedRange(ms.int64)(Tensor(starts), Tensor(limits), Tensor(deltas))
    rows = [np.arange(*r) for r in zip(starts, limits, deltas)]
    close(values, np.concatenate(rows)), close(splits, np.cumsum([0] + [len(r) for r in rows]))
    assert values.dtype == Tensor(starts).dtype and ops.RaggedRange(ms.int32)(Tensor(1), Tensor(4), Tensor(1))[0].dtype is ms.int32
    with pytest.raises(ValueError):
        ops.RaggedRange(ms.int64)(Tensor(starts), Tensor(limits), Tensor([0]))


def margin_loss(x, target):
    loss = 0
    mine = list(target[:list(target).index(-1)] if -1 in target else target)
    for j in mine:
        loss += sum(max(0, 1 - x[j] + x[i]) for i in range(len(x)) if i not in mine)
    return loss / len(x)


def test_multilabel_margin_loss():
    x, t = rng.normal(size=(3, 4)), np.array([[3, 0, -1, 1], [-1, 2, 1, 0], [0, 1, 2, 3]], np.int32)
    each = [margin_loss(a, b) for a, b in zip(x, t)]
    for reduction, want in (('none', each), ('sum', sum(each)), ('mean', np.mean(each))):
        close(ops.multilabel_margin_loss(Tensor(x), Tensor(t), reduction), want)
    close(ops.MultilabelMarginLoss()(Tensor(x[0]), Tensor(t[0]))[0], each[0])
    close(ops.MultilabelMarginLoss()(Tensor(x), Tensor(t))[1], [[1, 0, 0, 1], [0] * 4, [1] * 4])
    d = rng.normal(size=(3, 4))
    step = sum(margin_loss(a, b) for a, b in zip(x + 1e-6 * d, t)) - sum(margin_loss(a, b) for a, b in zip(x - 1e-6 * d, t))
    g = ms.grad(lambda v: ops.multilabel_margin_loss(v, Tensor(t), 'sum'))(Tensor(x))
    assert np.isclose((g.asnumpy() * d).sum(), step / 2e-6, 1e-6)
    for args in ((Tensor(x), Tensor(t), 'x'), (Tensor(x), Tensor(t[:2]))):
        with pytest.raises(ValueError):
            ops.multilabel_margin_loss(*args)


def test_rotary_and_segments():
    x, angle = rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 2))
    for mode, twice in ((0, np.concatenate([angle, angle], -1)), (1, angle.repeat(2, -1))):
        pairs = x[..., :2] + 1j * x[..., 2:] if mode == 0 else x[..., ::2] + 1j * x[..., 1::2]
        turned = pairs * np.exp(1j * angle)
        want = np.concatenate([turned.real, turned.imag], -1) if mode == 0 else np.stack([turned.real, turned.imag], -1).reshape(x.shape)
        close(ops.rotary_position_embedding(Tensor(x), Tensor(np.cos(twice)), Tensor(np.sin(twice)), mode), want)
    with pytest.raises(ValueError):
        ops.rotary_position_embedding(Tensor(x), Tensor(1.), Tensor(0.), 2)
    table, at = rng.normal(size=(7, 2)), np.array([[6, 0, 2]])
    q, cos, sin = x[:1, :, None], np.cos(np.tile(table, 2)), np.sin(np.tile(table, 2))
    turned = (q[..., :2] + 1j * q[..., 2:]) * np.exp(1j * table[at][:, :, None])
    for y in ops.ApplyRotaryPosEmb()(Tensor(q), Tensor(q), Tensor(cos), Tensor(sin), Tensor(at)):
        close(y, np.concatenate([turned.real, turned.imag], -1))
    for form, ids in ((2, at), (0, at[0]), (0, None)):
        with pytest.raises(ValueError):
            ops.ApplyRotaryPosEmb(form)(Tensor(q), Tensor(q), Tensor(cos), Tensor(sin), None if ids is None else Tensor(ids))
    close(ops.sparse_segment_mean(Tensor(x[0]), Tensor([0, 2, 1], ms.int32), Tensor([0, 0, 1], ms.int32)), [x[0][[0, 2]].mean(0), x[0, 1]])


def test_resize_bicubic():
    """Beside interpolate, whose two grids it has, and values of the original for the third."""
    x = (np.arange(12, dtype=np.float32)**2 % 7).reshape(1, 1, 3, 4)
    for size in ((6, 5), (2, 3)):
        close(ops.ResizeBicubic(False, True)(Tensor(x), size), ops.interpolate(Tensor(x), size, mode='bicubic').asnumpy())
        close(ops.ResizeBicubic(True)(Tensor(x), Tensor(size)), ops.interpolate(Tensor(x), size, mode='bicubic', align_corners=True).asnumpy())
    close(ops.ResizeBicubic()(Tensor(x), (2, 3)), [[[[0, 2.16545, 2.79535], [1.6875, 3.62894, .77036]]]], 2e-3)  # its weights come from a table
    g = ms.grad(lambda t: ops.ResizeBicubic()(t, (6, 5)).sum())(Tensor(x))
    assert np.isclose(g.sum().item(), 30, 1e-5)


def deformable(x, w, off, k, s, p, d, g, dg):
    """One sample after the other."""
    n, c, h, wide = x.shape
    ho, wo = off.shape[2:]
    off = off.reshape(n, 3, dg, *k, ho, wo)

    def at(b, ch, py, px):
        y0, x0, total = int(np.floor(py)), int(np.floor(px)), 0
        for yy in (y0, y0 + 1):
            for xx in (x0, x0 + 1):
                if 0 <= yy < h and 0 <= xx < wide:
                    total += x[b, ch, yy, xx] * (1 - abs(py - yy)) * (1 - abs(px - xx))
        return total
    out = np.zeros((n, len(w), ho, wo))
    for b, o, i, j, ch, u, v in np.ndindex(n, len(w), ho, wo, c // g, *k):
        cin = o // (len(w) // g) * (c // g) + ch
        dx, dy, m = off[b, :, cin // (c // dg), u, v, i, j]
        out[b, o, i, j] += w[o, ch, u, v] * m * at(b, cin, i * s[0] - p[0] + u * d[0] + dy, j * s[1] - p[2] + v * d[1] + dx)
    return out


@pytest.mark.parametrize('k, s, p, d, g, dg', [((3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1, 1), ((3, 2), (2, 1), (1, 0, 0, 1), (1, 2), 2, 2)])
def test_deformable_convolution(k, s, p, d, g, dg):
    x, w = rng.normal(size=(1, 4, 6, 5)), rng.normal(size=(2, 4 // g, *k))
    ho, wo = (6 + p[0] + p[1] - d[0] * (k[0] - 1) - 1) // s[0] + 1, (5 + p[2] + p[3] - d[1] * (k[1] - 1) - 1) // s[1] + 1
    off, b = rng.normal(size=(1, 3 * dg * k[0] * k[1], ho, wo)), rng.normal(size=2)

    def conv(x, w, off):
        return ops.deformable_conv2d(x, w, off, k, (1, 1, *s), p, Tensor(b), (1, 1, *d), g, dg)
    args = Tensor(x), Tensor(w), Tensor(off)
    close(conv(*args), deformable(x, w, off, k, s, p, d, g, dg) + b.reshape(-1, 1, 1), 1e-9)
    sampled = ops.DeformableOffsets((1, 1, *s), p, k, (1, 1, *d), 'NCHW', dg)(args[0], args[2])
    assert sampled.shape == (1, 4, ho * k[0], wo * k[1])
    for part, grad in enumerate(ms.grad(lambda *a: (conv(*a)**2).sum(), (0, 1, 2))(*args)):
        v = rng.normal(size=args[part].shape)
        up, down = ([Tensor(a.asnumpy() + (e * v if i == part else 0)) for i, a in enumerate(args)] for e in (1e-6, -1e-6))
        step = ((conv(*up)**2).sum() - (conv(*down)**2).sum()).item() / 2e-6
        assert np.isclose((grad.asnumpy() * v).sum(), step, 1e-5)


def test_deformable_convolution_at_the_grid():
    x, w = Tensor(rng.normal(size=(2, 2, 5, 5))), Tensor(rng.normal(size=(3, 2, 3, 3)))
    none = mint.zeros((2, 18, 5, 5), dtype=ms.float64)
    close(ops.deformable_conv2d(x, w, none, (3, 3), (1, 1, 1, 1), (1, 1, 1, 1), modulated=False),
          ops.conv2d(x, w, pad_mode='pad', padding=1).asnumpy())
    with pytest.raises(ValueError, match='offsets'):
        ops.deformable_conv2d(x, w, none, (3, 3), (1, 1, 1, 1), (1, 1, 1, 1))


@pytest.mark.parametrize('most, overlap, score, want', [(3, .5, 0., [1, 2, 0]), (5, .9, .1, [1, 3, 2]), (0, .5, 0., []), (9, .2, 0., [1, 2]),
                                                       (5, .5, .5, [1])])
def test_suppression_with_overlaps(most, overlap, score, want):
    """As the original chooses."""
    table = [[.64, .27, .04, .02, .81], [.91, .61, .73, .54, .94], [.82, 0, .86, .03, .73], [.18, .86, .54, .3, .42], [.03, .12, .67, .65, .62]]
    scores = Tensor([.1, .9, .5, .9, .05])
    got = ops.NonMaxSuppressionWithOverlaps()(Tensor(table), scores, Tensor(most, ms.int32), Tensor(overlap), Tensor(score))
    assert got.tolist() == want and got.dtype is ms.int32
    with pytest.raises(ValueError):
        ops.NonMaxSuppressionWithOverlaps()(Tensor(table[:4]), scores, most, overlap, score)


def test_names_of_the_compiler():
    from mindspore import _c_expression, _checkparam
    from mindspore._extends import cell_attr_register
    from mindspore.common._pijit_context import PIJitCaptureContext
    from mindspore.nn.optim.adafactor import AdaFactor
    from mindspore.ops import signature
    assert AdaFactor is nn.AdaFactor and signature.make_sig("x", signature.sig_rw.RW_WRITE).rw is signature.sig_rw.RW_WRITE

    class Net(nn.Cell):
        @cell_attr_register(attrs=["n"])
        def __init__(self, n):
            super().__init__()
            self.n = n

        @PIJitCaptureContext(fullgraph=True)
        def construct(self, x):
            return x * self.n
    assert Net(3)(Tensor(2)).item() == 6
    counts = _c_expression.get_code_extra(Net.construct.__wrapped__)
    assert counts["stat"] == "GRAPH_CALLABLE" and counts["break_count_"] == 0 and counts["code"]["call_count_"] == 1
    assert _c_expression.get_code_extra(test_checks) is None

    def double(x):
        return x * 2
    for shape in ((1,), (1, 1), (1, 1)):  # the compiled function has gone when its counts are asked for
        PIJitCaptureContext(double)(Tensor(np.ones(shape)))
        assert _c_expression.get_code_extra(double)["code"]["call_count_"] == 1
    twice = PIJitCaptureContext(double)
    for shape, calls in (((1,), 1), ((1,), 2), ((1, 1), 1)):  # calls of the form that was used last
        twice(Tensor(np.ones(shape)))
        counts = _c_expression.get_code_extra(double)
        assert counts["code"]["call_count_"] == calls
    assert counts["compile_count_"] == 2
    pair = _checkparam._expand_tuple(2)
    assert pair(3) == (3, 3) and pair((1, 2)) == (1, 2)
    checked = _checkparam.args_type_check(int, b=str)(lambda a, b="": (a, b))
    assert checked(1, b="x") == (1, "x") and checked(1) == (1, "")
    for call in (lambda: pair(0.5), lambda: pair((1, 2, 3)), lambda: checked("1"), lambda: checked(1, 2)):
        with pytest.raises(TypeError):
            call()
