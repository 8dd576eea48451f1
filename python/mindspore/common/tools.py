"""run_check, set_recursion_limit, swap_tensors, set_dump and ms_memory_recycle."""
import sys
import warnings

from mindspore import _c
from mindspore._c import Tensor

__all__ = ["run_check", "set_recursion_limit", "swap_tensors", "set_dump", "ms_memory_recycle"]


def run_check():
    """Multiplies on the device and says whether the result is right."""
    print("MindSpore version: ", _c.version())
    product = (Tensor([[1., 2.], [3., 4.]]) @ Tensor([[2., 0.], [1., 3.]])).tolist()
    if product != [[4., 6.], [10., 12.]]:
        raise RuntimeError(f"The result of multiplication calculation is wrong: {product}.")
    print("The result of multiplication calculation is correct, MindSpore has been installed on platform [CPU] successfully!")


def set_recursion_limit(recursion_limit=1000):
    """How deep calls may nest while a graph is compiled: compiling calls Python functions, so it is Python's limit."""
    if not isinstance(recursion_limit, int) or isinstance(recursion_limit, bool):
        raise TypeError(f"For 'set_recursion_limit', the 'recursion_limit' must be int, but got {type(recursion_limit).__name__}.")
    if recursion_limit <= 0:
        raise ValueError(f"For 'set_recursion_limit', the 'recursion_limit' must be positive, but got {recursion_limit}.")
    sys.setrecursionlimit(max(recursion_limit, 1000))


def ms_memory_recycle():
    """Gives memory that nothing uses any more back to the system, that of dropped networks with cycles too."""
    import gc
    from mindspore import runtime
    gc.collect()
    runtime.empty_cache()


def swap_tensors(t1, t2):
    """Exchanges data and attributes of two Tensors of one class; who refers to one sees what the other was."""
    for t in (t1, t2):
        if not isinstance(t, Tensor):
            raise TypeError(f"For 'swap_tensors', the arguments must be Tensors, but got {type(t).__name__}.")
    if type(t1) is not type(t2):
        raise RuntimeError(f"For 'swap_tensors', the classes must be one, but got {type(t1).__name__} and {type(t2).__name__}.")
    other = Tensor.assign_value(Tensor.__new__(Tensor, 0), t1)
    Tensor.assign_value(t1, t2)
    Tensor.assign_value(t2, other)
    if hasattr(t1, "__dict__"):
        first = dict(vars(t1))
        vars(t1).clear()
        vars(t1).update(vars(t2))
        vars(t2).clear()
        vars(t2).update(first)


def set_dump(target, enabled=True):
    """Marks a Cell, with the operators and Cells in it, or a Primitive as one whose data devices write out. Only Ascend devices do:
    on the CPU the mark is kept and a warning says so."""
    from mindspore import context
    from mindspore.nn.cell import Cell
    from mindspore.ops.primitive import Primitive
    if not isinstance(target, (Cell, Primitive)):
        raise ValueError(f"The \"target\" parameter must be an instance of Cell or Primitive, but got an instance of {type(target)}.")
    if not isinstance(enabled, bool):
        raise ValueError(f"The \"enabled\" parameter must be bool, but got {type(enabled)}.")
    warnings.warn("Current device_target is CPU. Only Ascend device target is supported currently: nothing is dumped.", stacklevel=2)
    if context.get_context("mode") != context.GRAPH_MODE:
        warnings.warn("Current mode is PYNATIVE_MODE. Only GRAPH_MODE is supported currently.", stacklevel=2)
    if isinstance(target, Primitive):
        target.add_prim_attr("dump", "true" if enabled else "false")
        return
    target.add_flags_recursive(dump=enabled)
    for _, cell in target.cells_and_names():
        for value in vars(cell).values():
            if isinstance(value, Primitive):
                value.add_prim_attr("dump", "true" if enabled else "false")
