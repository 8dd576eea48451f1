"""The context: execution mode, device, seeds, and options that existing scripts set."""
import os
import re
from collections import namedtuple

from mindspore import _c

GRAPH_MODE, PYNATIVE_MODE = 0, 1
STRICT, COMPATIBLE, LAX = 0, 1, 2

# Known options and their defaults. Those that steer other back ends are stored and have no effect here.
_options = {
    'mode': PYNATIVE_MODE, 'device_target': 'CPU', 'device_id': 0, 'jit_level': 'O1', 'jit_config': {},
    'pynative_synchronize': True, 'deterministic': 'ON', 'enable_ge': False, 'enable_reduce_precision': True,
    'enable_profiling': False, 'enable_debug_runtime': False, 'enable_parallel_split': False, 'profiling_options': 'training_trace',
    'aoe_job_type': '2', 'topo_order': '', 'enable_graph_kernel': False,
    'graph_kernel_flags': '', 'save_graphs': False, 'save_graphs_path': '.', 'max_call_depth': 1000, 'max_device_memory': '1024GB',
    'mempool_block_size': '1GB', 'memory_optimize_level': 'O0', 'memory_offload': 'OFF', 'precompile_only': False,
    'reserve_class_name_in_scope': True, 'enable_compile_cache': False, 'compile_cache_path': '', 'runtime_num_threads': 0,
    'inter_op_parallel_num': 0, 'ascend_config': {}, 'gpu_config': {}, 'print_file_path': '', 'env_config_path': '',
    'check_bprop': False, 'grad_for_scalar': False, 'debug_level': 0, 'jit_syntax_level': LAX, 'aoe_tune_mode': '',
    'aoe_config': {}, 'exec_order': 'bfs', 'support_binary': False, 'op_timeout': 900, 'disable_format_transform': False,
    'parameter_broadcast': True, 'graph_memory_max_size': '0', 'variable_memory_max_size': '0',
}
# Fusion of eager chains, say '--opt_level=1 --min_elements=4096' in the environment; 'enable_graph_kernel' switches it.
_flags = dict(flag.lstrip('-').split('=', 1) for flag in os.environ.get('MS_DEV_PYNATIVE_FUSION_FLAGS', '').split() if '=' in flag)
_fused_elements = max(1, int(_flags.get('min_elements', 16384)))
_options['enable_graph_kernel'] = _flags.get('opt_level', '1') != '0'
_c.lazy(_fused_elements if _options['enable_graph_kernel'] else 0)
_TYPES = {**{key: type(value) for key, value in _options.items()}, 'save_graphs': (bool, int)}
_READ = {'max_device_memory': lambda value: float(value[:-2]), 'mempool_block_size': lambda value: float(value[:-2]),
         'memory_optimize_level': lambda value: int(value[1:]), 'save_graphs': lambda value: 2 if value is True else int(value)}
_CHOICES = {'deterministic': ('ON', 'OFF'), 'exec_order': ('bfs', 'dfs'), 'memory_optimize_level': ('O0', 'O1'),
            'jit_syntax_level': (STRICT, COMPATIBLE, LAX)}
_seed = None
_DeviceInfo = namedtuple('_DeviceInfo', ['device_target', 'device_id'])


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
    if key == 'enable_ge':
        raise AttributeError("For 'context.set_context', the option 'enable_ge' can only be read.")
    if not isinstance(value, _TYPES[key]):
        raise TypeError(f"The parameter '{key}' must be {_TYPES[key]}, but got {type(value)}")
    if value not in _CHOICES.get(key, (value,)):
        raise ValueError(f"For 'context.set_context', the argument '{key}' must be one of {list(_CHOICES[key])}, but got {value}.")
    if key in ('max_call_depth', 'runtime_num_threads', 'inter_op_parallel_num') and value < (key == 'max_call_depth'):
        raise ValueError(f"For 'context.set_context', the argument '{key}' must be at least {int(key == 'max_call_depth')}, but got "
                         f"{value}.")
    if key in ('max_device_memory', 'mempool_block_size') and not re.fullmatch(r'\d+(\.\d+)?GB', value):
        raise ValueError(f"For 'context.set_context', the argument '{key}' must be a text like '3.5GB', but got {value}.")
    if key == 'mode' and (value not in (GRAPH_MODE, PYNATIVE_MODE) or isinstance(value, bool)):
        raise ValueError("For 'context.set_context', the argument 'mode' should be context.GRAPH_MODE (0) or "
                         f"context.PYNATIVE_MODE (1), but got {value}.")
    if key == 'device_id' and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 4096):
        raise ValueError(f"For 'context.set_context', the argument 'device_id' must be in range [0, 4095], but got {value}.")
    if key == 'save_graphs' and value not in (0, 1, 2, 3):
        raise ValueError(f"For 'context.set_context', the argument 'save_graphs' must be a bool or in [0, 1, 2, 3], but got {value}.")
    if key == 'device_target' and value != 'CPU':
        raise ValueError(f"For 'context.set_context', the argument 'device_target' must be 'CPU', but got {value}.")


def set_context(**kwargs):
    """Sets options: mode, device_target, ...; see get_context."""
    for key, value in kwargs.items():
        _check(key, value)
    for key, value in kwargs.items():
        if key == 'save_graphs_path' and value != '.':
            value = os.path.realpath(value)
            os.makedirs(value, exist_ok=True)
        _options[key] = value
        if key == 'mode' and value == GRAPH_MODE:
            from mindspore.jit import attach
            attach()
        if key == 'enable_graph_kernel':
            _c.lazy(_fused_elements if value else 0)
        if key == 'runtime_num_threads':
            _c.set_thread_count(value or os.cpu_count() or 1)


def get_context(attr_key):
    """The value of an option."""
    if attr_key not in _options:
        raise ValueError(f"For 'context.get_context', the argument {attr_key} is not recognized!")
    return _READ.get(attr_key, lambda value: value)(_options[attr_key])


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


def set_device(device_target, device_id=None):
    """Chooses the device that operators run on."""
    if device_target not in ('CPU', 'GPU', 'Ascend'):
        raise ValueError(f"The argument 'device_target' must be one of ['CPU', 'GPU', 'Ascend'], but got {device_target}.")
    if device_target != 'CPU':
        raise RuntimeError(f"Unsupported device target {device_target}. This process only supports one of the ['CPU'].")
    if device_id is not None:
        set_context(device_id=device_id)


def get_current_device():
    """(device target, device id)."""
    return _DeviceInfo(_options['device_target'], _options['device_id'])


def set_deterministic(deterministic):
    """Results do not depend on threads in either setting; only its type is checked."""
    if not isinstance(deterministic, bool):
        raise TypeError(f"For 'set_deterministic', the argument must be bool, but got {type(deterministic).__name__}.")
    _options['deterministic'] = 'ON' if deterministic else 'OFF'


def get_level():
    """The level of the log, from the environment variable GLOG_v: '2' is warnings."""
    return os.environ.get('GLOG_v', '2')


def get_log_config():
    """The settings of the log."""
    return {name: os.environ.get(name, default) for name, default in (('GLOG_v', '2'), ('GLOG_logtostderr', '1'))}


# ---- how a network is distributed; one process is one device ----

_PARALLEL = {
    'device_num': 1, 'global_rank': 0, 'gradients_mean': False, 'gradient_fp32_sync': True, 'loss_repeated_mean': True,
    'parallel_mode': ParallelMode.STAND_ALONE, 'auto_parallel_search_mode': 'recursive_programming',
    'search_mode': 'recursive_programming', 'parameter_broadcast': False, 'strategy_ckpt_load_file': '',
    'strategy_ckpt_save_file': '', 'full_batch': False, 'dataset_strategy': 'data_parallel', 'enable_parallel_optimizer': False,
    'force_fp32_communication': False, 'enable_alltoall': False, 'all_reduce_fusion_config': [], 'pipeline_stages': 1,
    'pipeline_result_broadcast': False, 'auto_parallel_new_interface': False, 'grad_accumulation_step': 1,
    'parallel_optimizer_config': {}, 'strategy_ckpt_config': {}, 'group_ckpt_save_file': '', 'auto_pipeline': False,
    'comm_fusion': {'openstate': True, **{op: {'mode': 'auto', 'config': None} for op in ('allreduce', 'allgather', 'reducescatter')}},
}
_parallel = dict(_PARALLEL)
_COUNTS = ('device_num', 'pipeline_stages', 'grad_accumulation_step')


def set_auto_parallel_context(**kwargs):
    """Sets how a network is distributed; see get_auto_parallel_context. This process is the only one."""
    for key, value in kwargs.items():
        if key not in _PARALLEL:
            raise ValueError(f"Set context keyword {key} is not recognized!")
        if key == 'parallel_mode' and value not in ParallelMode.MODE_LIST:
            raise ValueError("The context configuration parameter 'parallel_mode' only support 'stand_alone', 'data_parallel', "
                             f"'hybrid_parallel', 'semi_auto_parallel' and 'auto_parallel', but got the value : {value}.")
        if isinstance(_PARALLEL[key], bool) and not isinstance(value, bool):
            raise TypeError(f"The context configuration parameter '{key}' must be bool, but got {type(value).__name__}.")
        if key in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ValueError(f"The context configuration parameter '{key}' must be a positive integer, but got the value of {key} : "
                             f"{value}.")
        if key in _COUNTS and value != 1:
            raise NotImplementedError(f"For 'set_auto_parallel_context', '{key}' other than 1 is not supported: one process computes "
                                      f"on one device, but got {value}.")
        if key == 'global_rank' and value != 0:
            raise ValueError(f"The context configuration parameter 'global_rank' must be below 'device_num' 1, but got {value}.")
    _parallel.update(kwargs)


def get_auto_parallel_context(attr_key):
    """The value of an option of set_auto_parallel_context."""
    if attr_key not in _parallel:
        raise ValueError(f"Get context keyword {attr_key} is not recognized!")
    return _parallel[attr_key]


def reset_auto_parallel_context():
    """Back to the defaults."""
    _parallel.clear()
    _parallel.update(_PARALLEL)


_PS = {'enable_ps': False, 'config_file_path': '', 'enable_ssl': False, 'client_password': '', 'server_password': ''}
_ps = dict(_PS)


def set_ps_context(**kwargs):
    """Keeps options of a parameter server; there is none: enabling one is refused."""
    for key, value in kwargs.items():
        if key not in _PS:
            raise ValueError(f"Set PS context keyword {key} is not recognized!")
        if type(value) is not type(_PS[key]):
            raise TypeError(f"The parameter '{key}' must be {type(_PS[key])}, but got {type(value)}.")
    if kwargs.get('enable_ps'):
        raise NotImplementedError("For 'set_ps_context', a parameter server ('enable_ps') is not supported.")
    _ps.update(kwargs)


def get_ps_context(attr_key):
    """An option of set_ps_context, but for passwords."""
    if attr_key not in _PS or attr_key.endswith('password'):
        raise ValueError(f"Get PS context keyword {attr_key} is not recognized!")
    return _ps[attr_key]


def reset_ps_context():
    """Back to the defaults."""
    _ps.update(_PS)
