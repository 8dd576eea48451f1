"""The context: execution mode, device, seeds, and options that existing scripts set."""
import os
import sys

from mindspore import _c

GRAPH_MODE, PYNATIVE_MODE = 0, 1
STRICT, COMPATIBLE, LAX = 0, 1, 2

# Known options and their defaults. Those that steer other back ends are stored and have no effect here.
_options = {
    'mode': PYNATIVE_MODE, 'device_target': 'CPU', 'device_id': 0, 'jit_level': 'O1', 'jit_config': {},
    'pynative_synchronize': True, 'deterministic': 'ON', 'enable_graph_kernel': False, 'graph_kernel_flags': '',
    'save_graphs': False, 'save_graphs_path': '.', 'max_call_depth': 1000, 'max_device_memory': '1024GB',
    'mempool_block_size': '1GB', 'memory_optimize_level': 'O0', 'memory_offload': 'OFF', 'precompile_only': False,
    'reserve_class_name_in_scope': True, 'enable_compile_cache': False, 'compile_cache_path': '', 'runtime_num_threads': 0,
    'inter_op_parallel_num': 0, 'ascend_config': {}, 'gpu_config': {}, 'print_file_path': '', 'env_config_path': '',
    'check_bprop': False, 'grad_for_scalar': False, 'debug_level': 0, 'jit_syntax_level': LAX, 'aoe_tune_mode': '',
    'aoe_config': {}, 'exec_order': 'bfs', 'support_binary': False, 'op_timeout': 900, 'disable_format_transform': False,
    'parameter_broadcast': True, 'graph_memory_max_size': '0', 'variable_memory_max_size': '0',
}
_seed = None


class ParallelMode:
    """Names of the ways to distribute a network."""
    STAND_ALONE = 'stand_alone'
    DATA_PARALLEL = 'data_parallel'
    HYBRID_PARALLEL = 'hybrid_parallel'
    SEMI_AUTO_PARALLEL = 'semi_auto_parallel'
    AUTO_PARALLEL = 'auto_parallel'
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


class JitConfig:
    """Options of compilation for a Cell."""

    def __init__(self, jit_level='', exc_mode='auto', jit_syntax_level='', debug_level='RELEASE', infer_boost='off',
                 **kwargs):
        if jit_level not in ('', 'O0', 'O1', 'O2'):
            raise ValueError(f"For 'JitConfig', the 'jit_level' must be in ['O0', 'O1', 'O2'], but got {jit_level}.")
        if exc_mode not in ('auto', 'sink', 'no_sink'):
            raise ValueError(f"For 'JitConfig', the 'exc_mode' must be in ['auto', 'sink', 'no_sink'], but got {exc_mode}.")
        self.jit_config_dict = dict(kwargs, jit_level=jit_level, exc_mode=exc_mode, jit_syntax_level=jit_syntax_level,
                                    debug_level=debug_level, infer_boost=infer_boost)


def _check(key, value):
    if key not in _options:
        raise ValueError(f"For 'context.set_context', the keyword argument {key} is not recognized! For detailed usage of "
                         f"'set_context', please refer to its documentation.")
    if key == 'mode' and (value not in (GRAPH_MODE, PYNATIVE_MODE) or isinstance(value, bool)):
        raise ValueError("For 'context.set_context', the argument 'mode' should be context.GRAPH_MODE (0) or "
                         f"context.PYNATIVE_MODE (1), but got {value}.")
    if key == 'device_target' and value != 'CPU':
        raise ValueError(f"For 'context.set_context', the argument 'device_target' must be 'CPU', but got {value}.")


def _set_runner(mode):
    """In Graph mode an outermost Cell runs as a graph."""
    if mode == GRAPH_MODE or 'mindspore.nn.cell' in sys.modules:
        from mindspore.nn import cell
        from mindspore.jit import call_cell
        cell.graph_runner = call_cell if mode == GRAPH_MODE else None


def set_context(**kwargs):
    """Sets options: mode, device_target, ...; see get_context."""
    for key, value in kwargs.items():
        _check(key, value)
    for key, value in kwargs.items():
        _options[key] = value
        if key == 'mode':
            _set_runner(value)
        if key == 'runtime_num_threads':
            _c.set_thread_count(value or os.cpu_count() or 1)


def get_context(attr_key):
    """The value of an option."""
    if attr_key not in _options:
        raise ValueError(f"For 'context.get_context', the argument {attr_key} is not recognized!")
    return _options[attr_key]


def set_seed(seed):
    """Seeds numpy's global generator, the dataset pipeline and the operators."""
    global _seed
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"For 'set_seed', the argument 'seed' must be int, but got {type(seed).__name__}.")
    if seed < 0:
        raise ValueError(f"For 'set_seed', the argument 'seed' must be not negative, but got {seed}.")
    import numpy
    numpy.random.seed(seed)
    _c.random_seed(seed)
    _seed = seed
    import importlib.util
    if importlib.util.find_spec('mindspore.dataset'):
        from mindspore import dataset
        dataset.config.set_seed(seed)


def get_seed():
    """The seed that set_seed was given, or None."""
    return _seed
