"""PyTorch-shaped collectives of one process: rank 0 of 1. Results are written into the Tensors and lists that are given."""
import threading
from datetime import timedelta

from mindspore._c import Tensor
from mindspore.communication import management as _m
from mindspore.communication.comm_func import CommHandle, P2POp, batch_isend_irecv, check, irecv, isend, recv, send

__all__ = ["P2POp", "TCPStore", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object", "all_reduce",
           "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group",
           "gather", "gather_object", "get_backend", "get_global_rank", "get_group_rank", "get_process_group_ranks", "get_rank",
           "get_world_size", "init_process_group", "irecv", "is_available", "is_initialized", "isend", "new_group", "recv",
           "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_tensor_uneven", "scatter",
           "scatter_object_list", "send", "send_object_list"]


# ---- groups ----

def is_available():
    """Whether collectives exist: they do, of one process."""
    return True


def is_initialized():
    return _m.GlobalComm.INITED


def init_process_group(backend="hccl", init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
                       device_id=None):
    """Begins communication; a world of more than this process is refused, and so is an address where others would wait."""
    who = "init_process_group"
    for name, value, allowed in (("world_size", world_size, (-1, 1)), ("rank", rank, (-1, 0))):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"For '{who}', the '{name}' must be int, but got {type(value).__name__}.")
        if value not in allowed:
            raise ValueError(f"For '{who}', the '{name}' must be in {allowed} for the only process, but got {value}.")
    if init_method is not None and store is not None:
        raise ValueError(f"For '{who}', only one of 'init_method' and 'store' may be given.")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"For '{who}', the 'timeout' must be a timedelta, but got {type(timeout).__name__}.")
    if is_initialized():
        raise RuntimeError(f"For '{who}', communication is initialized already.")
    _m.init(backend)


def destroy_process_group(group=None):
    """Forgets a group, or all of them and ends communication."""
    if group is None or group == _m.GlobalComm.WORLD_COMM_GROUP:
        _m.release()
    else:
        _m.destroy_group(group)


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None):
    """The name of a new group of the given ranks, [0]; '' for a group without this process."""
    if ranks is not None and not isinstance(ranks, list):
        raise TypeError(f"For 'new_group', the 'ranks' must be a list, but got {type(ranks).__name__}.")
    if ranks is not None and 0 not in ranks:
        for rank in ranks:
            check("new_group", None, ranks=(rank,))
        return ""
    name = group_desc or f"group_{next(_numbers)}"
    _m.create_group(name, ranks or [0])
    return name


_numbers = iter(range(1, 1 << 62))
get_rank, get_process_group_ranks = _m.get_rank, _m.get_process_group_ranks


def get_world_size(group=None):
    """How many processes a group has: 1."""
    return _m.get_group_size(group)


def get_backend(group=None):
    """The name of what carries messages."""
    check("get_backend", group)
    return _m.GlobalComm.BACKEND


def get_global_rank(group, group_rank):
    return _m.get_world_rank_from_group_rank(group, group_rank)


def get_group_rank(group, global_rank):
    return _m.get_group_rank_from_world_rank(global_rank, group)


class TCPStore:
    """Keys and values that processes share; the only process holds them itself."""

    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=timedelta(seconds=300), wait_for_workers=True,
                 multi_tenant=False, master_listen_fd=None, use_libuv=True):
        for name, value, kind in (("host_name", host_name, str), ("port", port, int), ("is_master", is_master, bool),
                                  ("timeout", timeout, timedelta), ("wait_for_workers", wait_for_workers, bool)):
            if not isinstance(value, kind):
                raise TypeError(f"For 'TCPStore', the '{name}' must be {kind.__name__}, but got {type(value).__name__}.")
        if not 0 <= port <= 65535:
            raise ValueError(f"For 'TCPStore', the 'port' must be in [0, 65535], but got {port}.")
        if not is_master or (world_size or 1) > 1:
            raise RuntimeError("For 'TCPStore', the only process must be the master of a world of 1.")
        self._data, self._lock, self._timeout = {}, threading.Condition(), timeout.total_seconds()

    @staticmethod
    def _key(key):
        if not isinstance(key, str):
            raise TypeError(f"For 'TCPStore', the 'key' must be str, but got {type(key).__name__}.")
        return key

    def set(self, key, value):
        """Keeps text or bytes."""
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"For 'TCPStore', the 'value' must be str or bytes, but got {type(value).__name__}.")
        with self._lock:
            self._data[self._key(key)] = value.encode() if isinstance(value, str) else value
            self._lock.notify_all()

    def get(self, key):
        """The bytes of a key; waits for it until the timeout."""
        with self._lock:
            if not self._lock.wait_for(lambda: self._key(key) in self._data, self._timeout):
                raise TimeoutError(f"For 'TCPStore', nobody has set '{key}' within {self._timeout} s.")
            return self._data[key]

    def add(self, key, amount):
        """Adds to a counter, which begins at 0, and gives it."""
        if isinstance(amount, bool) or not isinstance(amount, int):
            raise TypeError(f"For 'TCPStore', the 'amount' must be int, but got {type(amount).__name__}.")
        with self._lock:
            total = int(self._data.get(self._key(key), b"0")) + amount
            self._data[key] = str(total).encode()
            self._lock.notify_all()
            return total

    def delete_key(self, key):
        """Whether the key was there."""
        with self._lock:
            return self._data.pop(self._key(key), None) is not None


# ---- collectives ----

def _tensors(who, **tensors):
    for name, t in tensors.items():
        if not isinstance(t, Tensor):
            raise TypeError(f"For '{who}', the '{name}' must be Tensor, but got {type(t).__name__}.")


def _one(who, name, items):
    """The only element of a list with one part per process."""
    if not isinstance(items, (list, tuple)):
        raise TypeError(f"For '{who}', the '{name}' must be a list, but got {type(items).__name__}.")
    if len(items) != 1:
        raise ValueError(f"For '{who}', the '{name}' must have one element per process, 1, but got {len(items)}.")
    return items[0]


def _sizes(who, name, sizes, tensor):
    if sizes is not None and list(sizes) != [tensor.shape[0]]:
        raise ValueError(f"For '{who}', the '{name}' must be [{tensor.shape[0]}] for one process, but got {list(sizes)}.")


def _write(who, to, value):
    _tensors(who, output=to, input=value)
    if to.shape != value.shape or to.dtype != value.dtype:
        raise ValueError(f"For '{who}', the output must be {value.dtype} of shape {value.shape}, but got {to.dtype} of shape {to.shape}.")
    if to is not value:
        to.assign_value(value)


def _ended(async_op):
    """What an asynchronous call gives: it has ended."""
    if not isinstance(async_op, bool):
        raise TypeError(f"The argument 'async_op' must be bool, but got {type(async_op).__name__}.")
    return CommHandle() if async_op else None


def barrier(group=None, async_op=False, device_ids=None):
    check("barrier", group)
    return _ended(async_op)


def all_reduce(tensor, op="sum", group=None, async_op=False):
    check("all_reduce", group, op)
    _tensors("all_reduce", tensor=tensor)
    return _ended(async_op)


def reduce(tensor, dst, op="sum", group=None, async_op=False):
    check("reduce", group, op, (dst,))
    _tensors("reduce", tensor=tensor)
    return _ended(async_op)


def broadcast(tensor, src, group=None, async_op=False):
    check("broadcast", group, ranks=(src,))
    _tensors("broadcast", tensor=tensor)
    return _ended(async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    check("all_gather", group)
    _write("all_gather", _one("all_gather", "tensor_list", tensor_list), tensor)
    return _ended(async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    check("all_gather_into_tensor", group)
    _write("all_gather_into_tensor", output_tensor, input_tensor)
    return _ended(async_op)


def all_gather_into_tensor_uneven(output, input, output_split_sizes=None, group=None, async_op=False):
    check("all_gather_into_tensor_uneven", group)
    _sizes("all_gather_into_tensor_uneven", "output_split_sizes", output_split_sizes, input)
    _write("all_gather_into_tensor_uneven", output, input)
    return _ended(async_op)


def gather(tensor, gather_list, dst=0, group=None, async_op=False):
    check("gather", group, ranks=(dst,))
    _write("gather", _one("gather", "gather_list", gather_list), tensor)
    return _ended(async_op)


def scatter(tensor, scatter_list, src=0, group=None, async_op=False):
    check("scatter", group, ranks=(src,))
    _write("scatter", tensor, _one("scatter", "scatter_list", scatter_list))
    return _ended(async_op)


def reduce_scatter(output, input_list, op="sum", group=None, async_op=False):
    check("reduce_scatter", group, op)
    _write("reduce_scatter", output, _one("reduce_scatter", "input_list", input_list))
    return _ended(async_op)


def reduce_scatter_tensor(output, input, op="sum", group=None, async_op=False):
    check("reduce_scatter_tensor", group, op)
    _write("reduce_scatter_tensor", output, input)
    return _ended(async_op)


def reduce_scatter_tensor_uneven(output, input, input_split_sizes=None, op="sum", group=None, async_op=False):
    check("reduce_scatter_tensor_uneven", group, op)
    _sizes("reduce_scatter_tensor_uneven", "input_split_sizes", input_split_sizes, input)
    _write("reduce_scatter_tensor_uneven", output, input)
    return _ended(async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    check("all_to_all", group)
    _write("all_to_all", _one("all_to_all", "output_tensor_list", output_tensor_list),
           _one("all_to_all", "input_tensor_list", input_tensor_list))
    return _ended(async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    check("all_to_all_single", group)
    _sizes("all_to_all_single", "output_split_sizes", output_split_sizes, output)
    _sizes("all_to_all_single", "input_split_sizes", input_split_sizes, input)
    _write("all_to_all_single", output, input)
    return _ended(async_op)


# ---- Python objects ----

def all_gather_object(object_list, obj, group=None):
    check("all_gather_object", group)
    _one("all_gather_object", "object_list", object_list)
    object_list[0] = obj


def gather_object(obj, object_gather_list=None, dst=0, group=None):
    check("gather_object", group, ranks=(dst,))
    _one("gather_object", "object_gather_list", object_gather_list)
    object_gather_list[0] = obj


def broadcast_object_list(object_list, src=0, group=None, device=None):
    check("broadcast_object_list", group, ranks=(src,))
    if not isinstance(object_list, list):
        raise TypeError(f"For 'broadcast_object_list', the 'object_list' must be a list, but got {type(object_list).__name__}.")


def scatter_object_list(scatter_object_output_list, scatter_object_input_list, src=0, group=None):
    check("scatter_object_list", group, ranks=(src,))
    _one("scatter_object_list", "scatter_object_output_list", scatter_object_output_list)
    scatter_object_output_list[0] = _one("scatter_object_list", "scatter_object_input_list", scatter_object_input_list)


def send_object_list(object_list, dst=0, group=None, device=None):
    send(object_list, dst, group)


def recv_object_list(object_list, src=0, group=None, device=None):
    recv(object_list, src, group)
