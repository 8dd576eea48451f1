"""Configuration of pipelines. The settings that the pipeline acts on live in the library; those that only steer how the
original schedules itself (autotuning, shared memory, watchdogs, NUMA) are kept and returned, and change nothing."""
import json

from mindspore import _c

from ._check import INT32_MAX

UINT32_MAX = 4294967295


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
    _c.ds_config('workers', num)


def get_num_parallel_workers():
    return _c.ds_config('workers')


def set_debug_mode(debug_mode_flag, debug_hook_list=None):
    """Runs pipelines in the thread that iterates them."""
    if not isinstance(debug_mode_flag, bool):
        raise TypeError("debug_mode_flag isn't of type boolean.")
    if debug_hook_list:
        raise NotImplementedError('debug_hook_list is not supported; set a breakpoint in the function of the map.')
    _c.ds_config('debug', int(debug_mode_flag))


def get_debug_mode():
    return _c.ds_config('debug')


def load(file):
    """Sets what a JSON file says: seed, numParallelWorkers, prefetchSize."""
    with open(file, encoding='utf-8') as f:
        values = json.load(f)
    for key, setter in (('seed', set_seed), ('numParallelWorkers', set_num_parallel_workers),
                        ('prefetchSize', set_prefetch_size)):
        if key in values:
            setter(values[key])


_kept = {}


def _keep(name, default, kind):
    def setter(value):
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"{name} isn't of type {kind.__name__}.")
        if kind is int and value <= 0:
            raise ValueError(f'{name} given is not within the required range (0, INT32_MAX({INT32_MAX})].')
        _kept[name] = value

    def getter():
        return _kept.get(name, default)

    setter.__name__, getter.__name__ = f'set_{name}', f'get_{name}'
    setter.__doc__ = getter.__doc__ = f'Kept for compatibility; {name} does not change what a pipeline does.'
    globals()[setter.__name__], globals()[getter.__name__] = setter, getter


for _name, _default in (('auto_num_workers', False), ('auto_offload', False), ('enable_shared_mem', False),
                        ('enable_watchdog', True), ('fast_recovery', True), ('numa_enable', False)):
    _keep(_name, _default, bool)
for _name, _default in (('autotune_interval', 0), ('callback_timeout', 60), ('monitor_sampling_interval', 1000),
                        ('multiprocessing_timeout_interval', 300)):
    _keep(_name, _default, int)


def set_enable_autotune(enable, filepath_prefix=None):
    """Kept for compatibility; pipelines are not tuned."""
    if not isinstance(enable, bool):
        raise TypeError('enable must be of type bool.')
    _kept['enable_autotune'] = enable


def get_enable_autotune():
    return _kept.get('enable_autotune', False)
