"""Groups of processes. There is one process: rank 0 of 1 in every group.

A launcher that asks for more (RANK_SIZE, MS_WORKER_NUM, OMPI_COMM_WORLD_SIZE) is refused by ``init``, so that no
program believes that it was split.
"""
import os

__all__ = ["GlobalComm", "HCCL_WORLD_COMM_GROUP", "NCCL_WORLD_COMM_GROUP", "MCCL_WORLD_COMM_GROUP", "init", "release", "get_rank",
           "get_group_size", "get_local_rank", "get_local_rank_size", "create_group", "destroy_group", "get_world_rank_from_group_rank",
           "get_group_rank_from_world_rank", "get_process_group_ranks", "get_comm_name", "check_member"]

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"
_WORLD = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
_groups = set()


class GlobalComm:
    """What ``init`` has chosen."""

    BACKEND = "mccl"
    WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


def _launched():
    """(variable, number of processes) that a launcher asked for."""
    for name in ("RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 1:
            return name, int(value)
    return None, 1


def init(backend_name=None):
    """Begins communication; with one process there is nothing to connect."""
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', the argument 'backend_name' must be a string, but got the type : {type(backend_name)}")
    if backend_name not in (None, "hccl", "nccl", "mccl"):
        raise RuntimeError(f"For 'init', the argument 'backend_name' must be one of 'hccl', 'nccl' and 'mccl', but got '{backend_name}'.")
    name, size = _launched()
    if size > 1:
        raise RuntimeError(f"For 'init', the launcher asks for {size} processes ({name}), but only one process is supported.")
    GlobalComm.BACKEND = backend_name or "mccl"
    GlobalComm.WORLD_COMM_GROUP = f"{GlobalComm.BACKEND}_world_group"
    GlobalComm.INITED = True


def release():
    """Ends communication and forgets all groups."""
    _groups.clear()
    GlobalComm.INITED = False


def check_member(group, who="get_rank"):
    """Raises unless the group exists."""
    if group is None:
        return
    if not isinstance(group, str):
        raise TypeError(f"For '{who}', the argument 'group' must be type of string, but got 'group' type : {type(group)}.")
    if group not in _WORLD and group not in _groups:
        raise ValueError(f"For '{who}', the group '{group}' does not exist; create it with 'create_group'.")


def get_rank(group=None):
    """The rank of this process in a group: 0."""
    check_member(group, "get_rank")
    return 0


def get_group_size(group=None):
    """How many processes a group has: 1."""
    check_member(group, "get_group_size")
    return 1


def get_local_rank(group=None):
    """The rank among the processes of this machine: 0."""
    check_member(group, "get_local_rank")
    return 0


def get_local_rank_size(group=None):
    """How many processes of a group this machine runs: 1."""
    check_member(group, "get_local_rank_size")
    return 1


def _rank(who, name, value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{who}', the argument '{name}' must be type of int, but got '{name}' type : {type(value)}.")
    if value != 0:
        raise ValueError(f"For '{who}', the argument '{name}' must be 0, the rank of the only process, but got {value}.")
    return 0


def get_world_rank_from_group_rank(group, group_rank_id):
    """The rank in the world of the process with a rank in a group."""
    check_member(group, "get_world_rank_from_group_rank")
    return _rank("get_world_rank_from_group_rank", "group_rank_id", group_rank_id)


def get_group_rank_from_world_rank(world_rank_id, group):
    """The rank in a group of the process with a rank in the world."""
    check_member(group, "get_group_rank_from_world_rank")
    return _rank("get_group_rank_from_world_rank", "world_rank_id", world_rank_id)


def create_group(group, rank_ids, options=None):
    """A group of the given ranks, which can only be [0]."""
    if not isinstance(group, str):
        raise TypeError(f"For 'create_group', the argument 'group' must be type of string, but got 'group' type : {type(group)}.")
    if not group:
        raise ValueError("For 'create_group', the argument 'group' must not be empty.")
    if not isinstance(rank_ids, list):
        raise TypeError(f"For 'create_group', the argument 'rank_ids' must be type of list, but got 'rank_ids' type : {type(rank_ids)}.")
    if not rank_ids:
        raise ValueError("For 'create_group', the argument 'rank_ids' size should be greater than 0, but got 'rank_ids' size : 0.")
    if len(set(rank_ids)) != len(rank_ids):
        raise ValueError("List rank_ids in Group has duplicate elements!")
    for rank in rank_ids:
        _rank("create_group", "rank_ids", rank)
    _groups.add(group)


def destroy_group(group):
    """Forgets a group that was created."""
    if not isinstance(group, str):
        raise TypeError(f"For 'destroy_group', the argument 'group' must be type of string, but got 'group' type : {type(group)}.")
    if group in _WORLD:
        raise ValueError(f"For 'destroy_group', the world group '{group}' cannot be destroyed.")
    check_member(group, "destroy_group")
    _groups.discard(group)


def get_process_group_ranks(group=None):
    """The ranks of a group: [0]."""
    check_member(group, "get_process_group_ranks")
    return [0]


def get_comm_name(group=None):
    """The name of a group's communicator: the group's."""
    check_member(group, "get_comm_name")
    return group or GlobalComm.WORLD_COMM_GROUP
