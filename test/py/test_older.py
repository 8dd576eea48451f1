"""Functions of older scripts and primitive classes over functions: values by hand, by numpy, and of the original."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.ops import operations as P
from test_primitives_more import f32, same

RNG = np.random.default_rng(5)
X4 = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
WINDOWS = [[0, 1, 2, 4, 5, 6, 8, 9, 10], [1, 2, 3, 5, 6, 7, 9, 10, 11], [4, 5, 6, 8, 9, 10, 12, 13, 14], [5, 6, 7, 9, 10, 11, 13, 14, 15]]
COLOURS = RNG.uniform(0.05, 1, (4, 3)).astype(np.float32)


@pytest.mark.parametrize('name,attrs,inputs,want', [
    ('Im2Col', (2,), (X4,), [[WINDOWS]]), ('Col2Im', (2,), (np.ones((1, 1, 4, 9), np.float32), np.array([4, 4])),
                                           [[np.outer([1, 2, 2, 1], [1, 2, 2, 1])]]),
    ('Median', (True,), (f32([3, 1, 2], [5, 4, 0]),), (2, 0)), ('Median', (False, 1, True), (f32([3, 1, 2], [5, 4, 0]),), ([[2], [4]], [[2], [1]])),
    ('Median', (False, 0, False, True), (f32(np.nan, 1, 2),), (1, 1)),
    ('Cdist', (), (f32([1, 1], [4, 5]), f32([1, 1])), [[0], [5]]), ('Pdist', (1.0,), (f32([1, 1], [4, 5]),), [7]),
    ('Renorm', (1.0, 0, 5.0), (f32([1, 1, 1], [9, 9, 9]),), [[1, 1, 1], [5 / 3] * 3]), ('Cross', (), (f32(1, 2, 3), f32(1, 3, 3)), [-3, 0, 1]),
    ('BartlettWindow', (), (np.array(5),), [0, .4, .8, .8, .4]), ('HammingWindow', (False,), (np.array([3]),), [.08, 1, .08]),
    ('BlackmanWindow', (False,), (np.array(3),), [0, 1, 0]), ('FillDiagonal', (9.0,), (f32([1, 2, 3], [1, 2, 3]),), [[9, 2, 3], [1, 9, 3]]),
    ('Lstsq', (), (f32([2, 1], [1, 3], [1, 1]), f32([1], [2], [3])), [[17 / 30], [0.6]]),
    ('MatrixTriangularSolve', (), (f32([2, 9], [1, 4]), f32([2], [9])), [[1], [2]]),
    ('MatrixTriangularSolve', (True, True), (f32([2, 9], [1, 4]), f32([4], [8])), [[1], [2]]),
    ('ListDiff', (), (np.array([1, 2, 3, 4, 5]), np.array([2, 4])), ([1, 3, 5], [0, 2, 4])),
    ('Coalesce', (), (np.array([[1, 0, 1], [0, 1, 0]]), f32(1, 2, 3), np.array([2, 2])), ([[0, 1], [1, 0]], [2, 4], [2, 2])),
    ('RGBToHSV', (), (f32([.25, .5, .5], [.2, .4, .6], [0, 0, 0]),), [[.5, .5, .5], [7 / 12, 2 / 3, .6], [0, 0, 0]]),
    ('AdjustHue', (), (f32([[.2, .4, .6]]), f32(.2)[0]), [[[.48, .2, .6]]]), ('AdjustSaturation', (), (f32([[.2, .4, .6]]), f32(.2)[0]), [[[.52, .56, .6]]]),
    ('GridSampler2D', ('nearest', 'border', True), (X4, f32([[[1, -1]]])), [[[[3]]]]),
    ('GridSampler3D', ('bilinear', 'zeros', True), (X4[None], f32([[[[0, 0, 0]]]])), [[[[[7.5]]]]]),
    ('AffineGrid', (True,), (f32([[1, 0, 0], [0, 1, 0]]), (1, 1, 2, 2)), [[[[-1, -1], [1, -1]], [[-1, 1], [1, 1]]]]),
    ('UpsampleNearest3D', (), (X4[None, :, :, :1, :2], [1, 2, 2]), [[[[[0, 1], [0, 1]]]]]),
    ('UpsampleTrilinear3D', (True,), (X4[None, :, :, :1, :2], [1, 1, 3]), [[[[[0, .5, 1]]]]]),
    ('MaxUnpool2D', (2, 2), (f32([[[5, 6]]]), np.array([[[[1, 6]]]])), [[[[0, 5, 0, 0], [0, 0, 6, 0]]]]),
    ('MaxUnpool3D', ((1, 2, 2),), (f32([[[[5]]]]), np.array([[[[[3]]]]])), [[[[[0, 0], [0, 5]]]]]),
    ('FractionalMaxPool3DWithFixedKsize', (1, (2, 2, 3)), (np.arange(64, dtype=np.float32).reshape(1, 1, 4, 4, 4), f32([[.5, .5, .8]])),
     (np.array([0, 1, 3, 12, 13, 15, 48, 49, 51, 60, 61, 63]).reshape(1, 1, 2, 2, 3),) * 2),
    ('FractionalMaxPoolWithFixedKsize', (1, (2, 3)), (X4, f32([[.8, .5]])), (np.array([0, 1, 3, 12, 13, 15]).reshape(1, 1, 2, 3),) * 2),
    ('FractionalMaxPoolWithFixedKsize', (1, (2, 3)), (X4, f32([[.5, .8]])), (np.array([0, 2, 3, 12, 14, 15]).reshape(1, 1, 2, 3),) * 2),
    ('Median', (True,), (np.zeros((2, 0), np.float32),), (np.nan, 0)), ('SquareSumAll', (), (f32(1, 2), f32(3, 4)), (5, 25)),
    ('FractionalMaxPoolWithFixedKsize', (2, (2, 2)), (np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6), f32([[.9, .1]])),
     ([[[[7, 11], [31, 35]]]], [[[[7, 11], [31, 35]]]])),
    ('ExtractVolumePatches', ((1, 1, 1, 2, 2), (1, 1, 1, 2, 2), 'VALID'), (X4[None],),
     [[[[[0, 2], [8, 10]]], [[[1, 3], [9, 11]]], [[[4, 6], [12, 14]]], [[[5, 7], [13, 15]]]]]),
    ('ExtractVolumePatches', (2, 4, 'SAME'), (X4[None],), np.array([0, 1, 4, 5, 0, 0, 0, 0]).reshape(1, 8, 1, 1, 1)),
    ('TripletMarginLoss', (), (f32([1, 2]), f32([1, 3]), f32([1, 2.5]), f32(1)[0]), 1.5)], ids=lambda v: v if isinstance(v, str) else '')
def test_values(name, attrs, inputs, want):
    same(getattr(P, name)(*attrs)(*[Tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in inputs]), want)


def test_colours_come_back():
    same(P.HSVToRGB()(P.RGBToHSV()(Tensor(COLOURS))), COLOURS)


def test_eigenvectors():
    a = f32([1, 2], [3, 4])
    values, vectors = ops.eig(Tensor(a))
    same(ops.matmul(Tensor(a.astype(np.complex64)), vectors), (vectors * values).asnumpy())
    assert P.Eig(True)(Tensor(a))[1].shape == (2, 2) and P.Eig()(Tensor(a))[1].size == 0


@pytest.mark.parametrize('n,samples', [(2, [[[.9, .1]]]), (3, [[[.9, .1, .5]]])])
def test_fractional_pools(n, samples):
    x = RNG.permutation(5 * 7 * 9).reshape((1, 1, 5, 7, 9)[5 - n - 2:] if n == 3 else (1, 5, 7, 9)).astype(np.float32)
    x = x.reshape((1, 1, *x.shape[-n:])) if n == 3 else x[:, :1]
    pool, out = (ops.fractional_max_pool2d, (3, 4)) if n == 2 else (ops.fractional_max_pool3d, (2, 3, 4))
    y, at = pool(Tensor(x), 2, out, None, True, Tensor(samples, ms.float32))
    assert y.shape == (1, 1, *out)
    same(y, x.reshape(-1)[at.asnumpy()])
    assert at[(0, 0, *(-1,) * n)] >= x[0, 0].size - 1 - sum(int(np.prod(x.shape[d:])) for d in range(3, n + 2))
    g = ms.grad(lambda v: pool(v, 2, out, _random_samples=Tensor(samples, ms.float32)).sum())(Tensor(x))
    assert g.sum() == y.size
    with pytest.raises(ValueError, match='exactly one'):
        pool(Tensor(x), 2)
    assert pool(Tensor(x), 2, output_ratio=0.5).shape == (1, 1, *[s // 2 for s in x.shape[2:]])


def test_products():
    a, b = RNG.normal(size=(2, 3, 4)).astype(np.float32), RNG.normal(size=(2, 4, 5)).astype(np.float32)
    same(ops.batch_dot(Tensor(a), Tensor(b)), a @ b)
    same(ops.batch_dot(Tensor(a), Tensor(b), (2, 1)), a @ b)
    same(ops.batch_dot(Tensor(a[:, 0]), Tensor(a[:, 1])), (a[:, 0] * a[:, 1]).sum(1, keepdims=True))
    same(ops.tensor_dot(Tensor(a), Tensor(b), ((0, 2), (0, 1))), np.tensordot(a, b, ((0, 2), (0, 1))))
    with pytest.raises(ValueError):
        ops.batch_dot(Tensor(a), Tensor(b), (1, 1))


def test_linearize():
    out, push = ops.linearize(lambda x, w: (x * w, x.sum()), (Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    same(out, (f32(3, 8), 3))
    same(push(Tensor([1.0, 0.0]), Tensor([0.0, 1.0])), (f32(3, 2), 1))


@pytest.mark.parametrize('unique', [True, False])
def test_candidates(unique):
    true = Tensor([[1], [3], [0]])
    drawn, e_true, e_drawn = ops.uniform_candidate_sampler(true, 1, 4, unique, 8, 3)
    assert drawn.shape == (4,) and drawn.min() >= 0 and drawn.max() < 8 and (not unique or len(set(drawn.tolist())) == 4)
    same(e_true, np.full((3, 1), .5))
    same(e_drawn, np.full(4, .5))
    assert set(ops.uniform_candidate_sampler(true, 1, 4, unique, 8, 3, True)[0].tolist()).isdisjoint({0, 1, 3})
    with pytest.raises(ValueError):
        ops.uniform_candidate_sampler(true, 1, 6, True, 8, remove_accidental_hits=True)


def test_bounded_normal():
    x = P.ParameterizedTruncatedNormal(3)(Tensor([2, 2000]), *[Tensor(f32(*v)) for v in ((0, 5), (1,), (-1, 5), (2, 9))]).asnumpy()
    assert x[0].min() >= -1 and x[0].max() <= 2 and abs(x[0].mean() - .23) < .1 and x[1].min() >= 5 and abs(x[1].mean() - 5.8) < .1


def test_pairs_must_agree():
    for y, error in ((Tensor([1.0, 2.0, 3.0]), ValueError), (Tensor([1, 2]), TypeError)):
        with pytest.raises(error):
            P.SquareSumAll()(Tensor([1.0, 2.0]), y)


def test_sequences():
    xs = [Tensor([1.0, 2.0]), Tensor([3.0, 4.0])]
    same(P.SequenceAddN()(xs), f32(4, 6))
    same(P.SequenceStack(1)(xs), f32([1, 3], [2, 4]))
    same(P.SequenceUnstack(1)(Tensor([[1.0, 2.0]])), (f32(1), f32(2)))
