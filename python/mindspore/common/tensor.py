"""The Tensor under the path that existing code imports it from, and its methods that need no speed."""
from mindspore import _c
from mindspore._c import Tensor
from mindspore.common.dtype import uint8

__all__ = ['Tensor', 'UntypedStorage']


class UntypedStorage:
    """The block of bytes behind a tensor and its views."""

    device = 'cpu'

    def __init__(self, tensor):
        self._flat = tensor if tensor.ndim == 1 and tensor.is_contiguous() else tensor.as_strided((_reach(tensor),), (1,))

    def data_ptr(self):
        return self._flat.data_ptr()

    def nbytes(self):
        return self._flat.nbytes

    size = nbytes

    def element_size(self):
        return 1

    def is_shared(self):
        return False

    def copy_(self, other, non_blocking=False):
        """Copies the bytes of another storage of the same size."""
        if not isinstance(other, UntypedStorage) or other.nbytes() != self.nbytes():
            raise ValueError(f"For 'copy_', a storage of {self.nbytes()} bytes is needed, but got {other!r}.")
        self._flat.view(uint8).copy_(other._flat.view(uint8))
        return self

    def resize_(self, size):
        """A storage has the size of its tensor; only that size is taken."""
        if size != self.nbytes():
            raise RuntimeError(f"For 'resize_', the storage has {self.nbytes()} bytes and cannot change to {size}.")
        return self


def _reach(tensor):
    """Elements from the first to the last of a tensor, the ends included."""
    return sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride())) + 1 if tensor.size else 0


def stride(self, dim=None):
    all_axes = [s // self.itemsize for s in self.strides]
    return all_axes if dim is None else all_axes[dim]


def storage(self):
    return UntypedStorage(self)


def _cpu(name, device):
    if device is not None and str(device).upper().split(':')[0] != 'CPU':
        raise ValueError(f"For '{name}', the device must be 'CPU', but got {device!r}.")


def move_to(self, to, blocking=True):
    _cpu('move_to', to)
    return self.copy()


def to_(self, device=None, non_blocking=False):
    _cpu('to_', device)
    return self


def set_const_arg(self, const_arg=True):
    if not isinstance(const_arg, bool):
        raise TypeError(f"For 'set_const_arg', the 'const_arg' must be bool, but got {type(const_arg).__name__}.")
    return self


def set_dtype(self, dtype):
    Tensor.assign_value(self, self.astype(dtype))
    return self.dtype


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Makes ``self`` a view of the data of ``source``; without one, an empty tensor."""
    if source is None:
        source = Tensor([], self.dtype)
    if isinstance(source, UntypedStorage):
        source = source._flat
        size = source.shape if size is None else size
    if not isinstance(source, Tensor):
        raise TypeError(f"For 'set_', the 'source' must be a Tensor or an UntypedStorage, but got {type(source).__name__}.")
    if size is not None or storage_offset:
        size = tuple(source.shape if size is None else size)
        if stride is None:
            stride, n = [], 1
            for s in reversed(size):
                stride.insert(0, n)
                n *= s
        source = source.as_strided(size, tuple(stride), storage_offset)
    return Tensor.assign_value(self, source)


def __round__(self, ndigits=0):
    return Tensor.round(self, decimals=ndigits)


def hooks(self):
    from mindspore.common.hooks import hooks_of
    return list(hooks_of(self))


def pin_memory(self):
    raise RuntimeError("For 'pin_memory', page-locked memory serves copies to other devices, but tensors lie on the CPU only.")


def requires_grad_(self, requires_grad=True):
    if not isinstance(requires_grad, bool):
        raise TypeError(f"For 'requires_grad_', the 'requires_grad' must be bool, but got {type(requires_grad).__name__}.")
    return self


def convert_bytes_to_tensor(data, shape, dtype):
    """The tensor whose ``get_bytes`` are ``data``."""
    t = Tensor(shape=tuple(shape), dtype=dtype, init='zeros').init_data()
    if not isinstance(data, bytes) or len(data) != t.nbytes:
        raise ValueError(f"For 'convert_bytes_to_tensor', shape {shape} of {dtype} takes {t.nbytes} bytes, but got "
                         f"{len(data) if isinstance(data, bytes) else type(data).__name__}.")
    if data:
        t.untyped_storage().copy_(UntypedStorage(Tensor(memoryview(data))))
    return t


def to_coo(self):
    from mindspore.common.sparse_tensor import dense_to_sparse_coo
    return dense_to_sparse_coo(self)


def to_csr(self):
    from mindspore.common.sparse_tensor import dense_to_sparse_csr
    return dense_to_sparse_csr(self)


def to_dlpack(self):
    return _c.to_dlpack(self)


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if dl_device not in (None, (1, 0)) or stream not in (None, -1):
        raise BufferError(f"A tensor lies in host memory, but device {dl_device} with stream {stream} was asked for.")
    return _c.to_dlpack(self.copy() if copy else self)


def __dlpack_device__(self):
    return 1, 0
