"""Losses, softmax and what is made of it."""
import numpy as np

import mindspore as ms

from .table import F, G, T3, c, f, i, like, log_softmax, np_dtype, row, sigmoid, softmax, torch_reduce

P, Q = f(2, 3, lo=0.05, hi=0.95), f(2, 3, lo=0.05, hi=0.95)   # probabilities
W = f(2, 3, lo=0.2, hi=2)
ONE = np.where(f(2, 3) > 0, 1.0, -1.0)
CLASSES = np.array([2, 0, 1, 2])
X = f(4, 3)
CW = f(3, lo=0.2, hi=2)


def last(fn, n):
    """fn's loss, where argument n may give the reduction by position."""
    @like(fn, extra=('reduction',))
    def call(*a, reduction='mean', **k):
        if len(a) > n:
            reduction, a = a[n], a[:n] + a[n + 1:]
        return torch_reduce(fn(*a, **k), reduction)
    return call


row('ops.mse_loss ops.mse_loss_ext mint.nn.functional.mse_loss', last(lambda input, target: (input - target)**2, 2),
    c(F, G), c(F, G, 'none'), c(input=F, target=G, reduction='sum'))
row('ops.l1_loss mint.nn.functional.l1_loss', last(lambda input, target: np.abs(input - target), 2), c(F, G), c(F, G, 'none'),
    c(input=F, target=G, reduction='sum'))


def smooth_l1(x, y, beta=1.0, reduction='none'):
    d = np.abs(x - y)
    return torch_reduce(np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta) if beta else d, reduction)


def huber(x, y, reduction='mean', delta=1.0):
    d = np.abs(x - y)
    return torch_reduce(np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def kl_div(x, y, reduction='mean'):
    loss = y * (np.log(y) - x)
    return loss.sum() / len(x) if reduction == 'batchmean' else torch_reduce(loss, reduction)


def bce(x, y, weight=None, reduction='mean'):
    loss = -(y * np.log(x) + (1 - y) * np.log(1 - x))
    return torch_reduce(loss if weight is None else loss * weight, reduction)


def bce_logits(x, y, weight=None, pos_weight=None, reduction='mean'):
    loss = -((1 if pos_weight is None else pos_weight) * y * np.log(sigmoid(x)) + (1 - y) * np.log(sigmoid(-x)))
    return torch_reduce(loss if weight is None else loss * weight, reduction)


row('ops.smooth_l1_loss', smooth_l1, c(F, G), c(F, G, 0.5, 'mean'), c(input=F, target=G, beta=2.0, reduction='sum'))
row('ops.huber_loss', huber, c(F, G), c(F, G, 'none', 0.5), c(input=F, target=G, reduction='sum', delta=2.0))
row('ops.kl_div', kl_div, c(np.log(P), Q), c(np.log(P), Q, 'batchmean'), c(logits=np.log(P), labels=Q, reduction='none'),
    c(np.log(P), Q, 'sum'))
row('mint.nn.functional.binary_cross_entropy', bce, c(P, Q), c(P, Q, W, 'none'), c(input=P, target=Q, weight=W, reduction='sum'))
row('ops.binary_cross_entropy', bce, c(P, Q), c(P, Q, W, 'none'),
    c(logits=P, labels=Q, weight=W, reduction='sum'))
row('ops.binary_cross_entropy_with_logits', bce_logits, c(F, Q), c(F, Q, W, CW, 'none'),
    c(input=F, target=Q, weight=W, pos_weight=CW, reduction='sum'))
row('mint.nn.functional.binary_cross_entropy_with_logits', lambda input, target, weight=None, reduction='mean', pos_weight=None:
    bce_logits(input, target, weight, pos_weight, reduction), c(F, Q), c(F, Q, W, 'none', CW),
    c(input=F, target=Q, weight=W, pos_weight=CW, reduction='sum'))


def cosine_embedding(a, b, target, margin=0.0, reduction='mean'):
    cos = (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return torch_reduce(np.where(target == 1, 1 - cos, np.maximum(0, cos - margin)), reduction)


row('ops.cosine_embedding_loss', cosine_embedding, c(X, f(4, 3), np.array([1, -1, 1, -1])),
    c(X, f(4, 3), np.array([1, -1, 1, -1]), 0.2, 'none'),
    c(input1=X, input2=f(4, 3), target=np.array([1, -1, 1, -1]), margin=0.1, reduction='sum'), tol=10)
row('ops.margin_ranking_loss', last(lambda x, y, target, margin=0.0: np.maximum(0, -target * (x - y) + margin), 4),
    c(F, G, ONE), c(F, G, ONE, 0.5, 'none'), c(input1=F, input2=G, target=ONE, margin=0.3, reduction='sum'))
row('ops.hinge_embedding_loss', last(lambda x, y, margin=1.0: np.where(y > 0, x, np.maximum(0, margin - x)), 3),
    c(F, ONE), c(F, ONE, 0.5, 'none'), c(inputs=F, targets=ONE, margin=2.0, reduction='sum'), grad=(0,))
row('ops.soft_margin_loss', last(lambda input, target: np.log1p(np.exp(-target * input)), 2), c(F, ONE), c(F, ONE, 'none'),
    c(input=F, target=ONE, reduction='sum'))
row('ops.multilabel_soft_margin_loss', last(lambda x, y, weight=1: -(weight * (
    y * np.log(sigmoid(x)) + (1 - y) * np.log(sigmoid(-x)))).mean(-1), 3), c(F, (ONE + 1) / 2), c(F, (ONE + 1) / 2, CW, 'none'),
    c(input=F, target=(ONE + 1) / 2, weight=CW, reduction='sum'))


def gaussian_nll(x, target, var, full=False, eps=1e-6, reduction='mean'):
    v = np.maximum(var, eps)
    return torch_reduce(0.5 * (np.log(v) + (x - target)**2 / v + (np.log(2 * np.pi) if full else 0)), reduction)


row('ops.gaussian_nll_loss', gaussian_nll, c(F, G, W), c(F, G, W, True, 0.1, 'none'),
    c(x=F, target=G, var=W, full=True, eps=1e-3, reduction='sum'))


def multi_margin(x, target, p=1, margin=1, weight=None, reduction='mean'):
    n = np.arange(len(x))
    loss = np.maximum(0, margin - x[n, target][:, None] + x)**p
    if weight is not None:
        loss = loss * weight[target][:, None]
    loss[n, target] = 0
    return torch_reduce(loss.mean(1), reduction)


row('ops.multi_margin_loss', multi_margin, c(X, CLASSES), c(X, CLASSES, 2, 0.5, CW, 'none'),
    c(input=X, target=CLASSES, p=1, margin=2, weight=CW, reduction='sum'))


def triplet(a, p, n, margin=1.0, power=2, eps=1e-6, swap=False, reduction='mean'):
    def far(x, y):
        return (np.abs(x - y + eps)**power).sum(-1)**(1 / power)
    apart = np.minimum(far(a, n), far(p, n)) if swap else far(a, n)
    return torch_reduce(np.maximum(0, far(a, p) - apart + margin), reduction)


def triplet_by_name(anchor, positive, negative, p, **kw):
    return triplet(anchor, positive, negative, power=p, **kw)


row('ops.triplet_margin_loss', triplet, c(X, X + f(4, 3), f(4, 3)), c(X, X + f(4, 3), f(4, 3), 2.0, 3, 1e-3, True, 'none'), tol=10)
row('ops.triplet_margin_loss', triplet_by_name, c(anchor=X, positive=f(4, 3), negative=f(4, 3), margin=5.0, p=2, eps=1e-5, swap=True,
                                                 reduction='sum'), tol=10)

# ---- sequences: values in test_ctc.py ----

row('ops.ctc_loss', None, c(np.log(P).reshape(2, 1, 3), np.array([[1]]), [2], [1]),
    c(log_probs=np.log(P).reshape(2, 1, 3), targets=np.array([[1]]), input_lengths=[2], target_lengths=[1], blank=0,
      reduction='sum', zero_infinity=True), check=lambda loss, alpha, *a, **k: np.isfinite(loss) or 1 / 0, grad=False)
row('ops.ctc_greedy_decoder', None, c(f(3, 2, 4), np.array([3, 2])),
    c(inputs=f(3, 2, 4), sequence_length=np.array([3, 2]), merge_repeated=False),
    check=lambda at, *a, **k: at.shape[1] == 2 or 1 / 0, dynamic=True, grad=False)

# ---- classes ----


def nll(logp, target, weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0):
    """logp [n, classes, ...]; the mean is over the weights of the labels."""
    logp = np.moveaxis(logp, 1, -1)
    keep = target != ignore_index
    label = np.where(keep, target, 0)
    w = np.ones(logp.shape[-1]) if weight is None else weight
    at = w[label] * keep
    picked = -np.take_along_axis(logp, label[..., None], -1)[..., 0] * at
    smooth = -(logp * w).sum(-1) * keep
    if reduction == 'mean':
        picked, smooth = picked.sum() / at.sum(), smooth.sum() / at.sum()
    elif reduction == 'sum':
        picked, smooth = picked.sum(), smooth.sum()
    return (1 - label_smoothing) * picked + label_smoothing / logp.shape[-1] * smooth


def cross_entropy(x, target, weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0):
    logp = log_softmax(x, 1)
    if target.ndim < x.ndim:
        return nll(logp, target, weight, ignore_index, reduction, label_smoothing)
    w = 1 if weight is None else weight.reshape((1, -1) + (1,) * (x.ndim - 2))
    target = target * (1 - label_smoothing) + label_smoothing / x.shape[1]
    loss = -(target * logp * w).sum(1)
    return loss.sum() / loss.size if reduction == 'mean' else torch_reduce(loss, reduction)


LOGP = log_softmax(X, 1)
GRID, AT = f(2, 3, 2, 2), i(2, 2, 2, hi=3).astype(np.int32)
LABELS = CLASSES.astype(np.int32)
NLL = (c(LOGP, LABELS), c(LOGP, LABELS, CW, 0, 'sum'), c(log_softmax(GRID, 1), AT, reduction='none'), c(LOGP, LABELS, CW),
       c(LOGP, LABELS, weight=CW, ignore_index=2, reduction='mean'))
row('ops.nll_loss', nll, *NLL, c(inputs=LOGP, target=LABELS, weight=CW, label_smoothing=0.2), c(LOGP, LABELS, None, -100, 'none', 0.1))
row('mint.nn.functional.nll_loss', nll, *NLL, c(input=LOGP, target=LABELS))
row('ops.cross_entropy mint.nn.functional.cross_entropy', cross_entropy, c(X, LABELS), c(X, LABELS, CW, 0, 'sum'),
    c(GRID, AT, reduction='none'), c(X, LABELS, CW), c(X, LABELS, weight=CW, ignore_index=2, reduction='mean', label_smoothing=0.2),
    c(X, softmax(f(4, 3), 1)), c(X, softmax(f(4, 3), 1), weight=CW, reduction='sum', label_smoothing=0.1),
    c(input=X, target=CLASSES))

# ---- softmax ----


def of(fn):
    return lambda x, axis=-1, dtype=None: fn(x if dtype is None else x.astype(np_dtype(dtype)), -1 if axis is None else axis)


def dim(fn):
    return lambda input, dim=None, dtype=None: of(fn)(input, (0 if input.ndim in (0, 1, 3) else 1) if dim is None else dim, dtype)


row('ops.softmax', of(softmax), c(F), c(T3, 1), c(input=T3, axis=0))
row('ops.softmax', of(softmax), c(F, dtype=ms.float64), out='float64')
row('mint.softmax mint.nn.functional.softmax', dim(softmax), c(T3, 1), c(input=T3, dim=-1))
row('mint.nn.functional.softmax', dim(softmax), c(F), c(T3))
row('mint.softmax mint.nn.functional.softmax', dim(softmax), c(F, 0, dtype=ms.float64), out='float64')
row('Tensor.softmax', of(softmax), c(F), c(T3, 1), c(T3, axis=0))
row('Tensor.softmax', of(softmax), c(F, 0, ms.float64), out='float64')
row('ops.log_softmax', of(log_softmax), c(F), c(T3, 1), c(logits=T3, axis=0))
row('mint.nn.functional.log_softmax mint.special.log_softmax', dim(log_softmax), c(F), c(T3, 1), c(input=T3, dim=-1), c(T3))
row('mint.nn.functional.log_softmax mint.special.log_softmax', dim(log_softmax), c(F, 0, dtype=ms.float64), out='float64')
row('ops.softmin', lambda x, axis=-1, dtype=None: softmax(-x, axis), c(F), c(T3, 1), c(x=T3, axis=0))
row('ops.softmin', lambda x, axis=-1, dtype=None: softmax(-x, axis), c(F, dtype=ms.float64), out='float64')
