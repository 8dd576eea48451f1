"""Primitive classes: that every line of the table makes a class, values, attributes, errors, graphs and gradients."""
import copy
import pickle

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops
from mindspore.ops import operations as P

X = np.array([[3., -1., 2.], [0., 5., -4.]], np.float32)
I = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
IMAGE = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
K = np.ones((3, 2, 3, 3), np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# class, attributes, inputs, expected
VALUES = [
    ('Add', (), (X, X), X + X), ('AddN', (), ((X, X, X),), 3 * X), ('Div', (), (I, np.int32(2)), I // 2), ('RealDiv', (), (X, 2.0), X / 2),
    ('Mod', (), (X, 2.0), np.fmod(X, 2)), ('FloorMod', (), (X, 2.0), np.mod(X, 2)), ('DivNoNan', (), (X, np.float32(0)), X * 0),
    ('Xdivy', (), (X, X), (X != 0) * 1), ('MulNoNan', (), (np.full_like(X, np.inf), np.zeros(3, np.float32)), X * 0),
    ('SquaredDifference', (), (X, 1.0), (X - 1) ** 2), ('TruncateDiv', (), (-I, np.int32(2)), np.trunc(-I / 2)),
    ('ApproximateEqual', (0.1,), (X, X + 0.05), X == X), ('EqualCount', (), (I, I), [6]), ('GeLU', (), (X * 0,), X * 0),
    ('Cast', (), (X, ms.int32), X.astype(np.int32)), ('Select', (), (X > 0, X, -X), np.abs(X)),
    ('ReduceSum', (True,), (X, 1), X.sum(1, keepdims=True)), ('ReduceSum', (), (I,), I.sum()), ('ReduceSum', (False, True), (X, ()), X),
    ('ReduceMean', (), (X, (0, 1)), X.mean()), ('ReduceMean', (), (I,), 3), ('ReduceProd', (), (X, 0), X.prod(0)),
    ('ReduceMax', (), (X, 1), X.max(1)), ('ReduceMin', (True,), (X, -1), X.min(1, keepdims=True)), ('ReduceAll', (), (X > 9,), False),
    ('ReduceAny', (), (X > 4, 1), [False, True]), ('ArgMaxWithValue', (1,), (X,), ([0, 1], [3, 5])),
    ('ArgMinWithValue', (1, True), (X,), ([[1], [2]], [[-1], [-4]])), ('Argmax', (0,), (X,), [0, 1, 0]),
    ('CumSum', (True,), (X, 1), np.cumsum(X, 1) - X), ('CumProd', (False, True), (X, 1), np.cumprod(X[:, ::-1], 1)[:, ::-1]),
    ('L2Loss', (), (X,), (X ** 2).sum() / 2), ('L2Normalize', (1,), (X,), X / np.linalg.norm(X, axis=1, keepdims=True)),
    ('LpNorm', (1, 1), (X,), np.abs(X).sum(1)), ('SquareSumAll', (), (X, 2 * X), ((X ** 2).sum(), 4 * (X ** 2).sum())),
    ('Concat', (1,), ((X, X),), np.concatenate([X, X], 1)), ('Stack', (2,), ([X, X],), np.stack([X, X], 2)),
    ('Split', (1, 3), (X,), tuple(np.split(X, 3, 1))), ('Unstack', (), (X,), tuple(X)), ('Flatten', (), (IMAGE,), IMAGE.reshape(1, -1)),
    ('Pad', (((1, 0), (0, 2)),), (X,), np.pad(X, ((1, 0), (0, 2)))), ('Tile', (), (X, (2, 1)), np.tile(X, (2, 1))),
    ('Transpose', (), (X, (1, 0)), X.T), ('Reshape', (), (X, (-1,)), X.ravel()), ('ExpandDims', (), (X, 1), X[:, None]),
    ('Squeeze', (), (X[None],), X), ('BroadcastTo', ((2, 2, 3),), (X,), np.broadcast_to(X, (2, 2, 3))),
    ('Slice', (), (X, (0, 1), (2, 2)), X[:, 1:]), ('StridedSlice', (), (X, (0, 2), (2, 0), (1, -1)), X[:, 2:0:-1]),
    ('StridedSlice', (1, 2, 0, 0, 0), (X, (1, 1), (2, 2), (1, 1)), X[:2, 1:]),
    ('StridedSlice', (0, 0, 1, 0, 2), (X, (0, 1), (0, 2), (1, 1)), X[..., 1]), ('ReverseV2', ([1],), (X,), X[:, ::-1]),
    ('DepthToSpace', (2,), (np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1),), [[[[0, 1], [2, 3]]]]),
    ('SpaceToDepth', (2,), (np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2),), np.arange(4).reshape(1, 4, 1, 1)),
    ('DiagPart', (), (np.arange(9.0).reshape(3, 3),), [0, 4, 8]), ('FillV2', (), ((2, 2), np.int32(7)), np.full((2, 2), 7)),
    ('Ones', (), ((2,), ms.int32), [1, 1]), ('ZerosLike', (), (X,), X * 0), ('TupleToArray', (), ((1, 2),), [1, 2]),
    ('OneHot', (0,), (np.array([0, 1]), 2, np.float32(1), np.float32(0)), np.eye(2)), ('Rank', (), (X,), 2), ('Shape', (), (X,), (2, 3)),
    ('InvertPermutation', (), ((2, 0, 1),), (1, 2, 0)), ('Gather', (), (X, np.array([1, 0]), 0), X[::-1]),
    ('GatherD', (), (X, 1, np.array([[0], [2]])), [[3], [-4]]), ('GatherNd', (), (X, np.array([[0, 1]])), [-1]),
    ('EmbeddingLookup', (), (X, np.array([1, 2, 5]), 1), np.concatenate([X, [[0, 0, 0]]])),
    ('UnsortedSegmentSum', (), (X, np.array([1, -1]), 2), [[0, 0, 0], X[0]]),
    ('UnsortedSegmentMax', (), (X, np.array([0, 0]), 1), [X.max(0)]), ('UnsortedSegmentMin', (), (X, np.array([0, 0]), 1), [X.min(0)]),
    ('UnsortedSegmentProd', (), (X, np.array([1, 1]), 2), [[1, 1, 1], X.prod(0)]), ('Sort', (1, True), (X,), (-np.sort(-X, 1), np.argsort(-X, 1))),
    ('TopK', (), (X, 1), ([[3], [5]], [[0], [1]])), ('TensorScatterUpdate', (), (X, np.array([[0]]), X[1:]), [X[1], X[1]]),
    ('MatMul', (False, True), (X, X), X @ X.T), ('BatchMatMul', (True,), (X[None], X[None]), (X.T @ X)[None]),
    ('BiasAdd', (), (IMAGE, np.array([1, 2], np.float32)), IMAGE + np.array([1, 2]).reshape(1, 2, 1, 1)),
    ('Conv2D', (3, 3), (IMAGE, K), np.stack([[[IMAGE[0, :, r:r + 3, c:c + 3].sum() for c in (0, 1)] for r in (0, 1)]] * 3)[None]),
    ('MaxPool', (2, 2), (IMAGE,), IMAGE[:, :, 1::2, 1::2]), ('AvgPool', (2, 2), (IMAGE,), IMAGE.reshape(1, 2, 2, 2, 2, 2).mean((3, 5))),
    ('MaxPoolWithArgmax', (4, 4), (IMAGE,), (IMAGE.max((2, 3), keepdims=True), np.array([[[[15]], [[31]]]]))), ('Softmax', (), (X,), softmax(X)),
    ('LogSoftmax', (), (X,), np.log(softmax(X))), ('SoftmaxCrossEntropyWithLogits', (), (X, softmax(-X)), (
        -(softmax(-X) * np.log(softmax(X))).sum(1), softmax(X) - softmax(-X))),
    ('SparseSoftmaxCrossEntropyWithLogits', (), (X, np.array([0, 1], np.int32)), -np.log(softmax(X)[[0, 1], [0, 1]]).mean()),
    ('SigmoidCrossEntropyWithLogits', (), (X, X * 0 + 1), np.log1p(np.exp(-X))),
    ('NLLLoss', (), (X, np.array([0, 2]), np.array([1, 1, 3], np.float32)), (-(3 - 12) / 4, 4)), ('Depend', (), (X, 1), X),
    ('ResizeNearestNeighbor', ((2, 2),), (IMAGE,), IMAGE[:, :, ::2, ::2]),
    ('ResizeBilinearV2', (True,), (IMAGE, (2, 2)), IMAGE[:, :, ::3, ::3]), ('AllReduce', (), (X,), X),
]


def same(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    else:
        np.testing.assert_allclose(got.asnumpy() if isinstance(got, Tensor) else got, want, rtol=2e-5, atol=1e-5)


def tensors(x):
    if isinstance(x, (np.ndarray, np.generic)):
        return Tensor(x)
    return type(x)(tensors(v) for v in x) if isinstance(x, (tuple, list)) else x


@pytest.mark.parametrize('name,attrs,inputs,want', VALUES, ids=[v[0] for v in VALUES])
def test_value(name, attrs, inputs, want):
    prim, inputs = getattr(P, name)(*attrs), tensors(inputs)
    same(prim(*inputs), want)
    at = [k for k, v in enumerate(inputs) if isinstance(v, Tensor)]
    fixed = list(inputs)

    @ms.jit
    def run(*xs):
        args = list(fixed)
        for k, x in zip(at, xs):
            args[k] = x
        return prim(*args)
    same(run(*[inputs[k] for k in at]), want)


def test_every_class_can_be_made():
    for name in P.__all__:
        assert isinstance(getattr(P, name), type)
    assert len(P.__all__) > 300


def test_random_and_state():
    y, mask = P.Dropout(0.5)(Tensor(np.ones((100, 100), np.float32)))
    assert 0.45 < mask.asnumpy().mean() < 0.55 and set(np.unique(y.asnumpy())) == {0, 2}
    y, mask = P.Dropout2D(0.5)(Tensor(np.ones((10, 10, 4, 4), np.float32)))
    assert (y.asnumpy().reshape(100, 16).std(1) == 0).all()
    var, acc = Parameter(Tensor(X), name='v'), Parameter(Tensor(X * 0), name='a')
    P.ApplyMomentum()(var, acc, 0.1, Tensor(X), 0.9)
    same(var, X - 0.1 * X)
    same(acc, X)
    m, v = Parameter(Tensor(X * 0), name='m'), Parameter(Tensor(X * 0), name='s')
    P.Adam()(var, m, v, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, Tensor(X))
    same(m, 0.1 * X)
    P.ScatterNdUpdate()(var, Tensor([[0]]), Tensor(X[1:]))
    same(var.value()[0], X[1])


def test_batch_norm():
    mean, var = Parameter(Tensor(np.zeros(2, np.float32)), name='m'), Parameter(Tensor(np.ones(2, np.float32)), name='v')
    one, zero = Tensor(np.ones(2, np.float32)), Tensor(np.zeros(2, np.float32))
    out = P.BatchNorm(is_training=True, momentum=0.1)(Tensor(IMAGE), one, zero, mean, var)
    want_mean, want_var = IMAGE.mean((0, 2, 3)), IMAGE.var((0, 2, 3))
    same(out[0], (IMAGE - want_mean.reshape(1, 2, 1, 1)) / np.sqrt(want_var.reshape(1, 2, 1, 1) + 1e-5))
    same(mean, 0.1 * want_mean)
    same(var, 0.9 + 0.1 * want_var * 16 / 15)
    same(P.BatchNorm()(Tensor(IMAGE), one, zero, Tensor(want_mean), Tensor(want_var))[0], out[0].asnumpy())


def test_gradients():
    grad = ms.grad(lambda x: P.ReduceSum()(P.Square()(P.MatMul(False, True)(x, x))))
    x = X[:, :2]
    same(grad(Tensor(x)), 4 * (x @ x.T) @ x)
    same(ms.grad(lambda x: P.ReduceSum()(P.DivNoNan()(x, Tensor(X))))(Tensor(X)), np.where(X == 0, 0, 1 / np.where(X == 0, 1, X)))
    grads = ms.grad(lambda a, w: P.ReduceSum()(P.Conv2DTranspose(3, 3)(a, w, (1, 2, 4, 4))), (0, 1))(
        Tensor(np.ones((1, 3, 2, 2), np.float32)), Tensor(K))
    same(grads, (np.full((1, 3, 2, 2), 18), np.full(K.shape, 4)))


def test_objects():
    p = ops.ReduceSum(keep_dims=True)
    assert p.name == 'ReduceSum' and p.keep_dims is True and p.attrs['skip_mode'] is False
    for q in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
        same(q(Tensor(X), 0), X.sum(0, keepdims=True))
    assert p.add_prim_attr('tag', 3).tag == 3 and p.shard(((1, 1),)).attrs['in_strategy'] == ((1, 1),)
    assert ops.TensorAdd is ops.Add and P.Conv2D is __import__('mindspore.ops.operations.nn_ops', fromlist=['Conv2D']).Conv2D

    class Twice(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, by=2):
            self.known = True

        def __call__(self, x):
            return x * self.by
    same(Twice(3)(Tensor(X)), 3 * X)
    assert Twice(3).name == 'Twice'
    same(ops.Custom(lambda x: x + 1)(Tensor(X)), X + 1)


@pytest.mark.parametrize('call,error,text', [
    (lambda: P.ReduceSum(3), TypeError, 'keep_dims'), (lambda: P.ReduceSum(zz=1), TypeError, 'zz'), (lambda: P.Conv2D(), TypeError, 'out_channel'),
    (lambda: P.MatMul()(Tensor(X), Tensor(X[0])), ValueError, 'MatMul'), (lambda: P.Conv2D(3, 3, data_format='NHWC')(Tensor(IMAGE), Tensor(K)), ValueError, 'NCHW'),
    (lambda: P.Conv2D(4, 3)(Tensor(IMAGE), Tensor(K)), ValueError, 'out_channel'), (lambda: P.Split(1, 2)(Tensor(X)), ValueError, 'output_num'),
    (lambda: P.AddN()([Tensor(X), Tensor(I)]), TypeError, 'AddN'), (lambda: P.Pad(((1, 1),))(Tensor(X)), ValueError, 'paddings'),
    (lambda: P.Softmax('x'), TypeError, 'axis'), (lambda: P.Custom(3), TypeError, 'func'), (lambda: P.Assert()(Tensor(False), [Tensor(X)]), RuntimeError, 'Assert'),
    (lambda: P.UnsortedSegmentSum()(Tensor(X), Tensor([0, 2]), 2), RuntimeError, '2'),
    (lambda: P.UnsortedSegmentMax()(Tensor(X), Tensor([2, 0]), 2), RuntimeError, '2'),
    (lambda: P.Primitive('x')(), NotImplementedError, 'x'), (lambda: P.HookBackward(3), TypeError, 'hook_fn'),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_seeds_of_dropout_and_truncated_normal():
    """Objects with the same seeds draw the same numbers, and each goes on with its next call."""
    x = Tensor(np.ones((64,), np.float32))
    for make, run in ((lambda: P.Dropout(0.5, 3, 4), lambda p: p(x)[1]), (lambda: P.TruncatedNormal(seed=3), lambda p: p((64,)))):
        one, two = make(), make()
        first, second = run(one).asnumpy(), run(one).asnumpy()
        np.testing.assert_array_equal(first, run(two).asnumpy())
        assert (first != second).any()
