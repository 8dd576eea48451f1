"""scipy.linalg over the factorisations of the registry. `overwrite_x` allows what is not needed here: results are new."""
from mindspore import _c
from mindspore.common import dtype as _ms
from mindspore.common._rows import Rows
from mindspore._c import Tensor

_ops = _c.rows('ops')
_linalg = Rows('_linalg')


def _matrix(name, a, what='a', square=True, finite=True):
    if not isinstance(a, Tensor):
        raise TypeError(f"For '{name}', '{what}' must be a Tensor, but got {type(a).__name__}.")
    if a.dtype in (_ms.bool_, _ms.int8, _ms.int16, _ms.uint8, _ms.float16, _ms.bfloat16):
        raise TypeError(f"For '{name}', '{what}' must be int32, int64, float32, float64 or complex, but got {a.dtype}.")
    if a.ndim < 2 or square and a.shape[-1] != a.shape[-2]:
        raise ValueError(f"For '{name}', '{what}' must be {'square ' if square else ''}matrices, but got shape {tuple(a.shape)}.")
    return a.astype(_ms.float64) if not (a.is_floating_point() or a.is_complex()) else a


def _flag(name, what, v):
    if not isinstance(v, bool):
        raise TypeError(f"For '{name}', '{what}' must be bool, but got {type(v).__name__}.")


def block_diag(*arrs):
    """Matrices along the diagonal of one."""
    if not arrs:
        return _ops['zeros']((1, 0), _ms.float32)
    return _linalg.block_diag(*arrs)


def inv(a, overwrite_a=False, check_finite=True):
    _flag('inv', 'overwrite_a', overwrite_a), _flag('inv', 'check_finite', check_finite)
    return _linalg.inv(_matrix('inv', a))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The factor of a positive definite matrix, upper unless `lower`; only that triangle of a is read."""
    for what, v in (('lower', lower), ('overwrite_a', overwrite_a), ('check_finite', check_finite)):
        _flag('cholesky', what, v)
    a = _matrix('cholesky', a)
    return _linalg.cholesky(a if lower else _ops['adjoint'](a), not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """Solves with the factor of cho_factor."""
    c, lower = c_and_lower
    _flag('cho_solve', 'overwrite_b', overwrite_b), _flag('cho_solve', 'check_finite', check_finite)
    c = _matrix('cho_solve', c, 'c')
    vector = b.ndim == c.ndim - 1
    b = b.astype(c.dtype)
    x = _linalg.cholesky_solve(_ops['expand_dims'](b, -1) if vector else b, c, not lower)
    return x[..., 0] if vector else x


def lu_factor(a, overwrite_a=False, check_finite=True):
    """The packed factors and the row that each row was swapped with."""
    _flag('lu_factor', 'overwrite_a', overwrite_a), _flag('lu_factor', 'check_finite', check_finite)
    lu_, pivots = _linalg.lu_factor(_matrix('lu_factor', a))
    return lu_, pivots


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The x of a x = b (trans 0), a^T x = b (1) or a^H x = b (2) from what lu_factor gives."""
    _flag('lu_solve', 'overwrite_b', overwrite_b), _flag('lu_solve', 'check_finite', check_finite)
    packed, pivots = lu_and_piv
    packed = _matrix('lu_solve', packed)
    if trans not in (0, 1, 2):
        raise ValueError(f"For 'lu_solve', 'trans' must be 0, 1 or 2, but got {trans}.")
    if b.ndim not in (packed.ndim - 1, packed.ndim):
        raise ValueError(f"For 'lu_solve', 'b' must have one dimension less than the matrix or as many, but got {b.ndim}.")
    vector = b.ndim == packed.ndim - 1
    b = (_ops['expand_dims'](b, -1) if vector else b).astype(packed.dtype)
    if trans == 0:
        x = _ops['lu_solve'](b, packed, pivots + 1)
    else:
        p, l, u = _ops['lu_unpack'](packed, pivots + 1)
        y = _linalg.triangular(u, b, True, False, trans)
        x = _ops['matmul'](p, _linalg.triangular(l, y, False, True, trans))
    return x[..., 0] if vector else x


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """p, l, u with a = p l u; p l and u when `permute_l`."""
    for what, v in (('permute_l', permute_l), ('overwrite_a', overwrite_a), ('check_finite', check_finite)):
        _flag('lu', what, v)
    p, l, u = _linalg.lu(_matrix('lu', a, square=False))
    return (_ops['matmul'](p, l), u) if permute_l else (p, l, u)


def lstsq(A, B, rcond=None, driver=None):
    """Solution, residuals, rank, singular values."""
    if driver not in (None, 'gelsd', 'gelss', 'gelsy'):
        raise ValueError(f"For 'lstsq', 'driver' must be None, 'gelsd', 'gelss' or 'gelsy', but got {driver!r}.")
    a = _matrix('lstsq', A, 'A', square=False)
    b = B.astype(a.dtype)
    vector = b.ndim == a.ndim - 1
    b = _ops['expand_dims'](b, -1) if vector else b
    s = _ops['svd'](a, compute_uv=False)
    eps = {_ms.float32: 2**-23, _ms.complex64: 2**-23}.get(a.dtype, 2**-52)
    cut = _ops['amax'](s, -1, True)
    limit = cut * (eps * max(a.shape[-2:]) if rcond is None else rcond)
    rank = (s > limit).astype(_ms.int64).sum(-1)
    x = _ops['matmul'](_ops['pinv'](a, rtol=eps * max(a.shape[-2:]) if rcond is None else rcond), b)
    r = _ops['matmul'](a, x) - b
    residuals = (_ops['abs'](r) ** 2).sum(-2)
    return (x[..., 0] if vector else x), (residuals[..., 0] if vector else residuals), rank, s


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None, check_finite=True):
    """Solves with one triangle of a, transposed (trans 1 or 'T') or its adjoint (2 or 'C')."""
    for what, v in (('lower', lower), ('unit_diagonal', unit_diagonal), ('overwrite_b', overwrite_b),
                    ('check_finite', check_finite)):
        _flag('solve_triangular', what, v)
    codes = {0: 0, 1: 1, 2: 2, 'N': 0, 'T': 1, 'C': 2}
    if isinstance(trans, bool) or not isinstance(trans, (int, str)):
        raise TypeError(f"For 'solve_triangular', 'trans' must be int or str, but got {type(trans).__name__}.")
    if trans not in codes:
        raise ValueError(f"For 'solve_triangular', 'trans' must be one of 0, 1, 2, 'N', 'T', 'C', but got {trans!r}.")
    if debug is not None:
        raise ValueError("For 'solve_triangular', 'debug' must be None.")
    a = _matrix('solve_triangular', a)
    if not isinstance(b, Tensor):
        raise TypeError(f"For 'solve_triangular', 'b' must be a Tensor, but got {type(b).__name__}.")
    if a.dtype != b.dtype and b.is_floating_point():
        raise TypeError(f"For 'solve_triangular', the dtypes of 'a' and 'b' must be the same, but got {a.dtype} and {b.dtype}.")
    if b.ndim not in (a.ndim, a.ndim - 1) or b.shape[a.ndim - 2] != a.shape[-1]:
        raise ValueError(f"For 'solve_triangular', the shapes {tuple(a.shape)} and {tuple(b.shape)} do not fit.")
    return _linalg.triangular(a, b.astype(a.dtype), not lower, unit_diagonal, codes[trans])


def eigh(a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, turbo=True, eigvals=None, type=1,  # noqa: A002
         check_finite=True):
    """Eigenvalues ascending and vectors of a Hermitian matrix; of a v = w b v (type 1), a b v = w v (2), b a v = w v (3)."""
    for what, v in (('lower', lower), ('eigvals_only', eigvals_only), ('overwrite_a', overwrite_a),
                    ('overwrite_b', overwrite_b), ('turbo', turbo), ('check_finite', check_finite)):
        _flag('eigh', what, v)
    if type not in (1, 2, 3):
        raise ValueError(f"For 'eigh', 'type' must be 1, 2 or 3, but got {type}.")
    a = _matrix('eigh', a)
    if b is None:
        w, v = _linalg.eigh(a, lower)
    else:
        low = _linalg.cholesky(_matrix('eigh', b, 'b') if lower else _ops['adjoint'](_matrix('eigh', b, 'b')))
        full = a if lower else _ops['adjoint'](a)
        full = _ops['tril'](full) + _ops['adjoint'](_ops['tril'](full, -1))
        if type == 1:
            half = _linalg.triangular(low, full, False, False, 0)
            c = _linalg.triangular(low, _ops['adjoint'](half), False, False, 0)
        else:
            c = _ops['matmul'](_ops['adjoint'](low), _ops['matmul'](full, low))
        w, v = _linalg.eigh(c, True)
        v = _ops['matmul'](low, v) if type == 3 else _linalg.triangular(low, v, False, False, 2)
    if eigvals is not None:
        if not isinstance(eigvals, (tuple, list)) or len(eigvals) != 2:
            raise ValueError(f"For 'eigh', 'eigvals' must be a pair of int, but got {eigvals}.")
        first, last = eigvals
        if not 0 <= first <= last < a.shape[-1]:
            raise ValueError(f"For 'eigh', 'eigvals' must be a range within [0, {a.shape[-1]}), but got {eigvals}.")
        w, v = w[..., first:last + 1], v[..., first:last + 1]
    return w if eigvals_only else (w, v)


def det(a, overwrite_a=False, check_finite=True):
    _flag('det', 'overwrite_a', overwrite_a), _flag('det', 'check_finite', check_finite)
    return _ops['det'](_matrix('det', a))


def eig(a):
    """Eigenvalues and eigenvectors of general matrices."""
    return _linalg.eig(_matrix('eig', a))
