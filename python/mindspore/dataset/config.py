"""Configuration of pipelines. The settings that the pipeline acts on live in the library; those that only steer how the
original schedules itself (autotuning, shared memory, watchdogs, NUMA) are kept and returned, and change nothing."""
import enum
import json

from mindspore import _c

from ._check import INT32_MAX, MAX_WORKERS

UINT32_MAX = 4294967295


_kept = {}


def _integer(name, value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} isn't of type int.")


def _positive(name, text, value):
    _integer(name, value)
    if not 0 < value <= INT32_MAX:
        raise ValueError(f'{text} is not within the required range (0, INT32_MAX({INT32_MAX})].')


def set_seed(seed):
    """Seeds shuffles, samplers and random transforms of pipelines that are iterated from now on."""
    _integer('seed', seed)
    if not 0 <= seed <= UINT32_MAX:
        raise ValueError(f'seed given is not within the required range [0, UINT32_MAX({UINT32_MAX})].')
    _c.ds_config('seed', seed)


def get_seed():
    return _c.ds_config('seed')


def set_prefetch_size(size):
    """Rows (usually batches) that are made ready ahead of the training loop."""
    _positive('size', 'size', size)
    _c.ds_config('prefetch', size)


def get_prefetch_size():
    return _c.ds_config('prefetch')


def set_num_parallel_workers(num):
    """Threads of a map that does not say otherwise."""
    _positive('num', 'Number of parallel workers given', num)
    if num > MAX_WORKERS:
        raise RuntimeError(f'Invalid Parameter, num_parallel_workers exceeds the boundary between 1 and {MAX_WORKERS}, '
                           f'as got {num}.')
    _c.ds_config('workers', num)
    _kept['workers'] = num


def workers_set():
    """What set_num_parallel_workers was given, or None."""
    return _kept.get('workers')


def get_num_parallel_workers():
    return _c.ds_config('workers')


_hooks = []


def set_debug_mode(debug_mode_flag, debug_hook_list=None):
    """Runs pipelines in the thread that iterates them. The hooks (debug.DebugHook) see what goes into each operation of the
    maps that are made from now on, and what comes out of the last."""
    if not isinstance(debug_mode_flag, bool):
        raise TypeError("debug_mode_flag isn't of type boolean.")
    hooks = [] if debug_hook_list is None else debug_hook_list
    if not isinstance(hooks, list):
        raise TypeError('debug_hook_list is not a list.')
    from .debug import DebugHook
    if not all(isinstance(h, DebugHook) for h in hooks):
        raise TypeError('All items in debug_hook_list must be of type DebugHook.')
    _hooks[:] = hooks if debug_mode_flag else []
    _c.ds_config('debug', int(debug_mode_flag))


def get_debug_mode():
    return _c.ds_config('debug')


def load(file):
    """Sets what a JSON file says: seed, numParallelWorkers, prefetchSize, monitorSamplingInterval."""
    with open(file, encoding='utf-8') as f:
        values = json.load(f)
    for key, setter in (('seed', set_seed), ('numParallelWorkers', set_num_parallel_workers),
                        ('prefetchSize', set_prefetch_size),
                        ('monitorSamplingInterval', globals()['set_monitor_sampling_interval'])):
        if key in values:
            setter(values[key])


def _keep(name, default, argument=None, wrong=None):
    """Defines set_`name` and get_`name`; `wrong` is said of a value that has not the type of the default."""
    kind, argument = type(default), argument or name

    def setter(value):
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"{argument} {wrong or f'must be of type {kind.__name__}.'}")
        if kind is int and not 0 < value <= INT32_MAX:
            raise ValueError(f'{argument} given is not within the required range (0, INT32_MAX({INT32_MAX})].')
        _kept[name] = value

    def getter():
        return _kept.get(name, default)

    setter.__name__, getter.__name__ = f'set_{name}', f'get_{name}'
    setter.__doc__ = getter.__doc__ = f'Kept for compatibility; {name} does not change what a pipeline does.'
    globals()[setter.__name__], globals()[getter.__name__] = setter, getter


for _row in (('auto_num_workers', False, 'option'), ('auto_offload', False, 'offload'), ('enable_shared_mem', False, 'enable'),
             ('enable_watchdog', True, 'enable'), ('fast_recovery', True, None, 'must be a boolean dtype.'),
             ('numa_enable', False), ('autotune_interval', 0, 'interval'),
             ('callback_timeout', 60, 'timeout', "isn't of type int."),
             ('monitor_sampling_interval', 1000, 'interval', "isn't of type int."),
             ('multiprocessing_timeout_interval', 300, 'interval', "isn't of type int.")):
    _keep(*_row)


class ErrorSamplesMode(enum.IntEnum):
    RETURN = 0
    REPLACE = 1
    SKIP = 2


def set_error_samples_mode(error_samples_mode):
    """What becomes of a row that fails in a map, for iterators made from now on: RETURN ends the pipeline with an error, SKIP
    leaves the row out, REPLACE gives another row of the epoch for it, at the end of the epoch."""
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise TypeError(f'Argument error_samples_mode with value {error_samples_mode} is not of type '
                        f'[{ErrorSamplesMode!r}], but got {type(error_samples_mode)}.')
    _c.ds_config('on_failure', int(error_samples_mode))


def get_error_samples_mode():
    return ErrorSamplesMode(_c.ds_config('on_failure'))


def set_multiprocessing_start_method(method):
    """Worker processes are forked."""
    if not isinstance(method, str):
        raise TypeError('method must be of type str.')
    if method not in ('fork', 'spawn'):
        raise ValueError(f"method must be 'fork' or 'spawn', but got {method!r}.")
    if method == 'spawn':
        raise NotImplementedError("set_multiprocessing_start_method supports 'fork' only.")


def get_multiprocessing_start_method():
    return 'fork'


def set_iterator_mode(do_copy=False, parallel_convert=False):
    """Kept for compatibility; rows are the consumer's own in any case."""
    for name, value in (('do_copy', do_copy), ('parallel_convert', parallel_convert)):
        if not isinstance(value, bool):
            raise TypeError(f'{name} must be of type bool.')
    _kept['iterator_mode'] = {'do_copy': do_copy, 'parallel_convert': parallel_convert}


def get_iterator_mode():
    return dict(_kept.get('iterator_mode', {'do_copy': False, 'parallel_convert': False}))


def set_sending_batches(batch_num):
    raise NotImplementedError('set_sending_batches steers the queue of an Ascend device.')


def set_video_backend(backend):
    raise NotImplementedError('Videos are not supported.')


def get_video_backend():
    return None


def set_enable_autotune(enable, filepath_prefix=None):
    """Kept for compatibility; pipelines are not tuned."""
    if not isinstance(enable, bool):
        raise TypeError('enable must be of type bool.')
    _kept['enable_autotune'] = enable


def get_enable_autotune():
    return _kept.get('enable_autotune', False)
