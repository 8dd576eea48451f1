"""The base of published data sets: a list of rows, made once, whose cells are arrays, texts or names of files.

A subclass gives its parameters as a lambda, the values of `usage`, and _list, which reads the index files. Files of rows
are read by the pipeline when their row is asked for."""
import itertools
import os

import numpy as np

from mindspore import _c

from . import _check, samplers
from .datasets import MappableDataset, Shuffle
from .vision import Decode

_COMMON = ('num_samples', 'num_parallel_workers', 'shuffle', 'decode', 'sampler', 'num_shards', 'shard_id', 'cache')


class File(str):
    """A cell that is the bytes of a file."""

    def read(self):
        try:
            with open(self, 'rb') as f:
                return self._value(f.read())
        except OSError as e:
            raise RuntimeError(f'Invalid file, Failed to open file: {self}: {e.strerror}.') from e

    def _value(self, content):
        return np.frombuffer(content, np.uint8)


class TextFile(File):
    def _value(self, content):
        return np.array(content.decode('utf-8'))


def folder(path, name='dataset_dir'):
    _check.kind(name, path, str, os.PathLike)
    if not os.path.isdir(path) or not os.access(path, os.R_OK):
        raise ValueError(f'The folder {path} does not exist or is not a directory or permission denied!')
    return os.fspath(path)


_opened = []  # by the data set that is being made


def file(path, name='file'):
    _check.kind(name, path, str, os.PathLike)
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise ValueError(f'The file {path} does not exist or permission denied!')
    _opened.append(os.fspath(path))
    return _opened[-1]


def lines(path):
    try:
        with open(file(path), encoding='utf-8') as f:
            return f.read().splitlines()
    except UnicodeDecodeError as e:
        raise RuntimeError(f'Invalid file, {path} is not UTF-8 text: {e}') from e


def inside(path, *suffixes):
    """Paths of the files in a folder that end so, in order of their names."""
    return [File(os.path.join(path, n)) for n in sorted(os.listdir(folder(path)))
            if not suffixes or n.lower().endswith(suffixes)]


class RowsDataset(_check.Described, MappableDataset):
    _usages, _images = (), (0,)
    _by_file = False  # _list gives a list of rows for each file; unmixed, files give a row each in turn

    def __init__(self, *args, **kwargs):
        given = self._bind(args, kwargs)
        own = {k: v for k, v in given.items() if k not in _COMMON}
        common = {k: given.get(k) for k in _COMMON}
        if 'dataset_dir' in own:
            own['dataset_dir'] = folder(own['dataset_dir'])
        if self._usages and own.get('usage') is not None:
            _check.choice('usage', _check.kind('usage', own['usage'], str), self._usages)
        self._decode = _check.kind('decode', common['decode'], bool) if common['decode'] is not None else False
        shuffle = common['shuffle']
        if shuffle is not None and not isinstance(shuffle, (bool, Shuffle)):
            raise TypeError(f'shuffle must be of boolean or enum of Shuffle, but got {type(shuffle)}.')
        if isinstance(shuffle, Shuffle):
            shuffle = shuffle is Shuffle.GLOBAL
        self.num_samples = common['num_samples']
        self.__dict__.update(own)
        _opened.clear()
        try:
            self._names, self._rows = self._list(**own)
            if self._by_file:
                self._rows = self._joined(self._rows, common['shuffle'], common['num_parallel_workers'])
        except (IndexError, KeyError) as e:
            raise RuntimeError(f'Invalid data, the files of {type(self).__name__} are not as published: {e!r}') from e
        self._origin = ', '.join(dict.fromkeys(_opened)) or str(own.get('dataset_dir', ''))
        if not self._rows:
            raise RuntimeError(f'Invalid data, no valid data matching the dataset API {type(self).__name__}: no row was found'
                               f'{" in " + own["dataset_dir"] if "dataset_dir" in own else ""}.')
        super().__init__(samplers.choose(common['num_samples'] or None, common['sampler'], shuffle, common['num_shards'],
                                         common['shard_id']), common['num_parallel_workers'], common['cache'])

    @staticmethod
    def _joined(parts, shuffle, workers):
        if shuffle is Shuffle.FILES:
            np.random.RandomState(_c.ds_config('seed')).shuffle(parts)
        lanes = samplers.lanes(_check.workers(workers), len(parts)) if shuffle in (False, Shuffle.FILES) else 1
        if lanes < 2:
            return list(itertools.chain.from_iterable(parts))
        given = [itertools.chain.from_iterable(parts[k::lanes]) for k in range(lanes)]
        end = object()
        return [r for turn in itertools.zip_longest(*given, fillvalue=end) for r in turn if r is not end]

    def _list(self, **own):
        """(column names, rows)"""
        raise NotImplementedError

    def _open(self):
        names, rows = list(self._names), self._rows
        files = [k for k, c in enumerate(rows[0]) if isinstance(c, File)]
        rest = None
        if not files or (files == [0] and not isinstance(rows[0][0], TextFile)):
            rest = [[np.asarray(r[k]) for r in rows] for k in range(len(files), len(names))]
        if rest is None or any(len({c.shape for c in column}) > 1 for column in rest):
            node = self._host()
        else:
            rest = [np.stack(column) for column in rest]
            node = _c.ds_files([os.fsencode(r[0]) for r in rows], names, rest, self._made_sampler()) if files else \
                _c.ds_origin(_c.ds_slices(names, rest, self._made_sampler()), self._origin)
        if self._decode:
            for k in self._images:
                node = _c.ds_map(node, [Decode()._op], names[k], None, self.num_parallel_workers or 0)
        return node

    def _host(self):
        """The rows as _get gives them."""
        return _c.ds_origin(_c.ds_source(type(self).__name__, list(self._names), len(self._rows), True,
                                         lambda: (lambda epoch: None, self._get), self._made_sampler(),
                                         self.num_parallel_workers or 1), self._origin)

    def _get(self, i):
        return tuple(c.read() if isinstance(c, File) else c for c in self._rows[i])


def u4(value):
    return np.array(value, np.uint32)
