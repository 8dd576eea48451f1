"""Sequences without alignment: losses by enumeration of all alignments, gradients, and the best path."""
import itertools

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

RNG = np.random.default_rng(3)
LOGITS = RNG.normal(size=(5, 3, 4)).astype(np.float32)
LP = LOGITS - np.log(np.exp(LOGITS).sum(-1, keepdims=True))
TARGETS, STEPS, LENGTHS = np.array([[1, 2, 9], [2, 2, 1], [3, 9, 9]]), [5, 5, 4], [2, 3, 1]
TARGETS[TARGETS == 9] = 0


def spelled(path, blank, merge):
    if merge:
        path = [k for k, _ in itertools.groupby(path)]
    return [k for k in path if k != blank]


def loss_of(lp, target, blank=0, merge=True):
    ways = [sum(lp[t, k] for t, k in enumerate(p)) for p in itertools.product(range(lp.shape[1]), repeat=len(lp))
            if spelled(p, blank, merge) == list(target)]
    return -np.logaddexp.reduce(ways) if ways else np.inf


def want(blank=0, merge=True, targets=TARGETS):
    return np.array([loss_of(LP[:n, b], targets[b][:m], blank, merge) for b, (n, m) in enumerate(zip(STEPS, LENGTHS))])


def near(got, expected, tol=1e-5):
    np.testing.assert_allclose(got.asnumpy(), expected, tol, tol)


@pytest.mark.parametrize('targets', [TARGETS, np.array([1, 2, 2, 2, 1, 3])], ids=['rows', 'one vector'])
def test_reductions(targets):
    w = want()
    for reduction, expected in (('none', w), ('sum', w.sum()), ('mean', (w / LENGTHS).mean())):
        args = Tensor(LP), Tensor(targets), Tensor(STEPS), Tensor(LENGTHS)
        loss, alpha = ops.ctc_loss(*args, 0, reduction)
        near(loss, expected)
        near(ms.jit(lambda *a: ops.ctc_loss(*a, reduction=reduction)[0])(*args), expected)
        assert alpha.shape[:2] == (3, 5)
    near(ops.CTCLossV2()(*args)[0], w)


def test_gradient_is_of_normalised_input():
    lengths = Tensor(STEPS), Tensor(LENGTHS)
    g = ms.grad(lambda x: ops.ctc_loss(x, Tensor(TARGETS), *lengths, reduction='sum')[0])(Tensor(LP)).asnumpy()
    through = ms.grad(lambda x: ops.ctc_loss(ops.log_softmax(x, -1), Tensor(TARGETS), *lengths, reduction='sum')[0])
    np.testing.assert_allclose(through(Tensor(LOGITS)).asnumpy(), g, 1e-5, 1e-5)
    np.testing.assert_allclose(g.sum(-1), 0, atol=1e-5)
    assert not g[4, 2].any() and g[3, 2].any()


def test_impossible():
    args = Tensor(LP[:2, :1]), Tensor([[1, 1]]), Tensor([2]), Tensor([2])
    assert np.isinf(ops.ctc_loss(*args, reduction='none')[0].asnumpy()).all()
    assert ops.ctc_loss(*args, reduction='sum', zero_infinity=True)[0] == 0
    assert not ms.grad(lambda x: ops.ctc_loss(x, *args[1:], zero_infinity=True)[0])(args[0] * 0).asnumpy()[0, 0, 1] < 0
    for bad in ([[1, 4]], [[-1, 1]]):
        with pytest.raises(ValueError, match=r'\[0, 4\)'):
            ops.ctc_loss(args[0], Tensor(bad), *args[2:])
    with pytest.raises(ValueError, match='blank'):
        ops.ctc_loss(*args, blank=4)


@pytest.mark.parametrize('merge', [True, False])
def test_sparse_labels(merge):
    targets = [[1, 2], [2, 2, 1], [0]]
    at = Tensor([[b, k] for b, t in enumerate(targets) for k in range(len(t))])
    values, steps = Tensor(sum(targets, []), ms.int32), Tensor(STEPS, ms.int32)
    loss, grad = ops.CTCLoss(ctc_merge_repeated=merge)(Tensor(LOGITS), at, values, steps)
    near(loss, want(3, merge, targets))
    near(ms.grad(lambda x: ops.CTCLoss(ctc_merge_repeated=merge)(x, at, values, steps)[0].sum())(Tensor(LOGITS)), grad.asnumpy())


def test_collapsed_and_ignored_labels():
    at, values = Tensor([[0, 0], [0, 1], [0, 2]]), Tensor([2, 2, 1], ms.int32)
    x = Tensor(LOGITS[:, 1:2])
    near(ops.CTCLoss(True)(x, at, values, Tensor([5], ms.int32))[0], [loss_of(LP[:, 1], [2, 1], 3)])
    loss, grad = ops.CTCLoss(False, True, True)(x, at, values, Tensor([2], ms.int32))
    assert loss == 0 and not grad.asnumpy().any()


def test_best_path():
    best = np.array([[0, 0, 3, 0, 2], [1, 1, 1, 3, 3]])
    x = np.zeros((5, 2, 4), np.float32)
    for b in range(2):
        x[np.arange(5), b, best[b]] = 2
    at, values, shape, score = ops.ctc_greedy_decoder(Tensor(x), Tensor([5, 3]))
    assert at.asnumpy().tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]] and values.asnumpy().tolist() == [0, 0, 2, 1]
    assert shape.asnumpy().tolist() == [2, 3] and score.asnumpy().tolist() == [[-10], [-6]]
    assert ops.CTCGreedyDecoder(False)(Tensor(x), Tensor([5, 3]))[1].asnumpy().tolist() == [0, 0, 0, 2, 1, 1, 1]
    with pytest.raises(ValueError, match='sequence_length'):
        ops.ctc_greedy_decoder(Tensor(x), Tensor([6, 3]))
