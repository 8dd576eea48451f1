"""Sparse tensors: coordinates (COO), compressed rows (CSR) and slices (RowTensor), as tuples of Tensors.

They hold Tensors and a shape and nothing else, so gradients and graphs see their parts; every operation is made of
gathers, sums and products of the registry.
"""
from mindspore import _c
from mindspore.common import dtype as _ms
from mindspore._c import Tensor

_ops = _c.rows('ops')
_mint = _c.rows('mint')
_INDEX = (_ms.int16, _ms.int32, _ms.int64)


def _checked(name, what, x, dtypes=None):
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{name}', '{what}' must be a Tensor, but got {type(x).__name__}.")
    if dtypes and x.dtype not in dtypes:
        raise TypeError(f"For '{name}', '{what}' must be int16, int32 or int64, but got {x.dtype}.")
    return x


def _shape_of(name, shape, rank=None):
    if not isinstance(shape, (tuple, list)) or not all(isinstance(s, int) and not isinstance(s, bool) for s in shape):
        raise TypeError(f"For '{name}', 'shape' must be a tuple of ints, but got {shape!r}.")
    if any(s <= 0 for s in shape):
        raise ValueError(f"For '{name}', every size of 'shape' must be positive, but got {tuple(shape)}.")
    if rank is not None and len(shape) < rank:
        raise ValueError(f"For '{name}', 'shape' must have at least {rank} dimensions, but got {tuple(shape)}.")
    return tuple(shape)


def _text(t):
    v = str(t.asnumpy())
    return f"Tensor(shape={list(t.shape)}, dtype={t.dtype!s}, value={chr(10) if t.ndim > 1 else ''}{v})"


class _Sparse:
    """What the three kinds share: values of a dtype in a dense shape."""

    ms_parts = ("_indices", "_values", "_shape")  # by these names jit and gradients take it apart and put it together

    @classmethod
    def of_parts(cls, parts):
        """Of what to_tuple gives, or of what stands for it: nothing is checked."""
        out = cls.__new__(cls)
        out.__dict__.update(zip(cls.ms_parts, parts))
        return out

    def to_tuple(self):
        return tuple([getattr(self, name) for name in self.ms_parts])

    @property
    def values(self):
        return self._values

    @property
    def indices(self):
        return self._indices

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def size(self):
        return self._values.size

    @property
    def itemsize(self):
        return self._values.itemsize

    @property
    def ndim(self):
        return len(self._shape)

    def __len__(self):
        return len(self.to_tuple())

    def __getitem__(self, k):
        return self.to_tuple()[k]

    def astype(self, dtype):
        return self._with(self._values.astype(dtype))

    def abs(self):
        return self._with(self._values.abs())

    def __neg__(self):
        return self._with(-self._values)


class COOTensor(_Sparse):
    """indices [n, d] and values [n] in a dense `shape` of d axes."""

    def __init__(self, indices=None, values=None, shape=None, coo_tensor=None):
        if coo_tensor is not None:
            if not (indices is None and values is None and shape is None):
                raise TypeError("For 'COOTensor', either 'coo_tensor' or the three parts must be given, not both.")
            if not isinstance(coo_tensor, COOTensor):
                raise TypeError(f"For 'COOTensor', 'coo_tensor' must be a COOTensor, but got {type(coo_tensor).__name__}.")
            indices, values, shape = coo_tensor.indices, coo_tensor.values, coo_tensor.shape
        self._indices = _checked('COOTensor', 'indices', indices, _INDEX)
        self._values = _checked('COOTensor', 'values', values)
        self._shape = _shape_of('COOTensor', shape)
        if indices.ndim != 2 or values.ndim != 1 or indices.shape[0] != values.shape[0] or indices.shape[1] != len(shape):
            raise ValueError(f"For 'COOTensor', 'indices' must be [n, {len(shape)}] and 'values' [n], but got "
                             f"{tuple(indices.shape)} and {tuple(values.shape)}.")

    def _with(self, values):
        return COOTensor(self._indices, values, self._shape)

    def __repr__(self):
        return (f"COOTensor(shape={list(self.shape)}, dtype={self.dtype!s}, indices={_text(self._indices)}, "
                f"values={_text(self._values)})")

    def to_dense(self):
        """Repeated coordinates add up."""
        return _ops['scatter_nd'](self._indices, self._values, self._shape)

    def coalesce(self):
        """Sorted coordinates, each once, with the sum of its values."""
        indices, values, _ = _coalesced(self)
        return COOTensor(indices, values, self._shape)

    def to_csr(self):
        if self.ndim != 2:
            raise ValueError(f"For 'COOTensor.to_csr', the tensor must have 2 axes, but has {self.ndim}.")
        row, col = self._indices[:, 0].astype(_ms.int64), self._indices[:, 1]
        order = _ops['argsort'](row * self._shape[1] + col.astype(_ms.int64))
        return CSRTensor(_indptr(row, self._shape[0]).astype(self._indices.dtype), col[order], self._values[order], self._shape)

    def add(self, other, thresh):
        """The sum; entries whose size is below `thresh` are left out."""
        return coo_add(self, other, thresh)

    def __add__(self, other):
        if isinstance(other, COOTensor):
            return coo_add(self, other, Tensor(0, self.dtype))
        return self.to_dense() + other

    def __sub__(self, other):
        return self + (-other)

    def __mul__(self, other):
        if isinstance(other, COOTensor):
            raise TypeError("For '*', the other side of a COOTensor must be dense.")
        if isinstance(other, Tensor) and other.ndim:
            other = _ops['gather_nd'](_ops['broadcast_to'](other, self._shape), self._indices)
        return self._with(self._values * other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, Tensor) and other.ndim:
            other = _ops['gather_nd'](_ops['broadcast_to'](other, self._shape), self._indices)
        return self._with(self._values / other)


def _coalesced(coo):
    flat = _ops['zeros']((coo.indices.shape[0],), _ms.int64)
    for d, n in enumerate(coo.shape):
        flat = flat * n + coo.indices[:, d].astype(_ms.int64)
    unique, inverse = _mint['unique'](flat, return_inverse=True)
    values = _ops['unsorted_segment_sum'](coo.values, inverse, unique.shape[0])
    parts = []
    for n in coo.shape[::-1]:
        parts.append(_ops['remainder'](unique, n))
        unique = _ops['floor_divide'](unique, n)
    return _mint['stack'](parts[::-1], 1).astype(coo.indices.dtype), values, coo.shape


def _indptr(rows, m):
    """Where each row begins among sorted entries: the running sum of the entries per row."""
    count = _ops['unsorted_segment_sum'](_ops['ones']((rows.shape[0],), _ms.int64), rows, m)
    return _mint['cat']([_ops['zeros']((1,), _ms.int64), _ops['cumsum'](count, 0)], 0)


class CSRTensor(_Sparse):
    """Row r has columns indices[indptr[r] : indptr[r + 1]] and the values there; more axes are dense."""

    ms_parts = ("_indptr", *_Sparse.ms_parts)

    def __init__(self, indptr=None, indices=None, values=None, shape=None, csr_tensor=None):
        if csr_tensor is not None:
            if not (indptr is None and indices is None and values is None and shape is None):
                raise TypeError("For 'CSRTensor', either 'csr_tensor' or the four parts must be given, not both.")
            if not isinstance(csr_tensor, CSRTensor):
                raise TypeError(f"For 'CSRTensor', 'csr_tensor' must be a CSRTensor, but got {type(csr_tensor).__name__}.")
            indptr, indices, values, shape = csr_tensor.to_tuple()
        self._indptr = _checked('CSRTensor', 'indptr', indptr, _INDEX)
        self._indices = _checked('CSRTensor', 'indices', indices, _INDEX)
        self._values = _checked('CSRTensor', 'values', values)
        self._shape = _shape_of('CSRTensor', shape, 2)
        if indptr.ndim != 1 or indices.ndim != 1 or indptr.shape[0] != shape[0] + 1 or values.ndim != len(shape) - 1 \
                or values.shape[0] != indices.shape[0] or tuple(values.shape[1:]) != tuple(shape[2:]):
            raise ValueError(f"For 'CSRTensor', the parts of shapes {tuple(indptr.shape)}, {tuple(indices.shape)}, "
                             f"{tuple(values.shape)} do not fit the shape {tuple(shape)}.")

    def _with(self, values):
        return CSRTensor(self._indptr, self._indices, values, self._shape)

    @property
    def indptr(self):
        return self._indptr

    def __repr__(self):
        return (f"CSRTensor(shape={list(self.shape)}, dtype={self.dtype!s}, indptr={_text(self._indptr)}, "
                f"indices={_text(self._indices)}, values={_text(self._values)})")

    def _rows(self):
        """The row of every entry."""
        at = _ops['arange'](0, self._indices.shape[0], 1).astype(self._indptr.dtype)
        return _ops['searchsorted'](self._indptr, at, right=True) - 1

    def _coordinates(self):
        rows = self._rows().astype(self._indices.dtype)
        return _mint['stack']([rows, self._indices], 1)

    def to_coo(self):
        if self.ndim != 2:
            raise ValueError(f"For 'CSRTensor.to_coo', the tensor must have 2 axes, but has {self.ndim}.")
        return COOTensor(self._coordinates(), self._values, self._shape)

    def to_dense(self):
        return _ops['scatter_nd'](self._coordinates(), self._values, self._shape)

    def mv(self, dense_vector):
        """The product with a column [n, 1]."""
        if dense_vector.ndim != 2 or dense_vector.shape[0] != self._shape[1] or self.ndim != 2:
            raise ValueError(f"For 'CSRTensor.mv', the vector must be [{self._shape[1]}, 1], but got {tuple(dense_vector.shape)}.")
        return self.mm(dense_vector)

    def mm(self, matrix):
        """The product with a matrix; of two CSRTensors a CSRTensor."""
        if isinstance(matrix, CSRTensor):
            return dense_to_sparse_csr(self.mm(matrix.to_dense()))
        if matrix.ndim != 2 or self.ndim != 2 or matrix.shape[0] != self._shape[1]:
            raise ValueError(f"For 'CSRTensor.mm', the shapes {self._shape} and {tuple(matrix.shape)} do not fit.")
        terms = _ops['gather'](matrix, self._indices, 0) * self._values.reshape((-1, 1))
        return _ops['unsorted_segment_sum'](terms, self._rows(), self._shape[0])

    def sum(self, axis):
        """The sums of the rows, [m, 1, ...]."""
        if axis not in (1, 1 - self.ndim):
            raise ValueError(f"For 'CSRTensor.sum', 'axis' must be 1 or {1 - self.ndim}, but got {axis}.")
        y = _ops['unsorted_segment_sum'](self._values, self._rows(), self._shape[0])
        return _ops['expand_dims'](y, 1)

    def add(self, b, alpha, beta):
        return csr_add(self, b, alpha, beta)

    def _dense_at(self, other):
        if not isinstance(other, Tensor) or other.ndim == 0:
            return other
        return _ops['gather_nd'](_ops['broadcast_to'](other, self._shape), self._coordinates())

    def __mul__(self, other):
        return self._with(self._values * self._dense_at(other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._with(self._values / self._dense_at(other))

    def __add__(self, other):
        if not isinstance(other, CSRTensor):
            return self.to_dense() + other
        one = Tensor(1, self.dtype)
        return csr_add(self, other, one, one)

    def __sub__(self, other):
        if not isinstance(other, CSRTensor):
            return self.to_dense() - other
        return csr_add(self, other, Tensor(1, self.dtype), Tensor(-1, self.dtype))


class RowTensor(_Sparse):
    """Slices `values` at `indices` of the first axis of a dense `shape`."""

    def __init__(self, indices=None, values=None, shape=None, row_tensor=None):
        if row_tensor is not None:
            if not isinstance(row_tensor, RowTensor):
                raise TypeError(f"For 'RowTensor', 'row_tensor' must be a RowTensor, but got {type(row_tensor).__name__}.")
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        self._indices = _checked('RowTensor', 'indices', indices, _INDEX)
        self._values = _checked('RowTensor', 'values', values)
        self._shape = _shape_of('RowTensor', shape)
        if indices.ndim != 1 or values.ndim != len(shape) or values.shape[0] != indices.shape[0]:
            raise ValueError(f"For 'RowTensor', 'indices' of shape {tuple(indices.shape)} and 'values' of shape "
                             f"{tuple(values.shape)} do not fit the shape {tuple(shape)}.")

    def _with(self, values):
        return RowTensor(self._indices, values, self._shape)

    @property
    def dense_shape(self):
        return self._shape

    def __repr__(self):
        return (f"RowTensor(shape={list(self.shape)}, dtype={self.dtype!s}, indices={_text(self._indices)}, "
                f"values={_text(self._values)})")


class SparseTensor(COOTensor):
    """The old name of COOTensor."""

    def __init__(self, indices, values, shape):
        super().__init__(indices, values, shape)


# ---- functions ----

def coo_add(x1, x2, thresh):
    """The sum; entries of which the size is below `thresh` are left out."""
    if x1.shape != x2.shape:
        raise ValueError(f"For 'coo_add', the shapes must be equal, but got {x1.shape} and {x2.shape}.")
    both = COOTensor(_mint['cat']([x1.indices, x2.indices], 0), _mint['cat']([x1.values, x2.values], 0), x1.shape).coalesce()
    keep = _ops['nonzero'](_ops['abs'](both.values) >= thresh).reshape((-1,))
    return COOTensor(both.indices[keep], both.values[keep], x1.shape)


def coo_concat(sp_input, concat_dim=0):
    """COOTensors joined along an axis."""
    first = sp_input[0]
    dim = concat_dim + first.ndim if concat_dim < 0 else concat_dim
    if not 0 <= dim < first.ndim:
        raise ValueError(f"For 'coo_concat', 'concat_dim' must be in [{-first.ndim}, {first.ndim}), but got {concat_dim}.")
    parts, at = [], 0
    for x in sp_input:
        if x.ndim != first.ndim or any(a != b for d, (a, b) in enumerate(zip(x.shape, first.shape)) if d != dim):
            raise ValueError(f"For 'coo_concat', the shapes {first.shape} and {x.shape} may differ in axis {dim} only.")
        step = Tensor([at if d == dim else 0 for d in range(x.ndim)], x.indices.dtype)
        parts.append(x.indices + step)
        at += x.shape[dim]
    shape = tuple(at if d == dim else n for d, n in enumerate(first.shape))
    joined = COOTensor(_mint['cat'](parts, 0), _mint['cat']([x.values for x in sp_input], 0), shape)
    flat = _ops['zeros']((joined.indices.shape[0],), _ms.int64)
    for d, n in enumerate(shape):
        flat = flat * n + joined.indices[:, d].astype(_ms.int64)
    order = _ops['argsort'](flat)
    return COOTensor(joined.indices[order], joined.values[order], shape)


def coalesce(x_indices, x_values, x_shape):
    """Of indices [d, n]: sorted coordinates, each once, with the sum of its values."""
    shape = tuple(x_shape.asnumpy().tolist())
    indices, values, _ = _coalesced(COOTensor(x_indices.transpose((1, 0)), x_values, shape))
    return indices.transpose((1, 0)), values, x_shape


def csr_add(a, b, alpha, beta):
    """alpha a + beta b, with the entries of both."""
    if a.shape != b.shape:
        raise ValueError(f"For 'csr_add', the shapes must be equal, but got {a.shape} and {b.shape}.")
    x, y = a.to_coo(), b.to_coo()
    both = COOTensor(_mint['cat']([x.indices, y.indices], 0), _mint['cat']([alpha * x.values, beta * y.values], 0),
                     a.shape).coalesce()
    return both.to_csr()


def csr_mv(csr_tensor, dense):
    return csr_tensor.mv(dense)


def csr_mm(a, b, trans_a=False, trans_b=False, adjoint_a=False, adjoint_b=False):
    """a b, of which either may be transposed (and conjugated: adjoint)."""
    turn = lambda x, t, h: x if not (t or h) else _ops['conj'](x).transpose((1, 0)) if h else x.transpose((1, 0))
    dense = turn(b.to_dense() if isinstance(b, CSRTensor) else b, trans_b, adjoint_b)
    if not (trans_a or adjoint_a):
        y = a.mm(dense)
    else:
        y = _ops['matmul'](turn(a.to_dense(), trans_a, adjoint_a), dense)
    return dense_to_sparse_csr(y) if isinstance(b, CSRTensor) else y


def csr_mul(x, y):
    return x * y


def csr_div(x, y):
    """The values of x / y, a Tensor."""
    return (x / y).values


def csr_reduce_sum(csr_tensor, axis):
    return csr_tensor.sum(axis)


def csr_softmax(logits, dtype):
    """The softmax of each row over its entries."""
    v, rows, m = logits.values.astype(dtype), logits._rows(), logits.shape[0]
    top = _ops['unsorted_segment_max'](v, rows, m)
    e = _ops['exp'](v - top[rows])
    return CSRTensor(logits.indptr, logits.indices, e / _ops['unsorted_segment_sum'](e, rows, m)[rows], logits.shape)


def csr_to_coo(tensor):
    return tensor.to_coo()


def csr_to_dense(csr_tensor):
    return csr_tensor.to_dense()


def dense_to_sparse_coo(tensor):
    """The nonzero entries of a matrix."""
    if tensor.ndim != 2:
        raise ValueError(f"For 'dense_to_sparse_coo', the tensor must have 2 axes, but has {tensor.ndim}.")
    at = _ops['nonzero'](tensor)
    return COOTensor(at, _ops['gather_nd'](tensor, at), tuple(tensor.shape))


def dense_to_sparse_csr(tensor):
    return dense_to_sparse_coo(tensor).to_csr()


_UNARY = dict(abs='abs', acos='acos', acosh='acosh', asin='asin', asinh='asinh', atan='atan', atanh='atanh', ceil='ceil',
              cos='cos', cosh='cosh', exp='exp', expm1='expm1', floor='floor', inv='inv', isfinite='isfinite',
              isinf='isinf', isnan='isnan', log='log', log1p='log1p', neg='neg', relu='relu', relu6='relu6',
              round='round', sigmoid='sigmoid', sin='sin', sinh='sinh', softsign='softsign', sqrt='sqrt',
              square='square', tan='tan', tanh='tanh')


def _of_values(name, row, kind):
    def fn(x):
        if not isinstance(x, kind):
            raise TypeError(f"For '{name}', 'x' must be a {kind.__name__}, but got {type(x).__name__}.")
        return x._with(row(x.values))
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{row.__name__ if hasattr(row, '__name__') else name} of the values; the coordinates stay."
    return fn


for _name, _row in _UNARY.items():
    globals()['coo_' + _name] = _of_values('coo_' + _name, _ops[_row], COOTensor)
    globals()['csr_' + _name] = _of_values('csr_' + _name, _ops[_row], CSRTensor)

FUNCTIONS = tuple(f'{k}_{n}' for k in ('coo', 'csr') for n in _UNARY) + (
    'coo_add', 'coo_concat', 'coalesce', 'csr_add', 'csr_mv', 'csr_mm', 'csr_mul', 'csr_div', 'csr_reduce_sum', 'csr_softmax', 'csr_to_coo',
    'csr_to_dense', 'dense_to_sparse_coo', 'dense_to_sparse_csr')
