"""Samplers: in which order, and which rows, a source with random access is read."""
import copy
import enum

import numpy as np

from mindspore import _c

from . import _check, config


class Shuffle(str, enum.Enum):
    FALSE = 'false'
    ADAPTIVE = 'adaptive'
    GLOBAL = 'global'
    PARTIAL = 'partial'
    FILES = 'files'
    INFILE = 'infile'


def by_files(mode):
    """Whether a mode of shuffling goes by the files of a dataset."""
    return isinstance(mode, Shuffle) and mode in (Shuffle.FILES, Shuffle.INFILE)


class Sampler(_check.Recorded):
    """Base class of samplers that are written in Python: override __iter__ (indices of one epoch), or fill sample_ids."""

    shuffle_mode = None  # a Shuffle that goes by files

    def __init__(self, num_samples=None):
        self.num_samples = _check.samples(num_samples)
        self.child_sampler = None
        self.dataset_size = 0

    def __iter__(self):
        raise NotImplementedError('Sampler must be subclassed and __iter__ be overridden.')

    def add_child(self, sampler):
        """Rows are first chosen by `sampler`; this one chooses among them."""
        if self.child_sampler is not None:
            raise RuntimeError('Cannot add child sampler, this sampler already has a child.')
        self.child_sampler = sampler

    def get_child(self):
        return self.child_sampler

    def get_num_samples(self):
        return self.num_samples

    def parse(self):
        """The sampler; older scripts ask for its form in the pipeline."""
        return self

    def _own(self):
        return host(self)

    def _make(self, by_files=None):
        own, child = self._own(), self.child_sampler
        if child is None and by_files is not None:
            child = by_files(self.shuffle_mode)
        return own if child is None else _c.ds_sampler_chain(own, make(child, by_files))


class _Host:
    """A sampler written in Python, for the pipeline: any iterable of indices. Each pass works on a copy of it, whose
    reset() is called between the epochs."""

    def __init__(self, sampler):
        self.sampler, self.copy, self.given = sampler, None, None

    def __call__(self, n_rows, epoch, again):
        if not again:
            if epoch == 0 or self.copy is None:
                self.copy = copied(self.sampler)
            elif hasattr(self.copy, 'reset'):
                self.copy.reset()
            self.given = _indices(self.copy, n_rows)
        return self.given

    def size(self, n_rows):
        known = _length(self.sampler)
        return len(_indices(copy.deepcopy(self.sampler), n_rows)) if known is None else known


def copied(sampler):
    try:
        return copy.deepcopy(sampler)
    except TypeError:  # what cannot be copied goes on where it is
        return sampler


def _length(sampler):
    """How many indices a sampler says it gives; `num_samples` of one that is no Sampler may mean something else."""
    return isinstance(sampler, Sampler) and sampler.num_samples or (len(sampler) if hasattr(sampler, '__len__') else None)


def _indices(sampler, n_rows):
    if isinstance(sampler, Sampler):
        sampler.dataset_size = n_rows
    result, limit = [], _length(sampler)
    for i in iter(sampler):
        for k in np.ravel(np.asarray(i)).tolist():
            if isinstance(k, bool) or not isinstance(k, int):
                raise TypeError(f'Sampler returned an index {k!r}, which is not an int.')
            result.append(k)
            if limit and len(result) == limit:
                return result
    if limit:
        raise RuntimeError(f'The actual amount of data read from generator {len(result)} is different from generator.len '
                           f'{limit}, the length of the sampler.')
    return result


class Refused:
    """Stands for a sampler where rows cannot be shared out as asked, which is said when rows are asked for."""

    def __init__(self, text):
        self.text = text

    def __iter__(self):
        raise RuntimeError(self.text)


def host(sampler):
    return _c.ds_sampler_host(_Host(sampler))


class BuiltinSampler(Sampler):
    """Base of the samplers that the library has."""

    shuffle_mode = Shuffle.GLOBAL

    def __iter__(self):
        raise NotImplementedError(f'{type(self).__name__} runs inside the pipeline.')

    def get_shuffle_mode(self):
        return self.shuffle_mode

    def parse_for_minddataset(self):
        """The sampler as the pipeline takes it."""
        return self._make()

    def _args(self):
        raise NotImplementedError

    def _own(self):
        return _c.ds_sampler(*self._args())


class SequentialSampler(BuiltinSampler):
    shuffle_mode = Shuffle.FALSE

    def __init__(self, start_index=None, num_samples=None):
        if start_index is not None:
            _check.integer('start_index', start_index, 0)
        super().__init__(num_samples)
        self.start_index = start_index

    def _args(self):
        return 'sequential', self.start_index or 0, self.num_samples or 0


class RandomSampler(BuiltinSampler):
    def __init__(self, replacement=False, num_samples=None, shuffle=None):
        if not isinstance(replacement, bool):
            raise TypeError(f'replacement must be a boolean value but got: {replacement}.')
        super().__init__(num_samples)
        self.replacement = replacement
        self.deterministic = False
        self.shuffle_mode = Shuffle.GLOBAL if shuffle is None else _check.kind('shuffle', shuffle, Shuffle)

    def _args(self):
        if by_files(self.shuffle_mode):
            return 'sequential', 0, self.num_samples or 0
        return 'random', self.replacement, self.num_samples or 0


class DistributedSampler(BuiltinSampler):
    def __init__(self, num_shards, shard_id, shuffle=True, num_samples=None, offset=-1):
        _check.integer('num_shards', num_shards, 1)
        _check.integer('shard_id', shard_id, 0)
        if not isinstance(shuffle, (bool, Shuffle)):
            raise TypeError(f'shuffle must be a boolean value or valid shuffle mode but got: {shuffle}.')
        _check.integer('offset', offset, -1)
        if shard_id >= num_shards:
            raise ValueError(f'shard_id should be in range [0, {num_shards}), but got {shard_id}.')
        if offset > num_shards:
            raise RuntimeError(f'DistributedSampler: offset must be no more than num_shards({num_shards}), but got {offset}.')
        super().__init__(num_samples)
        self.num_shards, self.shard_id, self.shuffle, self.offset = num_shards, shard_id, shuffle, offset
        self.shuffle_mode = shuffle if isinstance(shuffle, Shuffle) else Shuffle.GLOBAL if shuffle else Shuffle.FALSE

    def _args(self):
        mixed = self.shuffle_mode is not Shuffle.FALSE and not by_files(self.shuffle_mode)
        return 'distributed', self.num_shards, self.shard_id, mixed, self.num_samples or 0, self.offset


class SubsetSampler(BuiltinSampler):
    _shuffle, shuffle_mode = False, Shuffle.FALSE

    def __init__(self, indices, num_samples=None):
        if not isinstance(indices, (list, tuple, np.ndarray)):
            indices = [indices]
        for i, item in enumerate(indices):
            if not isinstance(item, (int, np.integer)) or isinstance(item, bool):
                raise TypeError(f'Type of indices element must be int, but got list[{i}]: {item}, type: {type(item)}.')
        super().__init__(num_samples)
        self.indices = [int(i) for i in indices]

    def _args(self):
        return 'subset', self.indices, self._shuffle, self.num_samples or 0


class SubsetRandomSampler(SubsetSampler):
    _shuffle, shuffle_mode = True, Shuffle.GLOBAL


class BlockSampler(BuiltinSampler):
    """Blocks of adjacent rows (files): their order drawn anew each epoch, or the rows within each, or both."""

    def __init__(self, sizes, blocks, rows):
        super().__init__()
        self.sizes, self.blocks, self.rows = list(sizes), blocks, rows

    def _args(self):
        return 'blocks', self.sizes, self.blocks, int(self.rows)


def lanes(num_parallel_workers, n_files):
    """How many files are read at a time, row by row in turn, as far as the user has said how many workers there are."""
    return min(n_files, num_parallel_workers or config.workers_set() or n_files)


def in_turn(counts, n_lanes):
    """The rows of files of so many rows each: file k belongs to lane k % n_lanes, and the lanes give a row each in turn."""
    begin = np.cumsum([0, *counts])
    rows = [np.concatenate([np.arange(begin[k], begin[k + 1]) for k in range(lane, len(counts), n_lanes)])
            for lane in range(n_lanes)]
    turn = np.concatenate([np.arange(len(r)) for r in rows])
    return np.concatenate(rows)[np.argsort(turn, kind='stable')]


class WeightedRandomSampler(BuiltinSampler):
    def __init__(self, weights, num_samples=None, replacement=True):
        if not isinstance(weights, (list, tuple, np.ndarray)):
            weights = [weights]
        for i, item in enumerate(weights):
            if not isinstance(item, (int, float, np.number)) or isinstance(item, bool):
                raise TypeError(f'type of weights element must be number, but got w[{i}]: {item}, type: {type(item)}.')
            if not 0 <= item < float('inf'):
                raise ValueError(f'weights must not contain negative or infinite numbers, but got w[{i}]: {item}.')
        if len(weights) == 0:
            raise ValueError('weights size should not be 0')
        if not any(w > 0 for w in weights):
            raise ValueError('elements of weights must not be all zero')
        if not isinstance(replacement, bool):
            raise TypeError(f'replacement must be a boolean value but got: {replacement}.')
        super().__init__(num_samples)
        self.weights, self.replacement = [float(w) for w in weights], replacement

    def _args(self):
        return 'weighted', self.weights, self.replacement, self.num_samples or 0


class PKSampler(BuiltinSampler):
    shuffle_mode = Shuffle.FALSE

    def __init__(self, num_val, num_class=None, shuffle=False, class_column='label', num_samples=None):
        _check.integer('num_val', num_val, 1)
        if num_class is not None:
            _check.integer('num_class', num_class, 1)
        if not isinstance(shuffle, bool):
            raise TypeError(f'shuffle must be a boolean value but got: {shuffle}.')
        if class_column != 'label':
            raise NotImplementedError("class_column other than 'label' is not supported.")
        super().__init__(num_samples)
        self.num_val, self.num_class, self.shuffle, self.class_column = num_val, num_class, shuffle, class_column

    def _args(self):
        return 'pk', self.num_val, self.num_class or 0, self.shuffle, self.num_samples or 0


def make(sampler, by_files=None):
    """Any sampler as the pipeline takes it. by_files(mode) gives the sampler below one whose shuffle_mode goes by files."""
    return sampler._make(by_files) if isinstance(sampler, Sampler) else host(sampler)


def choose(num_samples, sampler, shuffle, num_shards, shard_id, default_shuffle=True):
    """The sampler that a source's arguments stand for. Without any, rows come in random order."""
    if shuffle is not None:
        if not isinstance(shuffle, bool):
            raise TypeError(f'Argument shuffle with value {shuffle} is not of type [<class \'bool\'>], '
                            f'but got {type(shuffle)}.')
    _check.samples(num_samples)
    if sampler is not None and shuffle is not None:
        raise RuntimeError('sampler and shuffle cannot be specified at the same time.')
    if sampler is not None and num_shards is not None:
        raise RuntimeError('sampler and sharding cannot be specified at the same time.')
    if num_shards is not None and shard_id is None:
        raise RuntimeError('num_shards is specified and currently requires shard_id as well.')
    if num_shards is None and shard_id is not None:
        raise RuntimeError('shard_id is specified but num_shards is not.')
    if num_shards is not None:
        _check.shard(num_shards, shard_id)
    if sampler is not None:
        if num_samples is not None and isinstance(sampler, BuiltinSampler):
            raise RuntimeError('sampler and num_samples cannot be specified at the same time.')
        if isinstance(sampler, (int, list, tuple, np.ndarray)):
            sampler = SubsetSampler(sampler)
        if isinstance(sampler, str) or not (hasattr(sampler, '__iter__') or hasattr(sampler, '__getitem__')):
            raise TypeError(f'Unsupported sampler object of type ({type(sampler)})')
        if num_samples is not None:
            outer = SequentialSampler(num_samples=num_samples)
            outer.add_child(sampler)
            return outer
        return sampler
    shuffle = default_shuffle if shuffle is None else shuffle
    if num_shards is not None:
        return DistributedSampler(num_shards, shard_id, shuffle, num_samples)
    return RandomSampler(num_samples=num_samples) if shuffle else SequentialSampler(num_samples=num_samples)
