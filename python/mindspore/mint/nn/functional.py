"""Functions of mint.nn: every row `mint.nn.functional.x` of the registry, and those that are rows of ops under other names."""
from mindspore import _c

_rows = _c.rows('mint.nn.functional')
globals().update(_rows)


def _also(function):
    """A function that is no row of this group."""
    if function.__name__ not in _rows:
        globals()[function.__name__] = function
    return globals()[function.__name__]


def _op(name):
    return _c.row('ops.' + name)


@_also
def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction='mean'):
    """1 - cos for pairs labelled 1, max(0, cos - margin) for pairs labelled -1."""
    return _op('cosine_embedding_loss')(input1, input2, target, float(margin), reduction)


@_also
def soft_margin_loss(input, target, reduction='mean'):
    """log(1 + exp(-target input))"""
    return _op('soft_margin_loss')(input, target, reduction)


@_also
def smooth_l1_loss(input, target, reduction='mean', beta=1.0):
    """Quadratic below beta, linear above."""
    return _op('smooth_l1_loss')(input, target, float(beta), reduction)


@_also
def kl_div(input, target, reduction='mean', log_target=False):
    """Kullback-Leibler divergence of log-probabilities from targets, which may be logarithms too."""
    return _op('kl_div')(input, _op('exp')(target) if log_target else target, reduction)


@_also
def flatten(input, start_dim=0, end_dim=-1):
    """Merges the axes from start_dim to end_dim."""
    return _c.row('mint.flatten')(input, start_dim, end_dim)


@_also
def normalize(input, p=2.0, dim=1, eps=1e-12):
    """input over its p-norm along dim, which counts as at least eps."""
    norm = (input.abs() ** p).sum(dim, keepdims=True) ** (1.0 / p)
    return input / _op('clamp')(norm, eps)


@_also
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False):
    """Rows of weight by index; the row padding_idx gets no gradient."""
    if max_norm is not None or scale_grad_by_freq:
        raise ValueError("For 'embedding', 'max_norm' and 'scale_grad_by_freq' are not supported.")
    rows = _c.row('_nn.take')(weight, input)
    if padding_idx is None:
        return rows
    return _op('where')((input == padding_idx % weight.shape[0]).expand_dims(-1), _op('stop_gradient')(rows), rows)


def _in_place(name):
    def function(input, *args, **kwargs):
        return input.copy_(globals()[name](input, *args, **kwargs))
    function.__name__, function.__doc__ = name + '_', f'{name} written into its input.'
    return _also(function)


for _name in ('elu', 'hardtanh', 'relu', 'sigmoid', 'threshold'):
    _in_place(_name)
