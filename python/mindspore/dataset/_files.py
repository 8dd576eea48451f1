"""Sources on disk: folders of images, CIFAR, manifests, lines of text and CSV. A folder is listed here; its files are read
by the pipeline, row by row. What is small as a whole (CIFAR, text) is read when an iterator needs it."""
import csv
import glob
import json
import os

import numpy as np

import mindspore.log as logger
from mindspore import _c

from . import _check, samplers
from .datasets import Shuffle, MappableDataset
from .vision import Decode

__all__ = ['CSVDataset', 'Cifar10Dataset', 'Cifar100Dataset', 'ImageFolderDataset', 'ManifestDataset']


def _folder(path):
    _check.kind('dataset_dir', path, str, os.PathLike)
    path = os.fspath(path)
    if not os.path.isdir(path) or not os.access(path, os.R_OK):
        raise ValueError(f'The folder {path} does not exist or is not a directory or permission denied!')
    return path


def _class_indexing(class_indexing):
    if class_indexing is None:
        return None
    _check.kind('class_indexing', class_indexing, dict)
    for name, number in class_indexing.items():
        _check.kind('class_indexing', name, str)
        _check.kind('class_indexing', number, int)
        if not -2147483648 <= number <= 2147483647:
            raise ValueError('The values of class_indexing must be 32-bit integers.')
    return dict(class_indexing)


class _FilesDataset(MappableDataset):
    """Rows of a file's bytes, or the decoded image, and labels. Subclasses set _paths, _labels, _decode."""

    def _open(self):
        ragged = len({np.size(v) for v in self._labels}) > 1
        labels = np.arange(len(self._labels)) if ragged else np.asarray(self._labels, np.int32)
        node = _c.ds_files([os.fsencode(p) for p in self._paths], ['image', 'label'], [labels], self._made_sampler())
        if ragged:
            given = [np.asarray(v, np.int32) for v in self._labels]
            node = _c.ds_map(node, [_c.ds_callable('label', lambda i: given[int(i)], False)], 'label', None, 1)
        if self._decode:
            node = _c.ds_map(node, [Decode()._op], 'image', None, self.num_parallel_workers or 0)
        return node


class ImageFolderDataset(_FilesDataset):
    """A folder with a folder of images for each class; classes are numbered in the order of their names."""

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 extensions=None, class_indexing=None, decode=False, num_shards=None, shard_id=None, cache=None,
                 decrypt=None):
        self.dataset_dir = _folder(dataset_dir)
        if decrypt is not None:
            raise NotImplementedError('ImageFolderDataset does not support decrypt.')
        _check.kind('decode', decode, bool)
        if extensions is not None:
            _check.kind('extensions', extensions, list, tuple)
            for e in extensions:
                _check.kind('extensions', e, str)
        suffixes = tuple(e.lower() for e in (extensions or ('.jpg', '.jpeg', '.png', '.bmp', '.webp')))
        suffixes = tuple(e if e.startswith('.') else '.' + e for e in suffixes)
        self.extensions, self.class_indexing, self._decode = extensions, _class_indexing(class_indexing), decode
        classes = sorted(e.name for e in os.scandir(self.dataset_dir) if e.is_dir())
        number = self.class_indexing
        if number is None:
            number = {name: i for i, name in enumerate(classes)}
        self._paths, self._labels, self._number = [], [], number
        for name in classes:
            if name not in number:
                continue
            for root, folders, files in os.walk(os.path.join(self.dataset_dir, name)):
                folders.sort()
                for file in sorted(files):
                    if file.lower().endswith(suffixes):
                        self._paths.append(os.path.join(root, file))
                        self._labels.append(number[name])
        if not self._paths:
            raise RuntimeError('Invalid data, data file may not be suitable to read with ImageFolderDataset API. Check '
                               f'the folder {self.dataset_dir}: it has no image in a subfolder.')
        super().__init__(samplers.choose(num_samples, sampler, shuffle, num_shards, shard_id), num_parallel_workers,
                         cache)

    def get_class_indexing(self):
        return dict(self._number)

    def num_classes(self):
        return len(self._number)


def _may_be_image(path):
    """Whether a file begins as a JPEG, PNG, BMP or GIF does; one that cannot be read is an error of its row."""
    try:
        with open(path, 'rb') as f:
            head = f.read(3)
    except OSError:
        return True
    good = not head or head.startswith((b'\xff\xd8\xff', b'\x89PN', b'BM', b'GIF'))
    if not good:
        logger.warning(f'ManifestDataset leaves out {path}, which is no JPEG, PNG, BMP or GIF.')
    return good


class ManifestDataset(_FilesDataset):
    """Images that a manifest names: lines of JSON with source, usage and annotation."""

    def __init__(self, dataset_file, usage='train', num_samples=None, num_parallel_workers=None, shuffle=None,
                 sampler=None, class_indexing=None, decode=False, num_shards=None, shard_id=None, cache=None):
        _check.kind('dataset_file', dataset_file, str)
        if not os.path.isfile(dataset_file):
            raise ValueError(f'The file {dataset_file} does not exist or permission denied!')
        if usage not in ('train', 'eval', 'inference'):
            raise ValueError("usage should be train, eval or inference.")
        self.dataset_file, self.usage, self._decode = dataset_file, usage, _check.kind('decode', decode, bool)
        wanted = self.class_indexing = _class_indexing(class_indexing)
        rows = []
        with open(dataset_file, encoding='utf-8') as f:
            for k, line in enumerate(f):
                try:
                    item = json.loads(line)
                    for key in ('source', 'usage'):
                        if key not in item:
                            raise RuntimeError(f"Invalid manifest file, '{key}' is missing in line {k + 1} of {dataset_file}.")
                    if item['usage'].lower() == usage:
                        rows.append((item['source'], [a['name'] for a in item.get('annotation', [])]))
                except (ValueError, KeyError, TypeError, AttributeError) as e:
                    raise RuntimeError(f'Invalid manifest, line {k + 1} of {dataset_file}: {e}') from e
        names = sorted({n for _, found in rows for n in found})
        number = wanted if wanted is not None else {n: i for i, n in enumerate(names)}
        rows = [(p, [number[n] for n in found if n in number]) for p, found in rows]
        rows = [(p, found) for p, found in rows if found and _may_be_image(p)]
        if not rows:
            raise RuntimeError(f'Invalid data, {dataset_file} has no row for usage {usage}.')
        self._paths, self._labels, self._number = [p for p, _ in rows], [f[0] if len(f) == 1 else f for _, f in rows], number
        super().__init__(samplers.choose(num_samples, sampler, shuffle, num_shards, shard_id), num_parallel_workers,
                         cache)

    def get_class_indexing(self):
        return dict(self._number)

    def num_classes(self):
        return len(self._number)


class _CifarDataset(MappableDataset):
    """The binary version of CIFAR, kept in memory: images uint8 [32, 32, 3], labels uint32."""

    _label_bytes, _columns, _parts = 1, ('image', 'label'), {}

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):
        self.dataset_dir = _folder(dataset_dir)
        if usage is not None:
            _check.choice('usage', _check.kind('usage', usage, str), ('train', 'test', 'all'))
        self.usage = usage
        names = [n for part, list_ in self._parts.items() if usage in (part, 'all', None) for n in list_]
        found = [os.path.join(self.dataset_dir, n) for n in names if os.path.isfile(os.path.join(self.dataset_dir, n))]
        if not found:
            raise RuntimeError(f'Invalid data, {type(self).__name__} found none of {names} in {self.dataset_dir}.')
        self._arrays = self._read(found)
        super().__init__(samplers.choose(num_samples, sampler, shuffle, num_shards, shard_id), num_parallel_workers,
                         cache)

    def _read(self, files):
        size, parts = self._label_bytes + 3072, []
        for path in files:
            raw = np.fromfile(path, np.uint8)
            if len(raw) == 0 or len(raw) % size:
                raise RuntimeError(f'Invalid file, {path} is not of CIFAR\'s binary format: its size {len(raw)} is no '
                                   f'multiple of {size}.')
            parts.append(raw.reshape(-1, size))
        rows = np.concatenate(parts)
        images = rows[:, self._label_bytes:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        labels = [rows[:, k].astype(np.uint32) for k in reversed(range(self._label_bytes))]
        return [np.ascontiguousarray(images), *labels]

    def _open(self):
        return _c.ds_slices(list(self._columns), self._arrays, self._made_sampler())


class Cifar10Dataset(_CifarDataset):
    _parts = {'train': [f'data_batch_{k}.bin' for k in range(1, 6)], 'test': ['test_batch.bin']}

    def num_classes(self):
        return 10


class Cifar100Dataset(_CifarDataset):
    """Labels are fine_label and coarse_label."""

    _label_bytes, _columns = 2, ('image', 'fine_label', 'coarse_label')
    _parts = {'train': ['train.bin'], 'test': ['test.bin']}

    def num_classes(self):
        return 100


# ---- text ----

def _files(dataset_files):
    """Paths of files or patterns, sorted."""
    if not isinstance(dataset_files, (str, list)):
        raise TypeError(f'dataset_files should be either str or a list of str, but got {type(dataset_files)}.')
    found = []
    for pattern in [dataset_files] if isinstance(dataset_files, str) else dataset_files:
        _check.kind('dataset_files', pattern, str)
        matches = [p for p in glob.glob(glob.escape(pattern) if os.path.exists(pattern) else pattern) if os.path.isfile(p)]
        if not matches:
            raise ValueError(f'The following patterns did not match any files: {[pattern]}')
        found += matches
    return sorted(found)


class _TextDataset(MappableDataset):
    """Rows parsed from text files. shuffle: True and Shuffle.GLOBAL mix the rows, Shuffle.FILES the order of the files."""

    def __init__(self, dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache):
        self.dataset_files = _files(dataset_files)
        if not isinstance(shuffle, (bool, Shuffle)) or shuffle in (Shuffle.PARTIAL, Shuffle.INFILE, Shuffle.ADAPTIVE):
            raise TypeError("shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or "
                            "'Shuffle.FILES'.")
        files = list(self.dataset_files)
        if shuffle is Shuffle.FILES:
            np.random.RandomState(_c.ds_config('seed')).shuffle(files)
        self._columns, self._names = self._parse(files)
        mixed = shuffle is True or shuffle is Shuffle.GLOBAL
        _check.samples(num_samples)
        super().__init__(samplers.choose(num_samples or None, None, mixed, num_shards, shard_id), num_parallel_workers,
                         cache)

    def _open(self):
        return _c.ds_origin(_c.ds_slices(self._names, self._columns, self._made_sampler()), ', '.join(self.dataset_files))


class CSVDataset(_TextDataset):
    """Rows of comma-separated values. column_defaults tells each column's type by a value of it, which stands for empty
    fields: a str, an int (int32) or a float (float32). Without it all columns are texts."""

    def __init__(self, dataset_files, field_delim=',', column_defaults=None, column_names=None, num_samples=None,
                 num_parallel_workers=None, shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, cache=None):
        field_delim = _check.kind('field_delim', ',' if field_delim is None else field_delim, str)
        if len(field_delim) != 1 or field_delim in '"\r\n':
            raise ValueError('field_delim is not legal.')
        if column_defaults is not None:
            _check.kind('column_defaults', column_defaults, list)
            for v in column_defaults:
                if not isinstance(v, (str, int, float)):
                    raise TypeError('column type in column_defaults is invalid.')
        self.field_delim, self.column_defaults = field_delim, column_defaults
        self.column_names = None if column_names is None else _check.names('column_names', column_names)
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def _parse(self, files):
        rows, names = [], self.column_names
        for path in files:
            with open(path, encoding='utf-8-sig', newline='') as f:
                lines = csv.reader(f, delimiter=self.field_delim, strict=True)
                try:
                    here = [(lines.line_num, row) for row in lines if row]
                except (csv.Error, UnicodeDecodeError) as e:
                    raise RuntimeError(f'Invalid file, failed to parse csv file: {path} at line {lines.line_num}: {e}') from e
            if self.column_names is None and here:
                head = here.pop(0)[1]
                if names is not None and head != names:
                    raise RuntimeError(f'Invalid CSV, the columns {head} of {path} differ from {names}.')
                names = head
            for number, row in here:
                if len(row) != len(names):
                    raise RuntimeError(f'Invalid CSV, line {number} of {path} has {len(row)} fields, but there are '
                                       f'{len(names)} columns.')
            rows += here
        if not rows:
            raise RuntimeError(f'Invalid data, there are no rows in {files}.')
        defaults = self.column_defaults or [''] * len(names)
        if len(defaults) != len(names):
            raise RuntimeError(f'column_defaults has {len(defaults)} values, but there are {len(names)} columns.')
        columns = []
        for k, default in enumerate(defaults):
            kind = str if isinstance(default, str) else np.float32 if isinstance(default, float) else np.int32
            try:
                columns.append(np.array([default if row[k] == '' else kind(row[k]) for _, row in rows], kind))
            except (ValueError, OverflowError) as e:
                raise RuntimeError(f'Invalid CSV, column {names[k]} of {", ".join(files)}, type does not match: {e}') from e
        return columns, list(names)
