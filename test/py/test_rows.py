"""Every API row beside numpy: values and dtypes in both modes, gradients beside finite differences.

The entries are in rows/; rows/table.py says how to add one. Arguments are honoured or the test of completeness
fails: each parameter of each signature must be given in some case.
"""
import gc
import importlib
import inspect
import re

import numpy as np
import pytest

import mindspore as ms
from rows import TABLE

INNER = '_', 'prim'  # prefixes of groups that only the package itself calls
EPS = 1e-5
TOLERANCE = {'float16': 2e-3, 'bfloat16': 2e-2, 'float64': 1e-10, 'complex128': 1e-10}


# ---- calling ----

def set_item(self, index, value):
    self[index] = value
    return self


def function(name):
    """The public object of a row's name, as a function of the row's arguments."""
    group, _, last = name.rpartition('.')
    if name == 'Tensor.__setitem__':
        return set_item
    if group == 'Tensor':
        attribute = inspect.getattr_static(ms.Tensor, last, None)
        if attribute is None:
            return ms._c.row(name)
        if not callable(attribute):
            return lambda self: getattr(self, last)
        return getattr(ms.Tensor, last)
    if group.startswith(INNER):
        return ms._c.row(name)
    return getattr(importlib.import_module('mindspore.' + group), last)


def is_float(a):
    return isinstance(a, np.ndarray) and a.dtype.kind in 'fc'


def is_tensor(a):
    return isinstance(a, np.ndarray)


def leaves(tree, wanted=is_tensor):
    if isinstance(tree, (list, tuple)):
        return [x for t in tree for x in leaves(t, wanted)]
    if isinstance(tree, slice):
        return leaves((tree.start, tree.stop, tree.step), wanted)
    if isinstance(tree, dict):
        return [x for t in tree.values() for x in leaves(t, wanted)]
    return [tree] if wanted(tree) else []


def rebuild(tree, values, wanted=is_tensor):
    """The tree with its leaves taken from the iterator `values`."""
    if isinstance(tree, (list, tuple)):
        return type(tree)(rebuild(t, values, wanted) for t in tree)
    if isinstance(tree, slice):
        return slice(*rebuild((tree.start, tree.stop, tree.step), values, wanted))
    if isinstance(tree, dict):
        return {k: rebuild(t, values, wanted) for k, t in tree.items()}
    return next(values) if wanted(tree) else tree


def cast(a, float_name):
    if a.dtype.kind == 'c':
        return a.astype('complex64' if float_name == 'float32' else 'complex128')
    return a.astype(float_name) if a.dtype.kind == 'f' else a


def call(fn, case, values):
    args, kw = rebuild((case.args, case.kw), iter(values))
    return fn(*args, **kw)


def outcome(row, fn, case, tensors):
    """The results, as the row's entry wants them seen, and what is written."""
    results = [r for r in flat(call(fn, case, tensors)) if r is not None]
    return flat(row.view(*results)) + [tensors[k] for k in row.writes]


def call_reference(row, case, values):
    """The reference may use other names: what it does not know by name it gets by position."""
    args, kw = rebuild((case.args, case.kw), iter([v.copy() for v in values]))
    known = () if isinstance(row.ref, np.ufunc) else inspect.signature(row.ref).parameters
    if any(p.kind is p.VAR_KEYWORD for p in getattr(known, 'values', tuple)()):
        known = kw
    return row.ref(*args, *[v for k, v in kw.items() if k not in known],
                   **{k: v for k, v in kw.items() if k in known})


def flat(result):
    if isinstance(result, (list, tuple)):
        return [x for r in result for x in flat(r)]
    return [result]


def to_numpy(x):
    return x.asnumpy() if isinstance(x, ms.Tensor) else x


# ---- comparing ----

def expected_dtype(row, want, j, float_name):
    out = row.out[j] if isinstance(row.out, tuple) else row.out
    if out is not None:
        return out(float_name) if callable(out) else out
    if want.dtype == np.float64:
        return float_name
    if want.dtype == np.complex128:
        return 'complex64' if float_name == 'float32' else 'complex128'
    return want.dtype.name


def close(got, want, tol, what):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f'{what}: shape {got.shape}, expected {want.shape}'
    np.testing.assert_allclose(got.astype(np.complex128 if want.dtype.kind == 'c' else np.float64), want,
                               rtol=tol, atol=tol, err_msg=what)


def compare(row, got, want, float_name, what):
    got, want = flat(got), flat(want)
    assert len(got) == len(want), f'{what}: {len(got)} results, expected {len(want)}'
    for j, (g, w) in enumerate(zip(got, want)):
        if not isinstance(g, ms.Tensor):
            assert g == w and type(g) is type(w), f'{what}: {g!r}, expected {w!r}'
            continue
        w = np.asarray(w)
        dtype = expected_dtype(row, w, j, float_name)
        assert str(g.dtype).lower() == dtype, f'{what}: {g.dtype}, expected {dtype}'
        if w.dtype.kind in 'iub' and dtype == w.dtype.name:
            assert g.shape == w.shape, f'{what}: shape {g.shape}, expected {w.shape}'
            np.testing.assert_array_equal(g.asnumpy(), w, err_msg=what)
        else:
            close(g.asnumpy(), w, row.tol * TOLERANCE.get(dtype, 1e-5), what)


def check_values(row, name, case, float_name):
    fn, what = function(name), f'{name}({case}) in {float_name}'
    arrays = [cast(a, float_name) for a in leaves((case.args, case.kw))]
    tensors = [ms.Tensor(a) for a in arrays]
    if row.check:
        got = [x for x in flat(call(fn, case, tensors)) if x is not None]
        row.check(*[to_numpy(x) for x in got], *case.args, **case.kw)
        return
    got = outcome(row, fn, case, tensors)
    wide = [cast(a, 'float64') for a in arrays]
    want = call_reference(row, case, wide)
    compare(row, got, want, float_name, what)
    if row.inplace:
        compare(row, tensors[0], want, float_name, what + ', changed in place')
    # The same call in Graph mode.
    tensors = [ms.Tensor(a) for a in arrays]
    staged = ms.jit(lambda *ts: outcome(row, fn, case, ts), capture_mode='trace', fullgraph=not row.dynamic)
    compare(row, staged(*tensors), want, float_name, what + ' in Graph mode')


# ---- gradients ----

def real_part(t):
    return ms.ops.real(t) if isinstance(t, ms.Tensor) and t.is_complex() else t if isinstance(t, ms.Tensor) else np.real(t)


def weighted(results, weights):
    """Sum of weight times result over the floating results; of complex ones the real part."""
    total = None
    for r, w in zip(results, weights):
        if w is None:
            continue
        term = real_part(r * w).sum()
        total = term if total is None else total + term
    return total


def uniform(draw, low, high, like):
    """Random weights or directions of the shape and kind of an array."""
    real = draw.uniform(low, high, like.shape)
    return real + 1j * draw.uniform(low, high, like.shape) if like.dtype.kind == 'c' else real


def weight_of(w):
    w = np.asarray(w)
    return uniform(np.random.default_rng(w.size), 0.5, 1.5, w) if w.dtype.kind in 'fc' else None


def check_gradient(row, case):
    fn, what = function(row.names[0]), f'{row.names[0]}({case})'
    arrays = leaves((case.args, case.kw))
    spots = [k for k, a in enumerate(arrays) if a.dtype.kind in 'fc' and a.size]
    if isinstance(row.grad, tuple):
        spots = [k for k in spots if k in row.grad]
    base = [a.copy() for a in arrays]
    weights = [weight_of(w) for w in flat(call_reference(row, case, base))]
    weights[len(weights) - len(row.writes):] = [None for _ in row.writes]
    if not spots or all(w is None for w in weights) or not all(np.isfinite(a).all() for a in arrays):
        return
    ms_weights = [None if w is None else ms.Tensor(w) for w in weights]
    constants = [None if k in spots else ms.Tensor(a) for k, a in enumerate(arrays)]

    def loss(*xs):
        xs = iter(xs)
        return weighted(outcome(row, fn, case, [next(xs) if t is None else t.copy() for t in constants]), ms_weights)

    if row.inplace:  # the argument itself must stay
        plain = loss

        def loss(*xs):
            return plain(*[x * 1 for x in xs])

    def ref_loss(values):
        return weighted([np.asarray(r) for r in flat(call_reference(row, case, values))], weights)

    gradient = ms.grad(loss, tuple(range(len(spots))))
    tensors = [ms.Tensor(base[k]) for k in spots]
    grads = flat(gradient(*tensors))
    draw = np.random.default_rng(3)
    directions = [uniform(draw, -1, 1, base[k]) for k in spots]
    for s, (k, u) in enumerate(zip(spots, directions)):
        moved = [[v + sign * EPS * u if n == k else v for n, v in enumerate(base)] for sign in (1, -1)]
        numeric = (ref_loss(moved[0]) - ref_loss(moved[1])) / (2 * EPS)
        close(np.real(grads[s].asnumpy() * u.conj()).sum(), numeric, 3e-6 * row.tol, f'gradient of {what} by array {k}')
    if not row.second:
        return

    def along(*xs):
        total = None
        for g, u in zip(flat(gradient(*xs)), directions):
            term = real_part(g * ms.Tensor(u.conj())).sum()
            total = term if total is None else total + term
        return total

    seconds = flat(ms.grad(along, tuple(range(len(spots))))(*tensors))
    ahead, behind = [along(*[ms.Tensor(base[k] + sign * EPS * u) for k, u in zip(spots, directions)]).asnumpy()
                     for sign in (1, -1)]
    exact = sum(np.real(s.asnumpy() * u.conj()).sum() for s, u in zip(seconds, directions))
    close(exact, (ahead - behind) / (2 * EPS), 3e-5 * row.tol, f'second gradient of {what}')


# ---- the tests ----

@pytest.mark.parametrize('row', TABLE, ids=lambda row: row.names[0])
def test_row(row):
    for case in row.cases:
        floats = any(a.dtype.kind in 'fc' for a in leaves((case.args, case.kw)))
        for float_name in ('float32', 'float64') if floats else ('float32',):
            check_values(row, row.names[0], case, float_name)
        for alias in row.names[1:]:
            check_values(row, alias, case, 'float32')
        if row.grad and not row.check:
            check_gradient(row, case)


# ---- completeness ----

def signatures(name):
    """[[(parameter, positional?, variadic?)]] per overload, read off the row's documentation."""
    found = []
    for line in ms._c.row(name).__doc__.splitlines():
        text = line[line.index('(') + 1:line.rindex(') ->')]
        depth, parts, at = 0, [], ''
        for ch in text:
            depth += (ch in '([') - (ch in ')]')
            if ch == ',' and depth == 0:
                parts.append(at.strip())
                at = ''
            else:
                at += ch
        parts += [at.strip()] if at.strip() else []
        positional, parameters = True, []
        for part in parts:
            if part == '*':
                positional = False
                continue
            variadic = part.startswith('*')
            parameters.append((re.match(r'\*?(\w+)', part).group(1), positional, variadic))
            if variadic:
                positional = False
        found.append(parameters)
    return found


def given(parameters, case):
    """Names of the parameters that the case gives, None when it cannot be a call of this signature."""
    names = [p for p, _, _ in parameters]
    if any(k not in names for k in case.kw):
        return None
    positional = [p for p, pos, _ in parameters if pos]
    if len(case.args) > len(positional) and not any(v for _, _, v in parameters):
        return None
    return set(positional[:len(case.args)]) | set(case.kw)


def all_names():
    return [f'{group}.{name}' for group in ms._c.rows(None) for name in ms._c.rows(group)]


def test_every_row_has_an_entry():
    have = {name for row in TABLE for name in row.names}
    missing = [name for name in all_names() if name not in have]
    assert not missing, f'{len(missing)} rows without an entry (rows/table.py says how to add one): {" ".join(missing)}'
    assert not have - set(all_names()), f'entries of rows that are not there: {have - set(all_names())}'


def test_every_parameter_is_given():
    cases = {}
    for row in TABLE:
        for name in row.names:
            cases.setdefault(name, []).extend(row.cases)
    missing = []
    for name in cases:
        for parameters in signatures(name):
            seen = set().union(*[given(parameters, case) or () for case in cases[name]])
            missing += [f'{name}: {p}' for p, _, _ in parameters if p not in seen]
    assert not missing, f'{len(missing)} parameters are given in no case: {"; ".join(missing)}'


def refuse_each(fn, case):
    arrays = [cast(a, 'float32') for a in leaves((case.args, case.kw))]
    for n in range(1, 200):
        tensors = [ms.Tensor(a) for a in arrays]
        ms._c.memory_fail_after(n)
        try:
            call(fn, case, tensors)
            break
        except MemoryError:
            continue
        finally:
            ms._c.memory_fail_after(0)


def live():
    return ms._c.memory_stats()['n_live']


@pytest.mark.parametrize('row', TABLE, ids=lambda row: row.names[0])
def test_refused_allocations(row):
    """Whichever allocation is refused: a MemoryError or a result, no leak, never a crash or another error."""
    fn = function(row.names[0])
    for case in row.cases:
        refuse_each(fn, case)  # what is made once and kept is made now
        before = live()
        refuse_each(fn, case)
        if live() != before:
            gc.collect()
        assert live() <= before, f'{row.names[0]}({case}) leaks'
