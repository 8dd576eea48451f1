"""DatasetHelper: the batches of a dataset as tuples of Tensors; data_sink: several steps by one call."""
import functools

from mindspore.common.tensor import Tensor

__all__ = ["DatasetHelper", "connect_network_with_dataset", "data_sink"]


class DatasetHelper:
    """Iterates over one epoch of a dataset at a time. The CPU takes every batch from the pipeline: the options of sink mode
    are kept and have no further effect."""

    def __init__(self, dataset, dataset_sink_mode=True, sink_size=-1, epoch_num=1):
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(f"The input value must be a bool, but got {type(dataset_sink_mode).__name__}.")
        if not isinstance(sink_size, int) or isinstance(sink_size, bool) or sink_size == 0 or sink_size < -1:
            raise ValueError(f"The 'sink_size' must be -1 or positive, but got sink_size {sink_size}.")
        self._dataset, self._sink_size = dataset, sink_size
        self._iterator = dataset.create_tuple_iterator(num_epochs=-1, do_copy=False)

    def __iter__(self):
        for row in self._iterator:
            yield tuple(row)

    def sink_size(self):
        """Steps per call of a sink: one."""
        return 1

    def types_shapes(self):
        """(types, shapes) of the columns."""
        return self._dataset.output_types(), self._dataset.output_shapes()

    def stop_send(self):
        self._iterator.stop()

    def release(self):
        self._iterator.stop()

    def continue_send(self):
        """Nothing was paused."""


def connect_network_with_dataset(network, dataset_helper):
    """The network itself: on the CPU batches are its arguments."""
    return network


def data_sink(fn, dataset, sink_size=1, jit_config=None, input_signature=None):
    """A function without arguments that calls ``fn`` on the next ``sink_size`` batches and returns the last result; with a
    ``jit_config`` ``fn`` is compiled. The dataset begins again when it ends."""
    if not isinstance(sink_size, int) or isinstance(sink_size, bool) or sink_size < 1:
        raise ValueError(f"The 'sink_size' must be positive, but got sink_size {sink_size}.")
    if input_signature is not None and not all(isinstance(t, Tensor) for t in
                                               (input_signature if isinstance(input_signature, (list, tuple)) else [input_signature])):
        raise TypeError("For 'data_sink', the 'input_signature' must be Tensors.")
    if jit_config is not None:
        from mindspore.jit import jit
        fn = jit(fn, **{key: value for key, value in jit_config.jit_config_dict.items() if key == "jit_level" and value})
    batches = None

    @functools.wraps(fn)
    def sink_process(*args, **kwargs):
        nonlocal batches
        out = None
        for _ in range(sink_size):
            row = next(batches, None) if batches is not None else None
            if row is None:
                batches = iter(DatasetHelper(dataset, False))
                row = next(batches)
            out = fn(*row)
        return out
    return sink_process
