"""MindSpore's public API over libmindspore.

Everything but tensors, dtypes and the context is imported when it is first named, so that `import mindspore` costs
little more than loading the library.
"""
import importlib as _importlib
import os as _os

# The threads of GNU OpenMP read once, when it is loaded, how long they wait spinning before they sleep: docs/design/010.
_spin = not {'GOMP_SPINCOUNT', 'OMP_WAIT_POLICY'} & _os.environ.keys()
if _spin:
    _os.environ['GOMP_SPINCOUNT'] = '2500'
from mindspore import _c  # noqa: E402
if _spin:
    del _os.environ['GOMP_SPINCOUNT']
from mindspore._c import Tensor, from_numpy, frombuffer
from mindspore.common.dtype import *  # noqa: F403
from mindspore.common import dtype
from mindspore.context import (GRAPH_MODE, LAX, PYNATIVE_MODE, STRICT, COMPATIBLE, JitConfig, ParallelMode, get_auto_parallel_context,
                               get_context, get_current_device, get_level, get_log_config, get_ps_context, get_seed,
                               reset_auto_parallel_context, reset_ps_context, set_auto_parallel_context, set_context, set_deterministic, set_device, set_ps_context, set_seed)

__version__ = _c.version()
tensor = Tensor

# Where a public name lives: module -> names. A name that is a module itself maps to None.
_LAZY = {
    'mindspore.autodiff': 'grad value_and_grad vjp jvp vmap jacfwd jacrev get_grad',
    'mindspore.common.recompute': 'recompute',
    'mindspore.common.function': '_Function _no_grad',
    'mindspore.common.generator': 'Generator default_generator manual_seed seed initial_seed get_rng_state set_rng_state',
    'mindspore.common.parameter': 'Parameter ParameterTuple',
    'mindspore.common.sparse_tensor': 'COOTensor CSRTensor RowTensor SparseTensor',
    'mindspore.common._mutable': 'mutable',
    'mindspore.common.symbol': 'Symbol',
    'mindspore.common.quant_dtype': 'QuantDtype',
    'mindspore.common.tools': 'run_check set_recursion_limit swap_tensors set_dump ms_memory_recycle',
    'mindspore.train': 'save_checkpoint load_checkpoint load_param_into_net load_checkpoint_async async_ckpt_thread_status '
                       'ckpt_to_safetensors safetensors_to_ckpt export load load_mindir save_mindir Model DatasetHelper connect_network_with_dataset data_sink Callback '
                       'LambdaCallback RunContext LossMonitor TimeMonitor FlopsUtilizationCollector History EarlyStopping ReduceLROnPlateau '
                       'LearningRateScheduler CheckpointConfig ModelCheckpoint BackupAndRestore OnRequestExit '
                       'LossScaleManager FixedLossScaleManager DynamicLossScaleManager build_train_network '
                       'SummaryRecord SummaryCollector TrainFaultTolerance',
    'mindspore.profiler': 'Profiler',
    'mindspore.jit': 'jit jit_class constexpr lazy_inline no_inline',
    'mindspore.jit.dynamic': 'enable_dynamic',
}
_HOME = {name: module for module, names in _LAZY.items() for name in names.split()}
_MODULES = ('ops', 'mint', 'nn', 'dataset', 'common', 'train', 'amp', 'context', 'numpy', 'communication', 'parallel',
            'runtime', 'hal', 'device_context', 'boost', 'autodiff', 'experimental', 'scipy', 'rewrite', 'profiler', 'utils', 'onnx', '_checkparam')


def is_tensor(obj):
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def __getattr__(name):
    if name in _HOME:
        value = getattr(_importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        try:
            value = _importlib.import_module('mindspore.' + name)
        except ModuleNotFoundError as e:
            if e.name != 'mindspore.' + name:
                raise
            raise AttributeError(f"module 'mindspore' has no attribute {name!r}") from None
    else:
        raise AttributeError(f"module 'mindspore' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_HOME) | set(_MODULES))
