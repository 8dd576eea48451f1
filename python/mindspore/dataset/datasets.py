"""Datasets: a tree of descriptions in the library, with names and arguments as users know them."""
import atexit
import builtins
import copy
import functools
import os
import weakref

import numpy as np

from mindspore import _c

from . import _check, samplers
from ._sync import SyncPoint
from ._workers import Workers
from .callback import DSCallback, Watch
from .samplers import Shuffle
from .transforms import TensorOperation, check_list, compile_list, _name, _Sequence

__all__ = ['Dataset', 'BatchInfo', 'DatasetCache', 'FashionMnistDataset', 'GeneratorDataset', 'MappableDataset',
           'MnistDataset', 'NumpySlicesDataset', 'PaddedDataset', 'Shuffle', 'zip']


class DatasetCache:
    """The original's cache is a server that several processes share; there is none here."""

    def __init__(self, session_id, size=0, spilling=False, hostname=None, port=None, num_connections=None,
                 prefetch_size=None):
        raise NotImplementedError('DatasetCache is not supported: there is no cache server. What fits in memory is kept by '
                                  'NumpySlicesDataset; CIFAR and MNIST are in memory anyway.')


class BatchInfo:
    """What per_batch_map and a batch size function are told: numbers of the batch in its epoch, and of the epoch."""

    def __init__(self, epoch, batch):
        self._epoch, self._batch = epoch, batch

    def get_batch_num(self):
        return self._batch

    def get_epoch_num(self):
        return self._epoch


# ---- iterators ----

ITERATORS_LIST = []  # weak references to the running iterators


def _forget(ref):
    if ref in ITERATORS_LIST:
        ITERATORS_LIST.remove(ref)


@atexit.register
def _cleanup():
    """Stops every running iterator."""
    for ref in list(ITERATORS_LIST):
        it = ref()
        if it is not None:
            it.close()


_training = None


def _set_training_dataset(iterator):
    """The iterator that _reset_training_dataset sets back."""
    global _training
    _training = weakref.ref(iterator)


def _get_training_dataset():
    return _training and _training()


def _reset_training_dataset(global_step, dataset_size):
    """The iterator of the training goes on behind `global_step` steps of the whole training."""
    iterator = _get_training_dataset()
    if iterator is None:
        raise RuntimeError('Training dataset is not set.')
    iterator._reset(global_step, dataset_size)


def _unset_iterator_cleanup():
    """Iterators may start again after _cleanup at any time; nothing is to be unset."""


def _end_workers(started):
    while started:
        started.pop().stop()


class Iterator:
    """Rows of a dataset, epoch after epoch: a loop over it is one epoch, the next loop the next."""

    def __init__(self, dataset, num_epochs=-1, output_numpy=False, do_copy=False, init_step=0, watched=True):
        if not isinstance(num_epochs, int) or isinstance(num_epochs, bool):
            raise TypeError(f'Argument num_epochs with value {num_epochs} is not of type [<class \'int\'>], '
                            f'but got {type(num_epochs)}.')
        if num_epochs != -1 and not 1 <= num_epochs <= _check.INT32_MAX:
            raise ValueError(f'num_epochs should be either -1 or positive integer, but got {num_epochs}.')
        _check.kind('output_numpy', output_numpy, bool)
        _check.kind('do_copy', do_copy, bool)
        self.dataset, self.num_epochs = dataset, num_epochs
        self.output_numpy = output_numpy
        self._names = [n for n in dataset.get_col_names() if not n.startswith('_meta-')] or dataset.get_col_names()
        self._node = dataset._node
        if len(self._names) < len(dataset.get_col_names()):
            self._node = _c.ds_project(self._node, ','.join(self._names))
        self._n, self._watched = len(self._names), watched
        self._start(init_step, dataset.get_dataset_size() if init_step else 1)

    def _start(self, step=0, size=1):
        """Begins behind `step` rows of the whole pass, of epochs of `size` rows."""
        started = []
        self._end = weakref.finalize(self, _end_workers, started)
        for workers in self.dataset._all_workers():
            if isinstance(workers, Watch) and not self._watched:
                continue
            workers.start()
            started.append(workers)
        self._ended = step // size
        self._it = _c.ds_iter(self._node, self.num_epochs, step // size, step % size, self._watched)
        ITERATORS_LIST.append(weakref.ref(self, _forget))

    def _prefetch(self):
        """Makes rows ready before the first is asked for."""
        _c.ds_start(self._it)

    def _reset(self, step, size):
        if step < 0:
            raise RuntimeError(f'Cannot reset the pipeline, reset step must be >= 0. step: {step}')
        if self.num_epochs != -1 and step >= size * self.num_epochs:
            raise RuntimeError('Cannot reset the pipeline, reset step must be less than dataset_size * num_epochs. '
                               f'dataset_size: {size}, num_epochs: {self.num_epochs}, step: {step}')
        self.close()
        self._start(step, size)

    def close(self):
        """Stops the threads and the processes of the pipeline."""
        for workers in self._end.peek()[2][0] if self._end.alive else ():
            workers.interrupt()
        _c.ds_close(self._it)
        self._end()

    stop = release = close

    def __iter__(self):
        return self

    def __next__(self):
        if self._ended == self.num_epochs:
            raise RuntimeError('EOF buffer encountered. User tries to fetch data beyond the specified number of epochs.')
        row = _c.ds_next(self._it, self._n, self.output_numpy)
        if row is None:
            self._ended += 1
            raise StopIteration
        return self._form(row)

    def _form(self, row):
        return row

    def __deepcopy__(self, memo):
        return self


class TupleIterator(Iterator):
    """Rows as lists in the order of the columns."""


class DictIterator(Iterator):
    """Rows as dicts by column name."""

    def _form(self, row):
        return dict(builtins.zip(self._names, row))


# ---- datasets ----

def _parts(sizes, total):
    """The sizes of split as numbers of rows. What rounding adds is taken off the first part that keeps a row, what it leaves
    over goes to the first part."""
    if not sizes:
        raise ValueError('sizes cannot be empty.')
    if all(isinstance(s, int) for s in sizes):
        if min(sizes) <= 0:
            raise ValueError('sizes is a list of integers, and there should be no negative or zero numbers.')
        what = ''
    elif all(isinstance(s, float) for s in sizes):
        if not all(0 < s <= 1 for s in sizes):
            raise ValueError('sizes is a list of floats, and there should be no numbers outside the range (0, 1].')
        if abs(sum(sizes) - 1) > 1e-9:
            raise ValueError('sizes is a list of floats, but the percentages do not sum up to 1.')
        shares, sizes, what = sizes, [int(round(s * total)) for s in sizes], 'calculated '
        for share, n in builtins.zip(shares, sizes):
            if n == 0:
                raise RuntimeError(f'percentage {share} is too small.')
        over = sum(sizes) - total
        if over < 0:
            sizes[0] -= over
        elif over > 0:
            first = next((k for k, n in enumerate(sizes) if n > over), None)
            if first is not None:
                sizes[first] -= over
    else:
        raise ValueError('sizes should be list of int or list of float.')
    if sum(sizes) != total:
        raise RuntimeError(f'Sum of {what}split sizes {sum(sizes)} is not equal to dataset size {total}.')
    return sizes


def _watch(callbacks):
    """What calls the callbacks of a map; None without any."""
    if callbacks is None or isinstance(callbacks, DSCallback):
        return callbacks and Watch([callbacks])
    if not isinstance(callbacks, (list, tuple)):
        _check.kind('callbacks', callbacks, DSCallback)
    for k, c in enumerate(callbacks):
        _check.kind(f'callbacks[{k}]', c, DSCallback)
    return Watch(list(callbacks)) if callbacks else None


STEPS = {}  # names of operations -> names of the methods that append them


def _appends(op_type):
    """For methods that append an operation: what they give knows how it was made."""
    def wrap(method):
        STEPS[op_type] = method.__name__

        @functools.wraps(method)
        def call(self, *args, **kwargs):
            d = method(self, *args, **kwargs)
            d._step = op_type, method, (self, *args), kwargs
            return d
        return call
    return wrap


class Dataset(_check.Recorded):
    """A pipeline up to here. Methods give a new one and leave this one as it is."""

    def __init__(self, children=None, num_parallel_workers=None, cache=None):
        if cache is not None:
            raise NotImplementedError('Dataset caches are not supported.')
        self.num_parallel_workers = num_parallel_workers
        _check.workers(num_parallel_workers)
        self.children = list(children or [])
        self.parent = []

    _workers = ()  # groups of processes that this operation needs
    _step = None   # (operation, method, arguments, keywords)

    def __deepcopy__(self, memo):
        """What is described never changes, so that copies share it."""
        d = memo[id(self)] = copy.copy(self)
        d.children = copy.deepcopy(self.children, memo)
        return d

    def _operation(self, node, *more, kind=None, workers=()):
        d = (kind or Dataset)(children=[self, *more])
        d._node, d._workers = node, workers
        return d

    def _all_workers(self):
        for child in self.children:
            yield from child._all_workers()
        yield from self._workers

    # -- operations --

    @_appends('Map')
    def map(self, operations, input_columns=None, output_columns=None, num_parallel_workers=None, **kwargs):
        """Transforms columns. Python functions run in threads; one thread, in order, unless num_parallel_workers says
        more. python_multiprocessing=True runs them in as many processes. max_rowsize is accepted: the memory that is
        shared with a process grows as it must."""
        _check.only('MapDataset.__init__', kwargs, ('column_order', 'python_multiprocessing', 'cache', 'callbacks',
                                                    'max_rowsize', 'offload'))
        for name in ('cache', 'column_order'):
            if kwargs.get(name) is not None:
                raise NotImplementedError(f"For 'map', the argument {name} is not supported.")
        _check.row_size(kwargs.get('max_rowsize'))
        if kwargs.get('offload') is not None:
            _check.kind('offload', kwargs['offload'], bool)
        ops = check_list(operations if isinstance(operations, (list, tuple)) else [operations], 'operations')
        number, remote = _check.workers(num_parallel_workers), []
        node, watch = self._node, _watch(kwargs.get('callbacks'))
        apart = _check.kind('python_multiprocessing', kwargs.get('python_multiprocessing', False), bool)
        if apart:
            number = number or _c.ds_config('workers')

        def in_workers(function):
            remote.append(Workers(number, function, f'map operation: [{function.__name__}]'))
            return remote[-1]
        if watch:
            remote.append(watch)
            node = _c.ds_watch(node, watch.before)
        node = _c.ds_map(node, compile_list(ops, in_workers if apart else None),
                         _check.joined('input_columns', input_columns),
                         _check.joined('output_columns', output_columns), number)
        if watch:
            node = _c.ds_watch(node, watch.after)
        return self._operation(node, kind=MapDataset, workers=remote)

    @_appends('Batch')
    def batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, **kwargs):
        """Joins rows. per_batch_map gets lists of arrays, one per column, and a BatchInfo, and returns such lists.
        python_multiprocessing=True runs it in a process; batches come one after the other all the same."""
        _check.only('BatchDataset.__init__', kwargs, ('per_batch_map', 'input_columns', 'output_columns',
                                                      'python_multiprocessing', 'max_rowsize'))
        _check.row_size(kwargs.get('max_rowsize'))
        if kwargs.get('input_columns') is not None and kwargs.get('per_batch_map') is None:
            raise ValueError('input_columns can be specified only when per_batch_map is set.')
        return self._batch(batch_size, drop_remainder, num_parallel_workers, kwargs.get('per_batch_map'),
                           kwargs.get('input_columns'), kwargs.get('output_columns'), False, None,
                           _check.kind('python_multiprocessing', kwargs.get('python_multiprocessing', False), bool))

    @_appends('PaddedBatch')
    def padded_batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        """Joins rows of different shapes. pad_info: {column: (shape, value)}; a size None = the largest of the batch,
        a shape None = the largest in every dimension, which also holds for columns that it does not name."""
        return self._batch(batch_size, drop_remainder, num_parallel_workers, None, None, None, True,
                           self._pads(pad_info))

    def _pads(self, pad_info):
        """pad_info as the library takes it: (shape or None, value) for each column."""
        if pad_info is None:
            return None
        names, given = self.get_col_names(), _check.kind('pad_info', pad_info, dict)
        for name in given:
            _check.kind('key in pad_info', name, str)
            if name not in names:
                raise RuntimeError(f"Invalid parameter, pad_info names the column '{name}', which is not in the dataset.")
        pads = []
        for name in names:
            shape, value = _check.kind('value in pad_info', given.get(name, (None, None)), tuple)
            if shape is not None:
                shape = [-1 if s is None else _check.integer('dim in pad_shape', s, 1) for s in shape]
            pads.append((shape, 0.0 if isinstance(value, (str, bytes)) else float(value or 0)))
        return pads

    @_appends('BucketBatchByLength')
    def bucket_batch_by_length(self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function=None,
                               pad_info=None, pad_to_bucket_boundary=False, drop_remainder=False):
        """Batches of rows of similar length: the first size of the column, or what the function of the columns says."""
        names = [column_names] if isinstance(column_names, str) else _check.kind('column_names', column_names, list)
        if not names:
            raise ValueError('column_names cannot be empty')
        for k, name in enumerate(names):
            _check.kind(f'column_names[{k}]', name, str)
        if element_length_function is None and len(names) != 1:
            raise ValueError('If element_length_function is not specified, exactly one column name should be passed.')
        if element_length_function is not None and not callable(element_length_function):
            raise TypeError('element_length_function object is not callable.')
        for what, values in (('bucket_boundaries', bucket_boundaries), ('bucket_batch_sizes', bucket_batch_sizes)):
            if not _check.kind(what, values, list):
                raise ValueError(f'{what} cannot be empty.')
            if not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
                raise TypeError(f'{what} should be a list of int.')
        if min(bucket_boundaries) <= 0:
            raise ValueError('bucket_boundaries must only contain positive numbers.')
        if sorted(set(bucket_boundaries)) != bucket_boundaries:
            raise ValueError('bucket_boundaries should be strictly increasing.')
        if min(bucket_batch_sizes) <= 0:
            raise ValueError('bucket_batch_sizes should be a list of positive numbers.')
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError('bucket_batch_sizes must contain one element more than bucket_boundaries.')
        for what, value in (('pad_to_bucket_boundary', pad_to_bucket_boundary), ('drop_remainder', drop_remainder)):
            if not isinstance(value, bool):
                raise TypeError(f'Argument {what} with value "{value}" is not of type [{bool}], but got {type(value)}.')
        length = None
        if element_length_function is not None:
            length = _c.ds_callable(_name(element_length_function), element_length_function, False)
        node = _c.ds_bucket(self._node, ','.join(names), bucket_boundaries, bucket_batch_sizes, length,
                            pad_info is not None, self._pads(pad_info), pad_to_bucket_boundary, drop_remainder)
        return self._operation(node, kind=BatchDataset)

    def _batch(self, size, drop, workers, per_batch_map, inputs, outputs, padded, pads, apart=False):
        size_fn, remote = None, []
        if callable(size):
            def size_fn(epoch, batch):
                return size(BatchInfo(epoch, batch))
        else:
            size = _check.integer('batch_size', int(size) if isinstance(size, bool) else size, 1)
            for point in self._sync_points():
                point.rows = size
        _check.kind('drop_remainder', drop, bool)
        _check.workers(workers)
        map_fn = None
        if per_batch_map is not None:
            if not callable(per_batch_map):
                raise TypeError('per_batch_map must be callable.')
            if inputs is None:
                inputs = self.get_col_names()

            def call(epoch, batch, columns):
                result = per_batch_map(*columns, BatchInfo(epoch, batch))
                if not isinstance(result, tuple):
                    result = (result,)
                return tuple(np.stack([np.asarray(v) for v in c]) if isinstance(c, list) else c for c in result)
            map_fn = call
            if apart:
                remote.append(Workers(1, call, f'batch operation: [{_name(per_batch_map)}]'))

                def map_fn(epoch, batch, columns):
                    return remote[0].at((epoch, batch), epoch, batch, columns)
        node = _c.ds_batch(self._node, 0 if size_fn else size, size_fn, drop, map_fn,
                           _check.joined('input_columns', inputs), _check.joined('output_columns', outputs), padded, pads)
        return self._operation(node, kind=BatchDataset, workers=remote)

    @_appends('Filter')
    def filter(self, predicate, input_columns=None, num_parallel_workers=None):
        """Keeps the rows for which predicate(*columns) is true."""
        if not callable(predicate):
            raise TypeError('Predicate should be a Python function or a callable Python object.')
        if input_columns is None:
            input_columns = self.get_col_names()
        _check.workers(num_parallel_workers)
        op = _c.ds_callable(_name(predicate), lambda *v: bool(predicate(*v)), False)
        return self._operation(_c.ds_filter(self._node, op, _check.joined('input_columns', input_columns)))

    def _count(self, kind, count):
        return self._operation(_c.ds_count(kind, self._node, count))

    @_appends('Shuffle')
    def shuffle(self, buffer_size):
        if self._sync_points():
            raise RuntimeError('No shuffle after sync operators.')
        return self._count('shuffle', _check.integer('buffer_size', buffer_size, 2))

    @_appends('Repeat')
    def repeat(self, count=None):
        count = -1 if count is None else count
        _check.kind('count', count, int)
        if count != -1 and not 1 <= count <= _check.INT32_MAX:
            raise ValueError('count should be either -1 or positive integer, range[1, INT32_MAX].')
        return self._count('repeat', count)

    @_appends('Take')
    def take(self, count=-1):
        _check.kind('count', count, int)
        if count != -1 and not 1 <= count <= _check.INT32_MAX:
            raise ValueError('count should be either -1 or within the required interval of [1, 2147483647].')
        return self._count('take', count)

    @_appends('Skip')
    def skip(self, count):
        return self._count('skip', _check.integer('count', count, 0))

    def zip(self, datasets):
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        return zip((self, *others))

    @_appends('Concat')
    def concat(self, datasets):
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        for d in others:
            _check.kind('datasets', d, Dataset)
        node = _c.ds_join('concat', [self._node] + [d._node for d in others])
        return self._operation(node, *others, kind=ConcatDataset)

    def __add__(self, datasets):
        return self.concat(datasets)

    @_appends('Project')
    def project(self, columns):
        return self._operation(_c.ds_project(self._node, _check.joined('columns', columns)))

    @_appends('Rename')
    def rename(self, input_columns, output_columns):
        return self._operation(_c.ds_rename(self._node, _check.joined('input_columns', input_columns),
                                            _check.joined('output_columns', output_columns)))

    def apply(self, apply_func):
        if not callable(apply_func):
            raise TypeError('apply_func must be a function.')
        result = apply_func(self)
        if not isinstance(result, Dataset):
            raise TypeError('apply_func must return a dataset.')
        return result

    def flat_map(self, func):
        """The datasets that func(*columns) gives for each row, one after the other."""
        if not callable(func):
            raise TypeError('flat_map func must be callable.')
        parts = []
        for row in TupleIterator(self, 1, True):
            parts.append(func(*row))
            if not isinstance(parts[-1], Dataset):
                raise TypeError(f'flat_map func must give a dataset, but got {type(parts[-1])}.')
        if not parts:
            raise ValueError('flat_map needs a dataset with rows.')
        return parts[0].concat(parts[1:]) if len(parts) > 1 else parts[0]

    @_appends('SyncWait')
    def sync_wait(self, condition_name, num_batch=1, callback=None):
        """Lets num_batch rows pass, and more only after sync_update of that name, which calls `callback` with its data."""
        _check.kind('condition_name', condition_name, str)
        if _check.kind('num_batch', num_batch, int) <= 0:
            raise ValueError('num_batch need to be greater than 0.')
        if callback is not None and not callable(callback):
            raise TypeError('callback should be callable.')
        if any(p.name == condition_name for p in self._sync_points()):
            raise RuntimeError(f'Condition name is already in use: {condition_name!r}.')
        point = SyncPoint(condition_name, num_batch, callback)
        node = _c.ds_map(self._node, [_c.ds_callable('sync_wait', point, True)], self.get_col_names()[0], None, 1)
        return self._operation(node, workers=(point,))

    def _sync_points(self):
        return [p for p in self._all_workers() if isinstance(p, SyncPoint)]

    def sync_update(self, condition_name, num_batch=None, data=None):
        """Lets the rows of sync_wait go on: num_batch of them, or as many as it said."""
        if num_batch is not None and (not isinstance(num_batch, int) or num_batch <= 0):
            raise RuntimeError(f'Sync_update batch size can only be positive integer, got : {num_batch}.')
        for point in self._sync_points():
            if point.name == condition_name:
                return point.update(num_batch, data)
        raise RuntimeError(f'Condition name not found: {condition_name!r}.')

    def disable_sync(self):
        """Lets all rows of sync_wait pass from now on."""
        for point in self._sync_points():
            point.interrupt()

    @_appends('Transfer')
    def device_que(self, send_epoch_end=True, create_data_info_queue=False, queue_name=''):
        """The dataset as a sender. A CPU has no queue of its own, so send() makes rows ready as an iterator does."""
        return self._operation(self._node, kind=TransferDataset)

    _init_step = 0

    def set_init_step(self, init_step):
        """Iterators begin behind so many steps of the whole training."""
        self._init_step = _check.integer('init_step', init_step)

    def get_init_step(self):
        return self._init_step or next((s for s in (c.get_init_step() for c in self.children) if s), 0)

    def split(self, sizes, randomize=True):
        """Parts of the dataset, by numbers of rows or by shares that add up to 1."""
        _check.kind('sizes', sizes, list, tuple)
        if self.is_sharded():
            raise RuntimeError('Dataset should not be sharded before split.')
        return self._split(_parts(list(sizes), self.get_dataset_size()), randomize)

    def _split(self, sizes, randomize):
        if randomize:
            raise NotImplementedError("For 'split', randomize=True needs a source with random access; split it there.")
        parts, at = [], 0
        for n in sizes:
            parts.append((self.skip(at) if at else self).take(n))
            at += n
        return parts

    # -- facts --

    def get_col_names(self):
        return _c.ds_info(self._node)[0]

    def get_dataset_size(self):
        """Rows of an epoch; where only running the pipeline tells, it is run once and the answer kept."""
        size = self.__dict__.get('_size')
        if size is None:
            size = _c.ds_info(self._node)[1]
            if size < 0:
                size = sum(1 for _ in TupleIterator(self, 1, True, watched=False))
            self._size = size
        return size

    def get_batch_size(self):
        return _c.ds_info(self._node)[2]

    def get_repeat_count(self):
        return _c.ds_info(self._node)[3]

    def get_class_indexing(self):
        return self.children[0].get_class_indexing() if self.children else {}

    def num_classes(self):
        return self.children[0].num_classes() if self.children else None

    def _first(self):
        first = self.__dict__.get('_first_row')
        if first is None:
            it = TupleIterator(self, 1, True, watched=False)
            first = self._first_row = next(it, [])
            it.close()
        return first

    def output_shapes(self, estimate=False):
        """Shapes of the columns, read off the first row; with estimate, sizes that change between rows are None."""
        shapes = [list(c.shape) for c in self._first()]
        if estimate:
            for row in TupleIterator(self, 1, True, watched=False):
                for known, column in builtins.zip(shapes, row):
                    for d, n in enumerate(column.shape):
                        if known[d] != n:
                            known[d] = None
        return shapes

    def output_types(self):
        return [np.dtype(c.dtype.kind) if c.dtype.kind in 'US' else c.dtype for c in self._first()]

    def is_shuffled(self):
        return any(c.is_shuffled() for c in self.children)

    def is_sharded(self):
        return any(c.is_sharded() for c in self.children)

    @property
    def dataset_size(self):
        return self.get_dataset_size()

    def __len__(self):
        return self.get_dataset_size()

    _input_indexs = ()

    @property
    def input_indexs(self):
        """Which columns a network gets; kept for the user."""
        return self._input_indexs or next((c.input_indexs for c in self.children), ())

    @input_indexs.setter
    def input_indexs(self, value):
        self._input_indexs = value

    # -- iteration --

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=False):
        d = self if columns is None else self.project(columns)
        return TupleIterator(d, num_epochs, output_numpy, do_copy, self.get_init_step())

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=False):
        return DictIterator(self, num_epochs, output_numpy, do_copy, self.get_init_step())

    def __iter__(self):
        return self.create_tuple_iterator(num_epochs=1)

    def save(self, file_name, num_files=1, file_type='mindrecord'):
        """Writes one epoch to MindRecord files."""
        from ._records import save
        save(self, file_name, num_files, file_type)

    def reset(self):
        """An iterator starts at the beginning; there is nothing to reset."""


class ConcatDataset(Dataset):
    """Datasets one after the other."""

    def use_sampler(self, sampler):
        """A RandomSampler mixes the rows of the whole, a DistributedSampler gives this shard every num_shards-th of them."""
        shards = isinstance(sampler, samplers.DistributedSampler)
        if not shards and not isinstance(sampler, samplers.RandomSampler):
            raise TypeError('The parameter sampler of concat must be DistributedSampler or RandomSampler!')
        if sampler.num_samples is not None:
            raise ValueError(f'The parameter num_samples of {type(sampler).__name__} is not support to be set!')
        if not shards and sampler.replacement:
            raise ValueError('The parameter replacement of RandomSampler is not support to be set!')
        node = _c.ds_join('concat', [c._node for c in self.children])
        if not shards or sampler.shuffle:
            node = _c.ds_count('shuffle', node, max(2, sum(c.get_dataset_size() for c in self.children)))
        self._node = _c.ds_shard(node, sampler.num_shards, sampler.shard_id) if shards else node
        self.__dict__.pop('_size', None)


class TransferDataset(Dataset):
    """What device_que gives."""

    def send(self, num_epochs=-1):
        self._sender = TupleIterator(self, num_epochs, True)
        self._sender._prefetch()

    def stop_send(self):
        self._sender.close()

    release = stop_send

    def continue_send(self):
        """Rows are taken one by one; there is nothing to continue."""


class MapDataset(Dataset):
    pass


class BatchDataset(Dataset):
    pass


def zip(datasets):
    """Rows with the columns of all datasets, as long as the shortest."""
    if len(datasets) <= 1:
        raise ValueError('Can\'t zip empty dataset!' if not datasets else 'zip needs two datasets or more.')
    for d in datasets:
        _check.kind('datasets', d, Dataset)
    d = Dataset(children=datasets)
    d._node = _c.ds_join('zip', [d._node for d in datasets])
    d._step = 'Zip', zip, (datasets,), {}
    return d


# ---- sources ----

class MappableDataset(Dataset):
    """A source with random access: keeps its sampler."""

    def __init__(self, sampler, num_parallel_workers=None, cache=None):
        super().__init__(num_parallel_workers=num_parallel_workers, cache=cache)
        self.sampler = sampler
        self._node = self._open()

    def _open(self):
        raise NotImplementedError

    def _made_sampler(self):
        return None if self.sampler is None else samplers.make(self.sampler)

    def add_sampler(self, new_sampler):
        """`new_sampler` chooses among the rows that the present sampler gives."""
        if new_sampler is None:
            return
        if not isinstance(new_sampler, samplers.Sampler):
            raise TypeError(f'Input sampler is not an instance of a sampler, but {type(new_sampler)}.')
        if self.sampler is not None:
            new_sampler.add_child(self.sampler)
        self.sampler = new_sampler
        self._node = self._open()
        self.__dict__.pop('_size', None)

    use_sampler = add_sampler

    def is_shuffled(self):
        return isinstance(self.sampler, (samplers.RandomSampler, samplers.SubsetRandomSampler,
                                         samplers.WeightedRandomSampler)) or getattr(self.sampler, 'shuffle', False)

    def is_sharded(self):
        return isinstance(self.sampler, samplers.DistributedSampler)

    def _split(self, sizes, randomize):
        if not randomize or self.sampler is None:
            return super()._split(sizes, randomize)
        order = np.random.RandomState(_c.ds_config('seed')).permutation(sum(sizes)).tolist()
        parts, at = [], 0
        for n in sizes:
            part = object.__new__(type(self))
            part.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ('_size', '_first_row')})
            part.sampler = samplers.SubsetRandomSampler(order[at:at + n])
            if self.sampler is not None:
                part.sampler.add_child(samplers.SequentialSampler()
                                       if isinstance(self.sampler, samplers.RandomSampler) else self.sampler)
            part._node = part._open()
            parts.append(part)
            at += n
        return parts


class MnistDataset(MappableDataset):
    """Images (uint8 [28, 28, 1]) and labels (uint32) of the idx files in a folder, gzipped or not."""

    _fashion = False

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):
        _check.kind('dataset_dir', dataset_dir, str, os.PathLike)
        self.dataset_dir = os.fspath(dataset_dir)
        if usage is not None:
            _check.choice('usage', _check.kind('usage', usage, str), ('train', 'test', 'all'))
        self.usage = usage
        super().__init__(samplers.choose(num_samples, sampler, shuffle, num_shards, shard_id), num_parallel_workers,
                         cache)

    def _open(self):
        return _c.ds_mnist(self._fashion, self.dataset_dir, self.usage, self._made_sampler())

    def num_classes(self):
        return 10


class FashionMnistDataset(MnistDataset):
    """The same for Fashion-MNIST."""

    _fashion = True


def _slices(data):
    """Columns and names of what NumpySlicesDataset takes."""
    if isinstance(data, dict):
        return list(data.values()), [str(k) for k in data]
    if isinstance(data, tuple):
        return list(data), None
    return [data], None


class NumpySlicesDataset(MappableDataset):
    """Row i holds element i of each array."""

    def __init__(self, data, column_names=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None):
        if not isinstance(data, (list, tuple, dict, np.ndarray)):
            raise TypeError(f'Unsupported data type {type(data)}; it must be a list, tuple, dict or array.')
        if len(data) == 0:
            raise ValueError('Argument data cannot be empty')
        columns, names = _slices(data)
        if column_names is not None:
            names = _check.names('column_names', column_names)
            if len(names) != len(columns):
                raise ValueError(f'Num of input column names is {len(names)}, but required is {len(columns)}.')
        self.column_names = names or [f'column_{i}' for i in range(len(columns))]
        self._columns = [np.asarray(c) for c in columns]
        lengths = {len(c) if c.ndim else -1 for c in self._columns}
        if len(lengths) != 1 or lengths == {-1}:
            raise ValueError('The columns of NumpySlicesDataset must be equally long.')
        super().__init__(samplers.choose(num_samples, sampler, shuffle, num_shards, shard_id), num_parallel_workers)

    def _open(self):
        return _c.ds_slices(self.column_names, self._columns, self._made_sampler())


class GeneratorDataset(MappableDataset):
    """Rows from Python: an object with __getitem__ and __len__, an iterable, or a function that gives one.

    An item is a tuple of arrays, one per column, or one array for a single column. It is copied. With
    num_parallel_workers > 1 an object with random access is asked by several processes, each with its copy of the
    object, or with python_multiprocessing=False by several threads. batch_sampler gives lists of indices, of whose items
    collate_fn makes a row, from a list for each column; without it they are stacked. Batches are made one after the other."""

    def __init__(self, source, column_names=None, column_types=None, schema=None, num_samples=None,
                 num_parallel_workers=1, shuffle=None, sampler=None, num_shards=None, shard_id=None,
                 python_multiprocessing=True, max_rowsize=None, batch_sampler=None, collate_fn=None):
        if schema is not None:
            from ._records import Schema
            schema = schema if isinstance(schema, Schema) else Schema(schema)
            column_names, column_types = _schema_columns(schema.columns)
        if column_names is None:
            raise ValueError('Neither columns_names nor schema are provided.')
        self.column_names = _check.names('column_names', column_names)
        self.python_multiprocessing = _check.kind('python_multiprocessing', python_multiprocessing, bool)
        _check.row_size(max_rowsize, False)
        self._types = None
        if column_types is not None:
            self._types = [None if t is None else _c.ds_dtype(t) for t in column_types]
            if len(self._types) != len(self.column_names) or -1 in self._types:
                raise TypeError('column_types must have one dtype, or None, for each of column_names.')
            self._type_names = list(column_types)
        self.source = source
        self._random_access = hasattr(source, '__getitem__') and hasattr(source, '__len__') and \
            getattr(source, '_random_access', True)
        self._batch_sampler, self._collate = batch_sampler, collate_fn
        self._check_batches((num_samples, shuffle, num_shards, shard_id, sampler))
        if batch_sampler is not None:
            self._random_access, chosen = False, None
        elif not self._random_access:
            if not callable(source) and not hasattr(source, '__iter__') and not hasattr(source, '__next__'):
                raise TypeError('Input `source` function of GeneratorDataset should be callable, iterable or random '
                                f'accessible, but got {type(source)}.')
            if sampler is not None or num_shards is not None or shard_id is not None:
                raise ValueError('sampler and num_shards need a source with random access (__getitem__ and __len__).')
            if shuffle:
                raise ValueError('shuffle=True needs a source with random access (__getitem__ and __len__).')
            if num_samples is not None:
                _check.integer('num_samples', num_samples, 0)
            chosen = None
        else:
            chosen = samplers.choose(num_samples, sampler, shuffle, num_shards, shard_id)
        super().__init__(chosen, num_parallel_workers)
        if not self._random_access and num_samples:
            self._node = _c.ds_count('take', self._node, num_samples)

    def _check_batches(self, others):
        if self._batch_sampler is None:
            if self._collate is not None:
                raise ValueError('collate_fn can be specified only when batch_sampler is set.')
            return
        if any(v is not None for v in others):
            raise ValueError('batch_sampler is mutually exclusive with num_samples, shuffle, num_shards, shard_id and sampler.')
        if not hasattr(self._batch_sampler, '__getitem__') and not hasattr(self._batch_sampler, '__iter__'):
            raise TypeError('batch_sampler should have __getitem__ or __iter__ method.')
        if not hasattr(self.source, '__getitem__'):
            raise ValueError("batch_sampler is not supported if source does not have attribute '__getitem__'.")
        if self._collate is not None and not callable(self._collate):
            raise TypeError('collate_fn should be callable.')

    def get_batch_size(self):
        return super().get_batch_size() if self._batch_sampler is None else -1

    def __getitem__(self, index):
        """The item at a place of the order in which the sampler gives the rows."""
        _check.kind('index', index, int, np.number)
        if not self._random_access:
            raise RuntimeError("Dataset don't support randomized access.")
        if index < 0:
            raise RuntimeError(f'Index [{index}] can not be a negative number.')
        order = self.__dict__.get('_order')
        if order is None or order[0] is not self.sampler:
            rows = _c.ds_slices(['row'], [np.arange(len(self.source))], self._made_sampler())
            it, places = _c.ds_iter(rows, 1), []
            while (row := _c.ds_next(it, 1, True)) is not None:
                places.append(int(row[0]))
            order = self._order = self.sampler, places
        if index >= len(order[1]):
            raise RuntimeError(f'Index [{index}] exceeded the number of data samples.')
        return self.source[order[1][index]]

    def _open(self):
        if self._batch_sampler is not None:
            size = len(self._batch_sampler) if hasattr(self._batch_sampler, '__len__') else -1
            source = self.source, self._batch_sampler, self._collate, self._check_types if self._types else None
            return _c.ds_source(f'GeneratorDataset {_name(self.source)}', self.column_names, size, False,
                                lambda: _batch_pair(*source), None, 1)
        size = len(self.source) if hasattr(self.source, '__len__') else -1
        if self._random_access and size == 0:
            raise ValueError('The source of GeneratorDataset has no rows.')
        pair = _random_pair if self._random_access else _stream_pair
        check = self._check_types if self._types else None
        source, name, number = self.source, f'GeneratorDataset {_name(self.source)}', self.num_parallel_workers or 1

        def start():
            return pair(source, check)
        if self._random_access and self.python_multiprocessing and number > 1:
            remote = Workers(number, _random_pair(source, check)[1], f'the source of {name}')
            self._workers = (remote,)

            def start():
                return _remote_pair(remote)
        return _c.ds_source(name, self.column_names, size, self._random_access, start, self._made_sampler(), number)

    def _check_types(self, row):
        values = row if isinstance(row, tuple) else (row,)
        for v, number, name in builtins.zip(values, self._types, self._type_names):
            array = np.asarray(v)
            if number is not None and _c.ds_dtype(array.dtype) != number:
                raise RuntimeError("Invalid Python function, type of returned data in 'GeneratorDataset' should be same "
                                   f'with specified column_types, but the type of returned data: {array.dtype}, '
                                   f'specified column type: {name}')
        return row


class PaddedDataset(GeneratorDataset):
    """Rows from a list of dicts, for concat: they fill up a dataset that a number of shards must divide."""

    def __init__(self, padded_samples):
        if not isinstance(padded_samples, list):
            raise TypeError(f'padded_samples must be a list, but got {type(padded_samples)}.')
        if not padded_samples:
            raise ValueError('padded_samples cannot be empty.')
        names = list(_check.kind('padded_samples[0]', padded_samples[0], dict))
        self.padded_samples = padded_samples
        super().__init__([tuple(row[n] for n in names) for row in padded_samples], names, shuffle=False)


def _row(item):
    return tuple(item) if isinstance(item, list) else item


def _random_pair(source, check):
    def get(i):
        row = _row(source[i])
        if row is None:
            raise RuntimeError(f'the source returned None for row {i}')
        return check(row) if check else row
    return lambda epoch: None, get


def _schema_columns(columns):
    """Names and dtypes of the columns of a Schema."""
    return [c['name'] for c in columns], [np.dtype(c['type']) for c in columns]


def _batch_pair(source, batch_sampler, collate, check):
    sampler, batches = samplers.copied(batch_sampler), []
    ended, now = [0], [None]

    def begin(epoch):
        while ended[0] <= epoch:  # also those that a pass skips
            batches[:] = list(sampler)
            ended[0] += 1
        now[0] = iter(batches)

    def get(i):
        indices = next(now[0], None)
        if indices is None:
            return None
        if not isinstance(indices, (list, tuple, np.ndarray)):
            raise TypeError(f'Batch sampler should return a list, but got {_kind_of(indices)}.')
        if not all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in indices):
            raise TypeError(f'Python sampler should return index of type integer, but got {list(indices)}.')
        rows = [_row(source[k]) for k in indices]
        columns = [list(c) for c in builtins.zip(*(r if isinstance(r, tuple) else (r,) for r in rows))]
        made = collate(*columns) if collate else tuple(np.stack([np.asarray(v) for v in c]) for c in columns)
        return check(made) if check else made
    return begin, get


def _kind_of(value):
    return 'an integer' if isinstance(value, (int, np.integer)) else str(type(value))


def _remote_pair(remote):
    now = [0]

    def begin(epoch):
        now[0] = epoch
    return begin, lambda i: remote.at((now[0], i), i)


def _stream_pair(source, check):
    items = [None]

    def begin(epoch):
        made = source() if callable(source) and not hasattr(source, '__iter__') and not hasattr(source, '__next__') \
            else source
        items[0] = iter(made)

    def get(i):
        try:
            row = _row(next(items[0]))  # a loop would call __iter__ for every row
        except StopIteration:
            return None
        if row is None:
            raise RuntimeError(f'the source returned None for row {i}')
        return check(row) if check else row
    return begin, get
