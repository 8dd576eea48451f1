"""Primitive classes of detection, segments, blocks, optimizers and collectives: values by hand and beside numpy, in both modes."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, communication, ops
from mindspore.ops import operations as P

X = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
BOXES = np.array([[0, 0, 10, 10, .5], [0, 0, 9, 9, .9], [20, 20, 30, 30, .3]], np.float32)
SQUARE = np.array([[0, 0, 10, 10]], np.float32)


def f32(*v):
    return np.array(v, np.float32)


def same(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    else:
        np.testing.assert_allclose(got.asnumpy(), want, 1e-5, 1e-6)
        assert got.shape == np.shape(want)


VALUES = [
    ('ROIAlign', (2, 2, 0.5, 2), (X, f32([0, 1, 1, 5, 5])), [[[[5.625, 6.875], [10.625, 11.875]]]]),
    ('NMSWithMask', (0.5,), (BOXES,), (BOXES[[1, 0, 2]], [1, 0, 2], [True, False, True])),
    ('IOU', (), (SQUARE, f32([5, 5, 15, 15])), [[36 / 206]]), ('IOU', ('iof',), (SQUARE, f32([5, 5, 15, 15])), [[36 / 121]]),
    ('BoundingBoxEncode', (), (SQUARE, f32([5, 5, 20, 15])), [[7.5 / 11, 5 / 11, np.log(16 / 11), 0]]),
    ('BoundingBoxDecode', ((100, 100),), (SQUARE, f32([.1, .2, .3, .4])), [[0, 0, 13.024223, 14.905036]]),
    ('CheckValid', (), (f32([1, 1, 5, 5], [1, 1, 20, 5]), f32(10, 10, 1)), [True, False]),
    ('CropAndResize', (), (X.reshape(1, 4, 4, 1), f32([0, 0, 1, 1]), np.array([0], np.int32), (2, 2)), [[[[0], [3]], [[12], [15]]]]),
    ('CropAndResize', ('nearest', -1.0), (X.reshape(1, 4, 4, 1), f32([0, 0, 2, 1]), np.array([0], np.int32), (2, 2)),
     [[[[0], [3]], [[-1], [-1]]]]),
    ('SegmentSum', (), (f32(1, 2, 3), np.array([0, 0, 2])), [3, 0, 3]), ('SegmentMax', (), (f32(1, 2, -3), np.array([0, 0, 2])), [2, 0, -3]),
    ('SegmentMean', (), (f32(1, 2, 3), np.array([0, 0, 2])), [1.5, 0, 3]),
    ('UnravelIndex', (), (np.array([5, 0]), (2, 3)), [[1, 2], [0, 0]]), ('Padding', (3,), (f32([1], [2]),), [[1, 0, 0], [2, 0, 0]]),
    ('MirrorPad', ('SYMMETRIC',), (f32(1, 2, 3), ((1, 2),)), [1, 1, 2, 3, 3, 2]),
    ('MirrorPad', ('REFLECT',), (f32(1, 2, 3), ((1, 2),)), [2, 1, 2, 3, 2, 1]),
    ('SpaceToBatchND', ((2, 2), ((0, 0), (0, 0))), (X,), [[[[0, 2], [8, 10]]], [[[1, 3], [9, 11]]], [[[4, 6], [12, 14]]], [[[5, 7], [13, 15]]]]),
    ('CumulativeLogsumexp', (), (f32(0, 1, 200), 0), [0, np.log(1 + np.e), 200]),
    ('DataFormatDimMap', (), (np.array([0, 1, 2, 3, -1], np.int32),), [0, 3, 1, 2, 2]),
    ('DataFormatVecPermute', (), (np.array([7, 8, 9, 3], np.int32),), [7, 3, 8, 9]),
    ('MaxPoolWithArgmaxV2', (2,), (X,), ([[[[5, 7], [13, 15]]]], [[[[5, 7], [13, 15]]]])),
    ('Bincount', (), (np.array([1, 1, 3, 9], np.int32), 4, f32(1, 2, 3, 4)), [0, 3, 0, 3]),
    ('LowerBound', (), (f32([1, 2, 2, 3]), f32([2])), [[1]]), ('UpperBound', (), (f32([1, 2, 2, 3]), f32([2])), [[3]]),
    ('AllReduce', (), (X,), X), ('ReduceScatter', (), (X,), X), ('Gcd', (), (np.array([12]), np.array([18])), [6]),
    ('SplitV', ([1, 2], 0, 2), (f32(1, 2, 3),), (f32(1), f32(2, 3))), ('InTopK', (1,), (f32([1, 2]), np.array([1], np.int32)), [True]),
]


def tree(v, f):
    return type(v)(tree(x, f) for x in v) if isinstance(v, (tuple, list)) else f(v)


@pytest.mark.parametrize('name,attrs,inputs,want', VALUES, ids=[f'{v[0]}-{k}' for k, v in enumerate(VALUES)])
def test_values(name, attrs, inputs, want):
    p = getattr(ops, name)(*attrs)
    inputs = tuple(tree(v, lambda x: Tensor(x) if isinstance(x, np.ndarray) else x) for v in inputs)
    same(p(*inputs), want)
    if not name.startswith('Segment') and name != 'UnravelIndex':  # the number of segments is a value
        same(ms.jit(lambda *a: p(*a))(*inputs), want)


def test_blocks_come_back():
    x = np.random.RandomState(0).randn(2, 3, 4, 6).astype(np.float32)
    y = P.SpaceToBatchND((2, 3), ((1, 1), (0, 3)))(Tensor(x))
    assert y.shape == (12, 3, 3, 3)
    same(P.BatchToSpaceND((2, 3), ((1, 1), (0, 3)))(y), x)


def test_roi_align_gradient():
    g = ms.grad(lambda x: ops.ROIAlign(1, 1, 1.0, 1)(x, Tensor(f32([0, 0, 0, 1, 1]))).sum())(Tensor(X))
    want = np.zeros((1, 1, 4, 4))
    want[0, 0, 1, 1] = 1
    same(g, want)


# class, attributes, states, call(states), new states
def _steps():
    g = f32(.5, -2)
    one = f32(1, 1)
    yield 'ApplyAdadelta', (), 3, lambda s: (*s, .1, .9, 1e-6, g), (
        one - .1 * (u := np.sqrt(1 + 1e-6) / np.sqrt(.9 + .1 * g * g + 1e-6) * g), .9 + .1 * g * g, .9 + .1 * u * u)
    yield 'ApplyAdaMax', (), 3, lambda s: (*s, .9, .1, .9, .99, 1e-6, g), (
        one - .1 / .1 * (.9 + .1 * g) / (np.maximum(.99, abs(g)) + 1e-6), .9 + .1 * g, np.maximum(.99, abs(g)))
    m, v = .9 + .1 * g, .99 + .01 * g * g
    yield 'ApplyAdamWithAmsgrad', (.9, .99, 1e-6), 4, lambda s: (*s, .9, .99, .1, g), (
        one - .1 * np.sqrt(.01) / .1 * m / (np.sqrt(np.maximum(1, v)) + 1e-6), m, v, np.maximum(1, v))
    yield 'AdamWeightDecay', (), 3, lambda s: (*s, .1, .9, .99, 1e-6, .01, g), (one - .1 * (m / (np.sqrt(v) + 1e-6) + .01), m, v)
    q = .5 + .1 * g / np.sqrt(.9 + .1 * g * g - (.9 + .1 * g) ** 2 + 1e-3)
    yield 'ApplyCenteredRMSProp', (), 4, lambda s: (*s, g, .1, .9, .5, 1e-3), (one - q, .9 + .1 * g, .9 + .1 * g * g, q)
    a = 1 + g * g
    z = 1 + g - (np.sqrt(a) - 1) / .1
    yield 'ApplyFtrl', (), 3, lambda s: (*s, g, .1, .2, .3, -.5), (
        np.where(abs(z) > .2, (np.sign(z) * .2 - z) / (np.sqrt(a) / .1 + .6), 0), a, z)
    yield 'ApplyAdagradV2', (1e-3,), 2, lambda s: (*s, .1, g), (one - .1 * g / (np.sqrt(a) + 1e-3), a)
    sign = np.sign(g) * np.sign(m)
    yield 'ApplyPowerSign', (), 2, lambda s: (*s, .1, 1.5, .9, .9, g), (one - .1 * np.exp(1.5 * .9 * sign) * g, m)
    yield 'ApplyAddSign', (), 2, lambda s: (*s, .1, 1.5, .9, .9, g), (one - .1 * (1.5 + .9 * sign) * g, m)
    q = one - .1 * g
    yield 'ApplyProximalGradientDescent', (), 1, lambda s: (*s, .1, .2, .3, g), (np.sign(q) * np.maximum(abs(q) - .02, 0) / 1.03,)
    yield 'ApplyKerasMomentum', (), 2, lambda s: (*s, .1, g, .9), (1 + .9 - .1 * g, .9 - .1 * g)
    yield 'SGD', (.1, .01), 3, lambda s: (s[0], g, .1, s[1], .9, s[2]), (one - .1 * (g + .01), g + .01, one * 0)


@pytest.mark.parametrize('jit', [False, True])
@pytest.mark.parametrize('name,attrs,n,call,want', list(_steps()), ids=[s[0] for s in _steps()])
def test_steps(name, attrs, n, call, want, jit):
    states = [Parameter(Tensor(f32(1, 1)), name=f's{k}') for k in range(n)]
    p = getattr(ops, name)(*attrs)

    def step():
        return p(*[Tensor(a) if isinstance(a, np.ndarray) else a for a in call(states)])
    (ms.jit(step) if jit else step)()
    for s, w in zip(states, want):
        same(s, w)


def test_sparse_steps_touch_their_rows():
    var, accum = Parameter(Tensor(np.ones((3, 2), np.float32)), name='v'), Parameter(Tensor(np.ones((3, 2), np.float32)), name='a')
    ops.SparseApplyAdagradV2(0.1, 1e-6)(var, accum, Tensor(f32([1, 1], [2, 2])), Tensor(np.array([2, 2], np.int32)))
    same(accum, [[1, 1], [1, 1], [10, 10]])
    same(var, [[1, 1], [1, 1], [1 - .3 / np.sqrt(10)] * 2])
    with pytest.raises(ValueError, match='Adagrad'):
        ops.SparseApplyAdagradV2(0.1, 1e-6)(var, accum, Tensor(f32([1, 1])), Tensor(np.array([2, 2], np.int32)))


def test_random_choice():
    mask = np.zeros((4, 5), bool)
    mask[1, 2] = mask[3, 4] = mask[0, 0] = True
    for p in (ops.RandomChoiceWithMask(4), ms.jit(lambda x: ops.RandomChoiceWithMask(4)(x))):
        index, ok = p(Tensor(mask))
        assert index.shape == (4, 2) and ok.asnumpy().tolist() == [True, True, True, False]
        assert sorted(map(tuple, index.asnumpy()[:3].tolist())) == [(0, 0), (1, 2), (3, 4)] and index.asnumpy()[3].tolist() == [0, 0]
    index, ok = ops.RandomChoiceWithMask(30)(Tensor(mask))
    assert index.shape == (30, 2) and ok.asnumpy().sum() == 3


def test_dropout_in_two_steps():
    mask = P.DropoutGenMask()((100, 3), Tensor(0.5, ms.float32))
    assert mask.dtype == ms.uint8 and mask.shape == (48,)
    y = P.DropoutDoMask()(Tensor(np.ones((100, 3), np.float32)), mask, Tensor(0.5, ms.float32)).asnumpy()
    assert set(np.unique(y)) == {0., 2.} and 80 < (y == 0).sum() < 220


def test_communication():
    assert communication.get_rank() == 0 and communication.get_group_size() == 1
    communication.init()
    assert communication.GlobalComm.INITED and communication.GlobalComm.WORLD_COMM_GROUP == 'mccl_world_group'
    communication.create_group('pair', [0])
    assert communication.get_group_size('pair') == 1 and communication.get_world_rank_from_group_rank('pair', 0) == 0
    same(ops.AllReduce(group='pair')(Tensor(X)), X)
    communication.destroy_group('pair')
    for call, error in [(lambda: communication.create_group('g', [0, 1]), ValueError), (lambda: communication.get_rank('pair'), ValueError),
                        (lambda: communication.get_rank(3), TypeError), (lambda: ops.AllReduce('mean')(Tensor(X)), ValueError),
                        (lambda: ops.Broadcast(1)((Tensor(X),)), ValueError), (lambda: communication.init('x'), RuntimeError)]:
        with pytest.raises(error):
            call()
    communication.release()
    assert not communication.GlobalComm.INITED


def test_a_launcher_is_refused(monkeypatch):
    monkeypatch.setenv('RANK_SIZE', '2')
    with pytest.raises(RuntimeError, match='RANK_SIZE'):
        communication.init()


def test_gradients_are_replaced():
    x = Tensor(f32(1, 2))
    double = ops.InsertGradientOf(lambda g: g * 2)
    for run in (lambda f: f, ms.jit):
        same(run(ms.grad(lambda v: (double(v) * 3).sum()))(x), [6, 6])
    seen = []
    hook = ops.HookBackward(lambda g: seen.append(g[0] if isinstance(g, tuple) else g))
    same(ms.grad(lambda v: (hook(v) * 3).sum())(x), [3, 3])
    assert len(seen) == 1
    square = ops.Custom(lambda v: v * v, bprop=lambda v, out, dout: (2 * v * dout,))
    same(ms.grad(lambda v: square(v).sum())(x), [2, 4])
    morph = ops.Morph(lambda v: v * v, lambda s: s, lambda t: t, lambda v, out, dout: 10 * dout)
    same(ms.grad(lambda v: morph(v).sum())(x), [10, 10])


def test_loops():
    assert ops.WhileLoop()(lambda v: v[0] < 3, lambda v: (v[0] + 1, v[1] * 2), (0, 1)) == (3, 8)
    assert ops.ForiLoop()(1, 4, lambda i, v: v + i, 0) == 6
    carry, ys = ops.Scan()(lambda c, v: (c + v, c), Tensor(0.), [Tensor(1.), Tensor(2.)])
    assert carry.item() == 3 and ys.asnumpy().tolist() == [0, 1]


G = [('TanhGrad', (), lambda x: np.tanh(x), lambda x: 1 - np.tanh(x) ** 2, 'y'), ('AsinhGrad', (), np.arcsinh, lambda x: 1 / np.sqrt(x * x + 1), 'y'),
     ('AtanGrad', (), None, lambda x: 1 / (1 + x * x), 'x'), ('SqrtGrad', (), np.sqrt, lambda x: .5 / np.sqrt(x), 'y'),
     ('RsqrtGrad', (), lambda x: x ** -.5, lambda x: -.5 * x ** -1.5, 'y'), ('ReciprocalGrad', (), lambda x: 1 / x, lambda x: -1 / x ** 2, 'y'),
     ('EluGrad', (), lambda x: np.where(x > 0, x, np.expm1(x)), lambda x: np.where(x > 0, 1, np.exp(x)), 'dy y'),
     ('ReluGrad', (), None, lambda x: x > 0, 'dy x'), ('SoftplusGrad', (), None, lambda x: 1 / (1 + np.exp(-x)), 'dy x'),
     ('HShrinkGrad', (0.6,), None, lambda x: abs(x) > .6, 'dy x')]


@pytest.mark.parametrize('name,attrs,forward,want,order', G, ids=[g[0] for g in G])
def test_gradient_classes(name, attrs, forward, want, order):
    x, dy = f32(.3, .7, 2.5), f32(2, 3, 4)
    first = forward(x) if order.endswith('y') else x
    args = (dy, first) if order.startswith('dy') else (first, dy)
    p = getattr(P, name)(*attrs)
    for f in (p, ms.jit(lambda *a: p(*a))):
        same(f(*map(Tensor, args)), dy * want(x))


def test_matrices():
    a = np.array([[4, 1], [1, 3]], np.float32)
    same(ops.MatrixInverse()(Tensor(a)), np.linalg.inv(a))
    same(ops.MatrixDeterminant()(Tensor(a)), np.linalg.det(a))
    same(ops.Cholesky()(Tensor(a)), np.linalg.cholesky(a))
    same(ops.MatrixBandPart()(Tensor(a), 0, 1), np.triu(a))
    same(ops.FFTWithSize(1, False, True)(Tensor(a)), np.fft.rfft(a))
    same(ops.ReverseSequence(0, 1)(Tensor(np.arange(9).reshape(3, 3)), Tensor(np.array([1, 2, 3]))), [[0, 4, 8], [3, 1, 5], [6, 7, 2]])


def test_placeholders():
    t = Tensor(shape=[2, None], dtype=ms.float32)
    assert t.shape == (2, -1) and not t.has_init and Tensor(shape=None, dtype=ms.int32).shape == (-2,)
    net = ms.nn.ReLU()
    net.set_inputs(t)
    assert net.get_inputs() == (t,) and net(Tensor(f32([1, -2]))).shape == (1, 2)


def test_own_seeds_repeat_and_advance():
    for make in (lambda: ops.StandardNormal(3, 4), lambda: ops.UniformReal(3), lambda: ops.StandardLaplace(seed2=9)):
        p, q = make(), make()
        a, b = p((4, 5)).asnumpy(), p((4, 5)).asnumpy()
        assert (a != b).any() and (q((4, 5)).asnumpy() == a).all()
        r = make()
        f = ms.jit(lambda: r((4, 5)))
        assert (f().asnumpy() == a).all() and (f().asnumpy() == b).all()
    x = ops.RandomShuffle(seed=1)(Tensor(np.arange(20)))
    assert sorted(x.asnumpy()) == list(range(20)) and (ops.RandomShuffle(seed=1)(Tensor(np.arange(20))) == x).all()
    n = ops.UniformInt(seed=2)((1000,), Tensor(-2, ms.int32), Tensor(3, ms.int32))
    assert n.dtype == ms.int32 and set(n.asnumpy().tolist()) == {-2, -1, 0, 1, 2}
    assert abs(np.median(ops.StandardLaplace(1)((5000,)).asnumpy())) < 0.1


def test_unstack_counts():
    same(P.Unstack(-1, 3)(Tensor(f32(1, 2, 3))), (np.float32(1), np.float32(2), np.float32(3)))
    with pytest.raises(ValueError, match="'num'"):
        P.Unstack(0, 2)(Tensor(f32(1, 2, 3)))


# ---- diagonals of matrices ----

A34 = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
ALIGN = ('LEFT_LEFT', 'LEFT_RIGHT', 'RIGHT_LEFT', 'RIGHT_RIGHT')


def band(a, low, high, align, fill):
    """The diagonals high to low as rows, by numpy."""
    rows = [np.diagonal(a, d, -2, -1) for d in range(high, low - 1, -1)]
    n = max(r.shape[-1] for r in rows)
    sides = [align.split('_')[0] if d > 0 else align.split('_')[1] if d < 0 else 'LEFT' for d in range(high, low - 1, -1)]
    pads = [[(0, 0)] * (a.ndim - 2) + [(0, n - r.shape[-1]) if s == 'LEFT' else (n - r.shape[-1], 0)] for r, s in zip(rows, sides)]
    out = np.stack([np.pad(r, p, constant_values=fill) for r, p in zip(rows, pads)], -2)
    return out[..., 0, :] if low == high else out


@pytest.mark.parametrize('low,high', [(0, 0), (-2, 1), (1, 3), (-2, -1), (2, 2)])
@pytest.mark.parametrize('align', ALIGN)
def test_diagonals(low, high, align):
    a = np.stack([A34, A34 * 10])
    k = Tensor([low, high], ms.int32)
    part = band(a, low, high, align, -1)
    same(P.MatrixDiagPartV3(align)(Tensor(a), k, Tensor(np.float32(-1))), part)
    kept = np.triu(np.tril(a, high), low)
    if low <= 0 <= high:
        same(P.MatrixDiagV3(align)(Tensor(part), k, Tensor(3), Tensor(4), Tensor(np.float32(0))), kept)
    want = np.where(np.triu(np.tril(np.ones((3, 4)), high), low) > 0, a, 5)
    same(P.MatrixSetDiagV3(align)(Tensor(np.full_like(a, 5)), Tensor(part), k), want)
    g = ms.grad(lambda x, d: ops.matrix_set_diag(x, d, (low, high), align).sum(), (0, 1))(Tensor(a), Tensor(part))
    assert g[0].sum() + g[1].sum() == a.size and g[1].sum() == np.triu(np.tril(np.ones((2, 3, 4)), high), low).sum()


def test_diagonals_that_do_not_fit():
    x = Tensor(A34)
    for call in (lambda: ops.matrix_diag_part(x, (1, 0), 0), lambda: ops.matrix_diag_part(x, 4, 0), lambda: ops.matrix_diag_part(x, 0, 0, 'UP'),
                 lambda: ops.matrix_diag(x, (-1, 0)), lambda: ops.matrix_diag(x, 0, 3, 9), lambda: ops.matrix_set_diag(x, x)):
        with pytest.raises(ValueError):
            call()


def test_gradients_of_norm_and_grid():
    x, scale = Tensor(np.arange(8, dtype=np.float32).reshape(4, 2) ** 1.5), Tensor(f32(2, 3))
    dy, zero, one = Tensor(np.cos(np.arange(8, dtype=np.float32)).reshape(4, 2)), Tensor(f32(0, 0)), Tensor(f32(1, 1))
    xs, d = x.asnumpy(), dy.asnumpy()
    n = (xs - xs.mean(0)) / np.sqrt(xs.var(0) + 1e-5)
    dx = scale.asnumpy() / np.sqrt(xs.var(0) + 1e-5) * (d - d.mean(0) - n * (d * n).mean(0))
    same(P.BatchNormGrad(True)(dy, x, scale, zero, one), (dx, (d * n).sum(0), d.sum(0)))
    same(P.BatchNormGrad(False, 0.0)(dy, x, scale, zero, one), (d * scale.asnumpy(), (d * xs).sum(0), d.sum(0)))
    centre = Tensor(np.zeros((1, 1, 1, 2), np.float32))
    dx, dgrid = P.GridSampler2DGrad(align_corners=True)(Tensor([[[[4.0]]]]), Tensor(X[..., :2, :2]), centre)
    assert dx.asnumpy().tolist() == [[[[1, 1], [1, 1]]]] and dgrid.asnumpy().tolist() == [[[[2, 8]]]]
    same(P.FlattenGrad()(Tensor(f32(1, 2)), (2, 1)), [[1], [2]])
    assert P.Load()(x, None) is x and P.TupleToTensor()((1, 2), ms.int64).asnumpy().tolist() == [1, 2]


def test_vmap_writes_a_batched_parameter():
    p = ms.Parameter(Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), name='p')
    g = Tensor(np.ones((2, 3), np.float32))
    ops.vmap(lambda v, d: ops.assign_add(v, d * 2), in_axes=(1, 1), out_axes=0)(p, g)
    assert (p.asnumpy() == np.arange(6).reshape(2, 3) + 2).all()


def test_layer_norm_with_parameters_of_more_axes():
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    g, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((3, 4), np.float32)
    y, mean, var = ops.LayerNorm(2, 1, 1e-5)(Tensor(x), Tensor(g), Tensor(b))
    want = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b
    assert np.allclose(y.asnumpy(), want, atol=1e-5) and mean.shape == var.shape == (2, 3, 1)


def test_max_pool_with_argmax_counts_over_channels():
    x = Tensor(np.arange(36, dtype=np.float32).reshape(2, 2, 3, 3))
    _, at = ops.MaxPoolWithArgmax(2, 1, 'valid')(x)
    assert at.asnumpy()[1].tolist() == [[[4, 5], [7, 8]], [[13, 14], [16, 17]]]


def test_gradient_of_extrema_of_integers():
    x = Tensor([3, 1, 2], ms.int32)
    assert ms.grad(lambda t: ops.reduce_max(t))(x).asnumpy().tolist() == [1, 0, 0]


def test_ext_functions_take_keywords_by_position():
    from mindspore.ops.auto_generate import add_ext
    assert add_ext(Tensor([1.0]), Tensor([2.0]), 3).asnumpy().tolist() == [7.0]


def test_lu_solve():
    from mindspore import scipy
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((4, 4)), rng.standard_normal((4, 2))
    for trans, m in ((0, a), (1, a.T)):
        x = scipy.linalg.lu_solve(scipy.linalg.lu_factor(Tensor(a)), Tensor(b), trans)
        assert np.allclose(m @ x.asnumpy(), b)


SOURCE = r'''
#include <stdint.h>
#include <string.h>
int add_scaled(int n, void **data, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)
{
    if (n != 4 || ndims[2] != 2 || ndims[3] != 0) return 1;
    if (strcmp(dtypes[0], "float32") != 0 || strcmp(dtypes[3], "int32") != 0) return 2;
    int64_t size = shapes[2][0] * shapes[2][1];
    const float *x = data[0], *y = data[1];
    for (int64_t k = 0; k < size; k++) ((float *)data[2])[k] = x[k] + 2 * y[k];
    *(int *)data[3] = (int)size;
    return 0;
}
'''


def test_operator_of_a_c_file(tmp_path):
    (tmp_path / 'add.c').write_text(SOURCE)
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    run = ops.Custom(f'{tmp_path}/add.c:add_scaled', lambda x, y: (x, ()), (ms.float32, ms.int32), 'aot',
                     lambda x, y, out, dout: (dout[0], 2 * dout[0]))
    total, size = run(x, ops.ones((3, 2)).T)
    np.testing.assert_array_equal(total.asnumpy(), x.asnumpy() + 2)
    assert int(size) == 6 and size.dtype == ms.int32
    grads = ms.grad(lambda x, y: (run(x, y)[0] * x).sum(), (0, 1))(x, x)
    np.testing.assert_array_equal(grads[1].asnumpy(), 2 * x.asnumpy())
    with pytest.raises(RuntimeError, match="'add_scaled' failed with 2"):
        run(x.astype(ms.float64), x)
    for func, text in ((f'{tmp_path}/add.c:other', "no function 'other'"), (f'{tmp_path}/none.so:f', 'no file')):
        with pytest.raises(ValueError, match=text):
            ops.Custom(func, (2, 3), ms.float32, 'aot')(x, x)
    with pytest.raises(TypeError, match='file_name:func_name'):
        ops.Custom('add', (2, 3), ms.float32, 'aot')


def test_what_is_said_of_an_operator():
    info = ops.CustomRegOp('k').input(0, 'x').output(0, 'y').attr('s', 'required', 'all', value=[1, 2]) \
        .dtype_format(ops.DataType.F32_Default, ops.DataType.I8_5HD).target('CPU').get_op_info()
    assert info == {'op_name': 'k', 'inputs': [{'index': 0, 'name': 'x', 'paramType': 'required'}],
                    'outputs': [{'index': 0, 'name': 'y', 'paramType': 'required'}],
                    'attr': [{'name': 's', 'paramType': 'required', 'type': 'all', 'value': [1, 2]}], 'fusion_type': '',
                    'dtype_format': [(('float32', 'DefaultFormat'), ('int8', 'NC1HWC0'))], 'target': 'CPU'}
    assert ops.DataType.None_None == ('', '') and ops.DataType.F16_Default_List == ('float16', 'DefaultFormat', 'list')
    with pytest.raises(AttributeError):
        ops.DataType.F32_Other
    with pytest.raises(ValueError, match='1 vs 0'):
        ops.CustomRegOp().dtype_format(ops.DataType.F32_Default)

    @ops.custom_info_register(info)
    def f(x):
        return x
    assert f.reg_info == (info,)


def test_formats_and_servers():
    q = ms.QuantDtype
    assert len(q) == 32 and q.INT8.value() == 7 and q.UINT16.value() == 115 and str(q.INT4) == 'INT4' and q(100) is q.UINT1
    ms.set_ps_context(config_file_path='a', enable_ps=False)
    assert ms.get_ps_context('config_file_path') == 'a' and ms.get_ps_context('enable_ps') is False
    ms.reset_ps_context()
    assert ms.get_ps_context('config_file_path') == ''
    for call, kind in ((lambda: ms.set_ps_context(port=1), ValueError), (lambda: ms.set_ps_context(enable_ps=1), TypeError),
                       (lambda: ms.set_ps_context(enable_ps=True), NotImplementedError), (lambda: ms.get_ps_context('client_password'), ValueError)):
        with pytest.raises(kind):
            call()
