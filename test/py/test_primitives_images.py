"""Primitive classes that resample images, draw candidates and filter: values of the original, gradients by differences."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.ops import operations as P


def f32(*v):
    return Tensor(np.array(v, np.float32))


IMAGES = Tensor(np.arange(40, dtype=np.float32).reshape(2, 4, 5, 1))


@pytest.mark.parametrize('align, size, want', [
    (False, (3, 3), [[1.65, 3.25, 4.85], [7.9, 9.5, 11.1], [14.15, 15.75, 17.35]]),
    (True, (3, 3), [[2.16667, 4.16667, 5.66667], [8.83333, 10.83333, 12.33333], [15.5, 17.5, 19]]),
    (False, (2, 5), [[2.5, 3.5, 4.5, 5.5, 6.5], [12.5, 13.5, 14.5, 15.5, 16.5]]),
])
def test_resize_area(align, size, want):
    got = P.ResizeArea(align)(IMAGES, size)
    assert got.shape == (2, *size, 1)
    np.testing.assert_allclose(got.asnumpy()[0, ..., 0], want, 1e-5)
    whole = P.ResizeArea()(IMAGES.astype(ms.uint8), (1, 1))
    np.testing.assert_allclose(whole.asnumpy()[:, 0, 0, 0], [9.5, 29.5], 1e-6)


KERNELS = [
    ('lanczos3', True, [[-0.2889, 0.50792, 1.36147, 2.01963], [13.32378, 14.12059, 14.97414, 15.6323]]),
    ('lanczos5', False, [[-0.9131, -0.15182, 0.86851, 1.25161], [12.86256, 13.62384, 14.64418, 15.02728]]),
    ('gaussian', True, [[0.96224, 1.68593, 2.46373, 3.189], [12.1833, 12.90699, 13.68478, 14.41006]]),
    ('box', True, [[0, 1, 2, 2], [12.5, 13.5, 14.5, 14.5]]),
    ('triangle', True, [[0.42788, 1.19712, 1.96635, 2.73558], [12.61538, 13.38462, 14.15385, 14.92308]]),
    ('keyscubic', False, [[-0.47891, 0.32747, 1.10773, 1.87696], [13.00838, 13.81476, 14.59503, 15.36425]]),
    ('mitchellcubic', True, [[0.33759, 1.09021, 1.86665, 2.63588], [12.58213, 13.33474, 14.11119, 14.88041]]),
]


@pytest.mark.parametrize('kernel, antialias, want', KERNELS)
@pytest.mark.parametrize('jit', [False, True])
def test_scale_and_translate(kernel, antialias, want, jit):
    run = P.ScaleAndTranslate(kernel, antialias)
    call = ms.jit(lambda x, s, t: run(x, (3, 4), s, t)) if jit else lambda x, s, t: run(x, (3, 4), s, t)
    got = call(IMAGES, f32(0.7, 1.3), f32(0.4, -0.3)).asnumpy()[0, ..., 0]
    np.testing.assert_allclose(got[[0, 2]], want, 1e-4, 2e-5)


def test_scale_and_translate_gradients():
    scale, shift = f32(0.7, 1.3), f32(0.4, -0.3)
    weight = Tensor(np.random.RandomState(0).rand(2, 3, 4, 1).astype(np.float32))

    def loss(x, s, t):
        return (P.ScaleAndTranslate('keyscubic', True)(x, (3, 4), s, t) * weight).sum()
    grads = ms.grad(loss, (0, 1, 2))(IMAGES, scale, shift)
    for k, at in ((0, (0, 1, 2, 0)), (1, (0,)), (2, (1,))):
        args = [IMAGES, scale, shift]
        step = np.zeros(args[k].shape, np.float32)
        step[at] = 1e-2
        ends = [float(loss(*args[:k], args[k] + sign * Tensor(step), *args[k + 1:])) for sign in (1, -1)]
        np.testing.assert_allclose(grads[k].asnumpy()[at], (ends[0] - ends[1]) / 2e-2, 2e-2, 2e-3)


@pytest.mark.parametrize('centred, normalised, seen, want', [
    (True, True, 9, [[5, 6, 7], [10, 11, 12], [15, 16, 17]]),
    (True, False, 9, [[0, 1, 2], [5, 6, 7], [10, 11, 12]]),
    (False, True, 3, [[0, 0, 0], [0, 0, 5], [0, 0, 10]]),
    (False, False, 4, [[0, 0, 0], [0, 0, 1], [0, 5, 6]]),
])
def test_extract_glimpse(centred, normalised, seen, want):
    run = P.ExtractGlimpse(centred, normalised, False, 'zero')
    got = run(IMAGES, Tensor([3, 3], ms.int32), f32([0.3, -0.2], [1.5, 2.2])).asnumpy()
    np.testing.assert_array_equal(got[0, ..., 0], want)
    grad = ms.grad(lambda x: run(x, (3, 3), f32([0.3, -0.2], [1.5, 2.2])).sum())(IMAGES)
    assert float(grad[0].sum()) == seen


def test_glimpse_noise():
    ms.set_seed(3)
    empty = Tensor(np.zeros((1, 2, 2, 1), np.float32))
    uniform = P.ExtractGlimpse()(empty, (40, 40), f32([0, 0])).asnumpy()
    assert -1 <= uniform.min() < -0.9 and 0.9 < uniform.max() < 1
    normal = P.ExtractGlimpse(uniform_noise=False, noise='gaussian')(empty, (40, 40), f32([0, 0])).asnumpy()
    assert abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1
    with pytest.raises(ValueError, match='uniform_noise'):
        P.ExtractGlimpse(noise='zero')


@pytest.mark.parametrize('call, text', [
    (lambda: P.ResizeArea()(f32(1, 2), (2, 2)), 'ResizeArea.*4 dimensions'),
    (lambda: P.ScaleAndTranslate('cubic')(IMAGES, (2, 2), f32(1, 1), f32(0, 0)), 'kernel_type'),
    (lambda: P.ScaleAndTranslate()(IMAGES, (2, 2), f32(1), f32(0, 0)), "'scale' must have shape"),
    (lambda: P.ExtractGlimpse()(IMAGES, (2, 2), f32([0, 0])), "'offsets' must have shape"),
])
def test_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize('operation, indices, values', [
    ('a-b', [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [2, 4, 3, 4, 5]), ('b-a', [[1, 0]], [6]),
    ('intersection', [[0, 0]], [1]), ('union', [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [1, 3]], [1, 2, 4, 3, 4, 5, 6]),
])
def test_dense_to_sparse_sets(operation, indices, values):
    x = Tensor([[1, 2, 4], [3, 4, 5]], ms.int32)
    got = P.DenseToSparseSetOperation(operation)(x, Tensor([[0, 1], [1, 0]]), Tensor([1, 6], ms.int32), Tensor([2, 3]))
    assert got[0].asnumpy().tolist() == indices and got[1].asnumpy().tolist() == values
    assert got[2].asnumpy().tolist() == [2, max(i[1] for i in indices) + 1]
    with pytest.raises(ValueError, match='in order'):
        P.DenseToSparseSetOperation()(x, Tensor([[1, 0], [0, 1]]), Tensor([1, 6], ms.int32), Tensor([2, 3]))


def test_no_repeated_words():
    words = Tensor([[[1, 2, 1, 2, 5, 1, 2], [9, 3, 9, 5, 4, 1, 5]]], ms.int32)
    got = P.NoRepeatNGram(3)(words, ops.zeros((1, 2, 10))).asnumpy()
    low = np.finfo(np.float32).min
    assert got[0, 0].tolist() == [0, low, 0, 0, 0, low, 0, 0, 0, 0] and not got[0, 1].any()
    single = P.NoRepeatNGram(1)(words, ops.zeros((1, 2, 10))).asnumpy()
    assert (single[0, 1] == low).nonzero()[0].tolist() == [1, 3, 4, 5, 9]


def test_places_and_filters():
    assert P.MapUniform()(Tensor([3, 9, 8], ms.int32), 4, 3).asnumpy().tolist() == [1, 3, 10]
    with pytest.raises(ValueError, match=r'must be in \[0, 12\)'):
        P.MapUniform()(Tensor([28], ms.int32), 4, 3)
    values, places = P.SubAndFilter()(Tensor([1, 3, 5, 8, 2, 16], ms.int32), 10, 5)
    assert values.asnumpy().tolist() == [0, 3] and places.asnumpy().tolist() == [2, 3]


def test_log_uniform_candidates():
    sampled, of_true, of_sampled = ops.log_uniform_candidate_sampler(Tensor([[1], [0], [3]]), 1, 5, False, 10, 1)
    np.testing.assert_allclose(of_true.asnumpy(), [[0.8454604], [1.4453242], [0.4652904]], 1e-6)
    p = np.log((sampled.asnumpy() + 2) / (sampled.asnumpy() + 1)) / np.log(11)
    np.testing.assert_allclose(of_sampled.asnumpy(), 5 * p, 1e-5)
    once = [ops.log_uniform_candidate_sampler(Tensor([[1]]), 1, 10, True, 10, seed) for seed in (1, 1, 2)]
    assert all(sorted(s[0].asnumpy().tolist()) == list(range(10)) for s in once)
    assert once[0][0].asnumpy().tolist() == once[1][0].asnumpy().tolist() != once[2][0].asnumpy().tolist()
    many = ops.log_uniform_candidate_sampler(Tensor([[1]]), 1, 20000, False, 4, 3)[0].asnumpy()
    want = np.log((np.arange(4) + 2) / (np.arange(4) + 1)) / np.log(5)
    np.testing.assert_allclose(np.bincount(many, minlength=4) / 20000, want, atol=0.02)


def test_adam_without_the_parameter():
    m, v = (ms.Parameter(f32(x, x), name=n) for x, n in ((0.5, 'm'), (0.3, 'v')))
    change = P.AdamNoUpdateParam()(m, v, 0.9, 0.99, 0.01, 0.9, 0.99, 1e-8, f32(2, 2))
    np.testing.assert_allclose(change.asnumpy(), [-0.011197] * 2, 1e-4)
    np.testing.assert_allclose(m.asnumpy(), [0.65] * 2, 1e-6)


def test_names_of_inputs():
    np.testing.assert_array_equal(ops.IsInf()(input=f32(1, np.inf)).asnumpy(), [False, True])
    assert ops.Einsum('ij->ji')(x=(f32([1, 2]),)).shape == (2, 1)
    x = f32(1, 2, 3)
    assert ops.TensorScatterUpdate()(input_x=x, indices=Tensor([[1]]), update=f32(9)).asnumpy().tolist() == [1, 9, 3]
    assert P.SoftMarginLoss()(input=x, target=x).shape == ()


def test_flags_and_branches():
    @ops.add_flags(has_effect=True)
    def f(x):
        return x
    assert f._func_graph_flags == {'has_effect': True}
    assert ops.switch_layer(Tensor(1), (ops.exp, ops.neg))(f32(2)).asnumpy().tolist() == [-2]


def test_kinds_of_errors():
    x = f32([1, 2, 3])
    for call in (lambda: ops.dot(x, x), lambda: ops.mm(x, x), lambda: ops.mv(x, f32(1, 2))):
        with pytest.raises(ValueError, match='dimensions must be equal'):
            call()
    with pytest.raises(RuntimeError, match='assert failed'):
        P.Assert(2)(False, [x])
