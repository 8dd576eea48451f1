"""Mixed precision of networks: which Cells compute in half precision, and the training step around them.

A Cell computes in a type by casting what enters it (Cell.to_float) and what leaves it; parameters keep float32. Cells stay
in their place, so that paths and names do not change. At level auto the operators choose (mindspore.common.autocast).
"""
import functools

from mindspore import nn, ops
from mindspore.autodiff import _callee
from mindspore.common import dtype as mstype
from mindspore.common.autocast import autocast
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

__all__ = ["auto_mixed_precision", "build_train_network", "custom_mixed_precision", "get_white_list", "get_black_list"]

_WHITE_CELLS = ("Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose", "Dense", "LSTMCell",
                "RNNCell", "GRUCell")
_WHITE_PRIMITIVES = ("Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "Conv2DBackpropInput", "MatMul", "BatchMatMul",
                     "PReLU", "ReLU", "Ger")
_BLACK_CELLS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm")


def _named(module, names):
    return [getattr(module, name) for name in names if hasattr(module, name)]


def get_white_list():
    """The Cells and primitives that compute in half precision at level O1."""
    return _named(nn, _WHITE_CELLS) + _named(ops, _WHITE_PRIMITIVES)


def get_black_list():
    """The Cells that keep float32 at level O2."""
    return _named(nn, _BLACK_CELLS)


def _check_dtype(dtype):
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(f"The dtype {dtype} is not supported")


def _inside(cell, inward, outward=None):
    """What enters the Cell is cast to ``inward``, what leaves it to ``outward``."""
    cell.to_float(inward)
    if outward is not None:
        cell.__dict__["_ms_out"] = outward
        cell._refresh_plain()
    return cell


def _walk(cell, classes, found):
    """Outermost Cells of these classes."""
    if isinstance(cell, classes):
        found.append(cell)
        return found
    for child in cell.name_cells().values():
        _walk(child, classes, found)
    return found


def _cells_of(listed):
    return tuple(c for c in listed if isinstance(c, type) and issubclass(c, Cell))


class _OutputTo32(Cell):
    """A Cell whose floating results are float32."""

    def __init__(self, backbone):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        _inside_out(self)

    def construct(self, *inputs):
        return self._backbone(*inputs)


class _HalfPrimitive:
    """A primitive held by a Cell that computes in half precision and gives float32 back."""

    def __init__(self, primitive, dtype):
        self._primitive, self._dtype = primitive, dtype

    def __call__(self, *args):
        half = [a.astype(self._dtype) if isinstance(a, Tensor) and a.dtype == mstype.float32 else a for a in args]
        y = self._primitive(*half)
        return y.astype(mstype.float32) if isinstance(y, Tensor) and y.dtype == self._dtype else y

    def __getattr__(self, name):
        return getattr(self.__dict__["_primitive"], name)


def _white(network, listed, dtype):
    cells = _cells_of(listed)
    primitives = tuple(c for c in listed if isinstance(c, type) and not issubclass(c, Cell))
    found = _walk(network, cells, [])
    for cell in found:
        _inside(cell, dtype, mstype.float32)
    if primitives:
        done = {id(c) for top in found for _, c in top.cells_and_names()}
        for _, cell in network.cells_and_names():
            if id(cell) in done or type(cell).__module__.startswith("mindspore."):
                continue
            for name, value in list(cell.__dict__.items()):
                if isinstance(value, primitives):
                    setattr(cell, name, _HalfPrimitive(value, dtype))
    return network


def _black(network, listed, dtype):
    network.to_float(dtype)
    for cell in _walk(network, _cells_of(listed), []):
        _inside(cell, mstype.float32, dtype)
    return _inside_out(network)


def _inside_out(network):
    network.__dict__["_ms_out"] = mstype.float32
    network._refresh_plain()
    return network


def _auto(network, dtype):
    if isinstance(network, Cell):
        network.__dict__["_ms_autocast"] = dtype
        network._refresh_plain()
        return network

    @functools.wraps(network)
    def half(*args, **kwargs):
        with autocast(dtype):
            return _callee(network)(*args, **kwargs)
    return half


def auto_mixed_precision(network, amp_level="O0", dtype=mstype.float16):
    """Sets the precision of the Cells of ``network`` and returns it; of a function, at level auto, gives another function.

    O0 nothing; O1 the white list in ``dtype``; O2 everything but the black list; O3 everything; auto, for every operator
    that runs inside: convolutions and products in ``dtype``, exponentials, sums and norms in float32, the rest in what reaches it.
    """
    if not isinstance(network, Cell) and not (callable(network) and amp_level == "auto"):
        raise TypeError(f"The network type should be Cell, or a function at level auto, but got {type(network)}.")
    _check_dtype(dtype)
    if amp_level == "O0":
        return network
    if amp_level not in ("O1", "O2", "O3", "auto"):
        raise ValueError(f"The amp level {amp_level} is not supported")
    if amp_level == "O1":
        return _white(network, get_white_list(), dtype)
    if amp_level == "O2":
        return _black(network, get_black_list(), dtype)
    if amp_level == "O3":
        network.to_float(dtype)
        return _inside_out(network)
    return _auto(network, dtype)


def custom_mixed_precision(network, *, white_list=None, black_list=None, dtype=mstype.float16):
    """Half precision for the Cells and primitives of ``white_list``, or for all but the Cells of ``black_list``."""
    if not isinstance(network, Cell):
        raise TypeError(f"The network type should be Cell, but got {type(network)}.")
    _check_dtype(dtype)
    if white_list is None and black_list is None:
        raise ValueError("For custom_mixed_precision, one of white_list and black_list must be provided.")
    if white_list is not None and black_list is not None:
        raise ValueError("For custom_mixed_precision, white_list or black_list cannot be provided at the same time, please "
                         "provide one or the other.")
    name, listed = ("white_list", white_list) if white_list is not None else ("black_list", black_list)
    if not isinstance(listed, list):
        raise TypeError(f"The type of {name} should be list, but got {type(listed)}")
    for item in listed:
        if not isinstance(item, type):
            raise TypeError(f"The element in {name} should be a Cell class or a Primitive class, but got {item}.")
    return _white(network, listed, dtype) if white_list is not None else _black(network, listed, dtype)


class _WithLossFloat32(nn.WithLossCell):
    """A loss of float32 outputs and labels."""

    def construct(self, data, label):
        return self._loss_fn(*ops.mixed_precision_cast(mstype.float32, (self._backbone(data), label)))


_OPTIONS = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")


def build_train_network(network, optimizer, loss_fn=None, level="O0", boost_level="O0", **kwargs):
    """A training step for the network with this mixed precision, loss and loss scale manager."""
    if not isinstance(optimizer, nn.Optimizer):
        raise TypeError(f"For 'build_train_network', the 'optimizer' must be an Optimizer, but got {type(optimizer)}.")
    if not isinstance(network, Cell):
        raise TypeError(f"For 'build_train_network', the 'network' must be a Cell, but got {type(network)}.")
    if level not in ("O0", "O1", "O2", "O3", "auto"):
        raise ValueError(f"For 'build_train_network', the 'level' must be in ['O0', 'O1', 'O2', 'O3', 'auto'], but got {level}.")
    if boost_level != "O0":
        raise ValueError(f"For 'build_train_network', 'boost_level' {boost_level} is not supported: there is no 'boost'.")
    unknown = [k for k in kwargs if k not in _OPTIONS]
    if unknown:
        raise ValueError(f"The type of the '{unknown[0]}' is not supported, it must be in {list(_OPTIONS)}.")
    keep, cast = kwargs.get("keep_batchnorm_fp32"), kwargs.get("cast_model_type")
    if keep is not None and not isinstance(keep, bool):
        raise TypeError(f"For 'build_train_network', the 'keep_batchnorm_fp32' must be bool, but got {type(keep)}.")
    if cast is not None:
        if cast == mstype.float16:
            network.to_float(mstype.float16)
    else:
        network = auto_mixed_precision(network, level)
    if keep and (level == "O3" or cast is not None):
        for cell in _walk(network, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d), []):
            _inside(cell, mstype.float32, mstype.float16)
    if loss_fn is not None:
        half = level in ("O2", "O3", "auto") or cast == mstype.float16
        network = _WithLossFloat32(network, loss_fn) if half else nn.WithLossCell(network, loss_fn)
    scale, manager = 1.0, kwargs.get("loss_scale_manager")
    if manager is not None:
        scale, update = manager.get_loss_scale(), manager.get_update_cell()
        if update is not None:
            return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update).set_train()
    return nn.TrainOneStepCell(network, optimizer, scale).set_train()
