"""Collective functions of one process: each gives a copy of its input, where one is asked for with a handle."""
from mindspore._c import Tensor
from mindspore.communication.management import check_member

__all__ = ["CommHandle", "P2POp", "all_gather_into_tensor", "all_reduce", "all_to_all_single_with_output_shape", "all_to_all_with_output_shape",
           "all_to_all_v_c", "barrier", "batch_isend_irecv", "broadcast", "gather_into_tensor", "irecv", "isend", "recv", "reduce",
           "reduce_scatter_tensor", "scatter_tensor", "send"]

_REDUCTIONS = ("sum", "max", "min", "prod")


class CommHandle:
    """The end of an asynchronous call, which has been reached."""

    def wait(self):
        """Waits for nothing."""


def check(who, group, op=None, ranks=(), sizes=()):
    """Raises where one process cannot do what is asked."""
    check_member(group, who)
    if op is not None and not isinstance(op, str):
        raise TypeError(f"For '{who}', the type of 'op' must be str, but got {type(op).__name__}.")
    if op is not None and op not in _REDUCTIONS:
        raise ValueError(f"For '{who}', the 'op' must be in {list(_REDUCTIONS)}, but got '{op}'.")
    for rank in ranks:
        if isinstance(rank, bool) or not isinstance(rank, int):
            raise TypeError(f"For '{who}', a rank must be int, but got {type(rank).__name__}.")
        if rank != 0:
            raise ValueError(f"For '{who}', the only rank is 0, but got {rank}.")
    for size in sizes:
        if size != 1:
            raise ValueError(f"For '{who}', the group has 1 member, but {size} parts are asked for.")


def _copy(who, tensor):
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For '{who}', the input must be Tensor, but got {type(tensor).__name__}.")
    return tensor.copy()


def _with_handle(result, async_op):
    if not isinstance(async_op, bool):
        raise TypeError(f"The argument 'async_op' must be bool, but got {type(async_op).__name__}.")
    return result, CommHandle() if async_op else None


def all_reduce(tensor, op="sum", group=None, async_op=False):
    check("all_reduce", group, op)
    return _with_handle(_copy("all_reduce", tensor), async_op)


def all_gather_into_tensor(tensor, group=None, async_op=False):
    check("all_gather_into_tensor", group)
    return _with_handle(_copy("all_gather_into_tensor", tensor), async_op)


def reduce_scatter_tensor(tensor, op="sum", group=None, async_op=False):
    check("reduce_scatter_tensor", group, op)
    return _with_handle(_copy("reduce_scatter_tensor", tensor), async_op)


def all_to_all_with_output_shape(output_shape_list, input_tensor_list, group=None, async_op=False):
    check("all_to_all_with_output_shape", group, sizes=(len(input_tensor_list), len(output_shape_list)))
    shape = output_shape_list[0]
    result = _copy("all_to_all_with_output_shape", input_tensor_list[0]).reshape(getattr(shape, "shape", shape))
    return _with_handle((result,), async_op)


def all_to_all_single_with_output_shape(output_shape, tensor, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    check("all_to_all_single_with_output_shape", group, sizes=[len(s) for s in (output_split_sizes, input_split_sizes) if s])
    shape = getattr(output_shape, "shape", output_shape)
    return _with_handle(_copy("all_to_all_single_with_output_shape", tensor).reshape(shape), async_op)


def all_to_all_v_c(output, input, send_count_matrix, group=None, async_op=False):
    check("all_to_all_v_c", group)
    output.assign_value(_copy("all_to_all_v_c", input).reshape(output.shape))
    return _with_handle(None, async_op)[1]


def barrier(group=None):
    check("barrier", group)


def broadcast(tensor, src=0, group=None):
    check("broadcast", group, ranks=(src,))
    return _copy("broadcast", tensor)


def reduce(tensor, dst, op="sum", group=None):
    check("reduce", group, op, (dst,))
    return _copy("reduce", tensor)


def gather_into_tensor(tensor, dst=0, group=None):
    check("gather_into_tensor", group, ranks=(dst,))
    return _copy("gather_into_tensor", tensor)


def scatter_tensor(tensor, src=0, group=None):
    check("scatter_tensor", group, ranks=(src,))
    return _copy("scatter_tensor", tensor)


def _refuse(who):
    raise RuntimeError(f"For '{who}', there is no other process to exchange a Tensor with.")


def send(tensor, dst=0, group=None, tag=0):
    _refuse("send")


def recv(tensor, src=0, group=None, tag=0):
    _refuse("recv")


def isend(tensor, dst=0, group=None, tag=0):
    _refuse("isend")


def irecv(tensor, src=0, group=None, tag=0):
    _refuse("irecv")


class P2POp:
    """One exchange for ``batch_isend_irecv``."""

    def __init__(self, op, tensor, peer, group=None, tag=0, *, recv_dtype=None):
        if op not in (isend, irecv, "isend", "irecv"):
            raise TypeError(f"For 'P2POp', the 'op' must be isend or irecv, but got {op}.")
        self.op, self.tensor, self.peer, self.group, self.tag, self.recv_dtype = op, tensor, peer, group, tag, recv_dtype


def batch_isend_irecv(p2p_op_list):
    if not isinstance(p2p_op_list, (list, tuple)) or not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise TypeError("For 'batch_isend_irecv', the 'p2p_op_list' must be a list of P2POp that is not empty.")
    _refuse("batch_isend_irecv")
