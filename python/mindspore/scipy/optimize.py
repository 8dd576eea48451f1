"""scipy.optimize: quasi-Newton minimisation, a line search, assignment. Nocedal and Wright, Numerical Optimization, 2nd ed."""
from collections import namedtuple as _namedtuple

import numpy as _np

from mindspore import _c
from mindspore.common import dtype as _ms
from mindspore._c import Tensor

_ops = _c.rows('ops')

OptimizeResults = _namedtuple('OptimizeResults', 'x success status fun jac hess_inv nfev njev nit')
LineSearchResults = _namedtuple('LineSearchResults', 'failed nit nfev ngev k a_k f_k g_k status')


def _value_and_slope(f, args=()):
    from mindspore.autodiff import value_and_grad
    return value_and_grad(lambda x: f(x, *args))


def _search(fg, xk, pk, f0, g0, c1, c2, maxiter):
    """A step with the strong Wolfe conditions (algorithms 3.5 and 3.6, by bisection and secants)."""
    slope0 = float((g0 * pk).sum())
    at = {'n': 0}

    def phi(a):
        at['n'] += 1
        f, g = fg(xk + a * pk)
        return float(f), g, float((g * pk).sum())

    low, f_low, s_low = 0.0, float(f0), slope0
    high, a = None, 1.0
    best = None
    for k in range(maxiter):
        f, g, s = phi(a)
        best = (a, f, g)
        bad = not _np.isfinite(f) or f > float(f0) + c1 * a * slope0 or (f >= f_low and k > 0)
        if not bad and abs(s) <= -c2 * slope0:
            return False, k + 1, at['n'], a, f, g
        if bad:
            high = a
        elif s * ((high if high is not None else _np.inf) - low) >= 0 and (high is not None or s >= 0):
            high, low, f_low, s_low = low, a, f, s
        else:
            low, f_low, s_low = a, f, s
        if high is None:
            a *= 2
            continue
        width = high - low
        trial = low - s_low * width * width / (2 * (f - f_low - s_low * width)) if bad and _np.isfinite(f) and \
            f - f_low - s_low * width > 0 else low + width / 2
        inside = min(low, high) + 0.1 * abs(width) <= trial <= max(low, high) - 0.1 * abs(width)
        a = trial if inside else low + width / 2
    return True, maxiter, at['n'], best[0], best[1], best[2]


def line_search(f, xk, pk, jac=None, gfk=None, old_fval=None, old_old_fval=None, c1=0.0001, c2=0.9, maxiter=20):
    """A step along pk that satisfies the strong Wolfe conditions. `old_old_fval` is not needed: the first step is 1."""
    fg = _value_and_slope(f) if jac is None else lambda x: (f(x), jac(x))
    if old_fval is None or gfk is None:
        f0, g0 = fg(xk)
        old_fval, gfk = (f0 if old_fval is None else old_fval), (g0 if gfk is None else gfk)
    failed, nit, n, a, v, g = _search(fg, xk, pk, old_fval, gfk, c1, c2, maxiter)
    t = lambda x, d: Tensor(x, d)
    return LineSearchResults(t(failed, _ms.bool_), t(nit, _ms.int32), t(n, _ms.int32), t(n, _ms.int32), t(nit, _ms.int32),
                             t(a, xk.dtype), t(v, xk.dtype), g, t(1 if failed else 0, _ms.int32))


def minimize(func, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), tol=None,
             callback=None, options=None):
    """Minimises a function of a vector by BFGS or L-BFGS."""
    for name, v, none in (('jac', jac, None), ('hess', hess, None), ('hessp', hessp, None), ('bounds', bounds, None),
                          ('constraints', constraints, ()), ('callback', callback, None)):
        if v != none and v is not None:
            raise ValueError(f"For 'minimize', '{name}' is not supported; it must be {none!r}.")
    if method is None or not isinstance(method, str) or method.lower() not in ('bfgs', 'lbfgs'):
        raise ValueError(f"For 'minimize', 'method' must be 'BFGS' or 'LBFGS', but got {method!r}.")
    if not isinstance(args, tuple):
        raise TypeError("For 'minimize', 'args' must be a tuple.")
    options = dict(options or {})
    memory = options.pop('maxcor', 10) if method.lower() == 'lbfgs' else None
    n = x0.size
    limit = options.pop('maxiter', None) or n * 200
    gtol = options.pop('gtol', None)
    gtol = gtol if gtol is not None else tol if tol is not None else 1e-5
    steps = options.pop('line_search_maxiter', None) or options.pop('maxls', None) or 20
    order = options.pop('norm', _np.inf)
    if options:
        raise ValueError(f"For 'minimize', the options {sorted(options)} are not known.")
    fg = _value_and_slope(func, args)
    x, nfev, nit, pairs = x0, 1, 0, []
    f, g = fg(x)
    eye = _ops['eye'](n, n, x.dtype)
    h = eye
    status = 0
    while float(_np.linalg.norm(g.asnumpy().astype(_np.float64), order)) > gtol:
        if nit >= limit:
            status = 1
            break
        p = -_ops['matmul'](h, g) if memory is None else -_two_loops(pairs, g)
        failed, _, count, a, v, g1 = _search(fg, x, p, f, g, 1e-4, 0.9, steps)
        nfev += count
        nit += 1
        s, y = a * p, g1 - g
        if failed and not v < float(f):
            status = 3
            break
        x, f, g = x + s, Tensor(v, x.dtype), g1
        sy = (s * y).sum()
        if float(sy) > 1e-12:
            if memory is None:
                w = eye - s.reshape((-1, 1)) * y.reshape((1, -1)) / sy
                h = _ops['matmul'](_ops['matmul'](w, h), w.transpose((1, 0))) + s.reshape((-1, 1)) * s.reshape((1, -1)) / sy
            else:
                pairs = (pairs + [(s, y)])[-memory:]
    t = lambda v, d: Tensor(v, d)
    return OptimizeResults(x, t(status == 0, _ms.bool_), t(status, _ms.int32), f, g, h, t(nfev, _ms.int32),
                           t(nfev, _ms.int32), t(nit, _ms.int32))


def _two_loops(pairs, g):
    """The limited-memory product of the inverse Hessian with g (algorithm 7.4)."""
    q, kept = g, []
    for s, y in pairs[::-1]:
        a = (s * q).sum() / (s * y).sum()
        kept.append(a)
        q = q - a * y
    if pairs:
        s, y = pairs[-1]
        q = q * ((s * y).sum() / (y * y).sum())
    for (s, y), a in zip(pairs, kept[::-1]):
        q = q + s * (a - (y * q).sum() / (s * y).sum())
    return q


def linear_sum_assignment(cost_matrix, maximize, dimension_limit=None):
    """The assignment of rows to columns of least (largest) sum; sizes beyond `dimension_limit` columns do not count.
    Rows without a partner have index -1. Shortest augmenting paths (Jonker and Volgenant, 1987)."""
    cost = cost_matrix.asnumpy().astype(_np.float64)
    if cost.ndim != 2:
        raise ValueError(f"For 'linear_sum_assignment', 'cost_matrix' must be 2-d, but got shape {cost.shape}.")
    if _np.isnan(cost).any():
        raise ValueError("For 'linear_sum_assignment', 'cost_matrix' contains NaN.")
    big = bool(maximize.asnumpy()) if isinstance(maximize, Tensor) else bool(maximize)
    total = min(cost.shape)
    limit = cost.shape[1] if dimension_limit is None else int(dimension_limit.asnumpy())
    cost = (-cost if big else cost)[:, :min(limit, cost.shape[1])]
    turned = cost.shape[0] > cost.shape[1]
    c = cost.T if turned else cost
    n, m = c.shape
    u, v, owner = _np.zeros(n + 1), _np.zeros(m + 1), _np.zeros(m + 1, _np.int64)
    for i in range(1, n + 1):
        owner[0], j0 = i, 0
        least, used, way = _np.full(m + 1, _np.inf), _np.zeros(m + 1, bool), _np.zeros(m + 1, _np.int64)
        while True:
            used[j0] = True
            free = ~used[1:]
            d = c[owner[j0] - 1] - u[owner[j0]] - v[1:]
            better = free & (d < least[1:])
            least[1:][better], way[1:][better] = d[better], j0
            j1 = int(_np.argmin(_np.where(free, least[1:], _np.inf))) + 1
            delta = least[j1]
            u[owner[used]] += delta
            v[used] -= delta
            least[~used] -= delta
            j0 = j1
            if owner[j0] == 0:
                break
        while j0:
            owner[j0] = owner[way[j0]]
            j0 = way[j0]
    pairs = [(int(owner[j]) - 1, j - 1) for j in range(1, m + 1) if owner[j]]
    pairs = sorted((b, a) if turned else (a, b) for a, b in pairs)
    pairs += [(-1, -1)] * (total - len(pairs))
    return tuple(Tensor(_np.array([p[k] for p in pairs], _np.int64)) for k in (0, 1))
