"""Sources whose rows are records of files: MindRecord, TFRecord and lines of text. Rows are read in C by position, so any
sampler and any number of workers may be used; shuffles mix all the rows, not a window of them. Shuffle.FILES and INFILE draw
their order anew each epoch."""
import json
import os

import numpy as np

from mindspore import _c

from . import _check, samplers
from ._files import _files
from .datasets import MappableDataset, Shuffle

__all__ = ['MindDataset', 'Schema', 'TextFileDataset', 'TFRecordDataset']

_MIXED = (True, Shuffle.GLOBAL, Shuffle.ADAPTIVE, Shuffle.PARTIAL)


def _shuffle_mode(shuffle):
    if shuffle is not None and not isinstance(shuffle, (bool, Shuffle)):
        raise TypeError("shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or 'Shuffle.FILES' or "
                        "'Shuffle.INFILE'.")
    return False if shuffle is Shuffle.FALSE else shuffle


def _shards(num_shards, shard_id):
    if (num_shards is None) != (shard_id is None):
        raise RuntimeError('num_shards and shard_id need to be passed in together.')
    if num_shards is not None:
        _check.shard(num_shards, shard_id)


def _by_files(mode, counts):
    """The sampler that mixes the order of files, or the rows within each, every epoch anew; None for other modes."""
    if samplers.by_files(mode):
        return samplers.BlockSampler(counts, mode is Shuffle.FILES, mode is Shuffle.INFILE)
    return None


class _SpansDataset(MappableDataset):
    """Files that are looked through when the dataset is made. Without equal rows a shard is every num_shards-th file;
    otherwise a stretch of the rows, the last one filled up from the beginning."""

    def __init__(self, kind, dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, equal, cache,
                 compression=None):
        mode = _shuffle_mode(shuffle)
        self.dataset_files = files = _files(dataset_files)
        _check.samples(num_samples)
        _shards(num_shards, shard_id)
        if num_shards is not None and not equal:
            if num_shards > len(files):
                raise RuntimeError('Invalid file, numbers of tfrecord file should not less than num_shards when '
                                   f'shard_equal_rows is false, but got numbers of tfrecord file: {len(files)}, num_shards: '
                                   f'{num_shards}')
            files = files[shard_id::num_shards]
        self._spans, counts = _c.ds_spans(kind, [os.fsencode(f) for f in files], compression)
        self._sharded, total = num_shards is not None, sum(counts)
        limit = num_samples or None
        part = _by_files(mode, counts)
        lanes = samplers.lanes(_check.workers(num_parallel_workers), len(counts)) if mode is False else 0
        if num_shards is not None and equal and total:
            share = -(-total // num_shards)
            rows = np.arange(shard_id * share, (shard_id + 1) * share) % total
            if lanes > 1:
                cuts = np.flatnonzero(np.diff(np.searchsorted(np.cumsum(counts), rows, 'right'))) + 1
                sizes = np.diff([0, *cuts, share]).tolist()
                rows = rows[samplers.in_turn(sizes, min(lanes, len(sizes)))]
            rows = samplers.SubsetSampler(rows.tolist())
            if part is not None:
                rows.add_child(part)
            part = rows
        elif lanes > 1:
            part = samplers.SubsetSampler(samplers.in_turn(counts, lanes).tolist())
        outer = samplers.RandomSampler(num_samples=limit) if mode in _MIXED else samplers.SequentialSampler(num_samples=limit)
        if part is not None:
            outer.add_child(part)
        super().__init__(outer, num_parallel_workers, cache)

    def is_sharded(self):
        return self._sharded


class TextFileDataset(_SpansDataset):
    """The lines of text files, but the empty ones, as the column `text`."""

    def __init__(self, dataset_files, num_samples=None, num_parallel_workers=None, shuffle=Shuffle.GLOBAL, num_shards=None,
                 shard_id=None, cache=None):
        if shuffle in (Shuffle.INFILE, Shuffle.PARTIAL, Shuffle.ADAPTIVE):
            raise TypeError("shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or "
                            "'Shuffle.FILES'.")
        super().__init__('lines', dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, True, cache)

    def _open(self):
        return _c.ds_lines(self._spans, self._made_sampler(), self.num_parallel_workers or 1)


class Schema:
    """Names, types and shapes of columns, from calls of add_column or from a JSON file."""

    def __init__(self, schema_file=None):
        if schema_file is not None and not isinstance(schema_file, (str, os.PathLike)):
            raise TypeError(f'path: {schema_file} is not string')
        self.schema_file = None if schema_file is None else os.fspath(schema_file)
        self.columns, self.num_rows, self.dataset_type = [], 0, ''
        if schema_file is not None:
            if not os.path.isfile(self.schema_file):
                raise ValueError(f'The file {self.schema_file} does not exist or permission denied!')
            try:
                with open(self.schema_file, encoding='utf-8') as f:
                    self.from_json(json.load(f))
            except ValueError as e:
                raise RuntimeError(f'Invalid data, Schema file: {self.schema_file} failed to parse: {e}') from e

    def add_column(self, name, de_type, shape=None):
        _check.kind('name', name, str)
        if isinstance(de_type, str):
            kind = de_type
        elif type(de_type).__name__ == 'String' or str(de_type).lower() == 'string':
            kind = 'string'
        else:
            kind = str(de_type).rsplit('.', 1)[-1].lower()
        if kind != 'string' and _c.ds_dtype(np.dtype(kind) if kind != 'bfloat16' else de_type) < 0:
            raise TypeError(f'Argument de_type with value {de_type} is no type of a column.')
        if shape is not None:
            _check.kind('shape', shape, list)
            for n in shape:
                _check.kind('shape', n, int)
                if n < -1:
                    raise ValueError(f'The shape of column {name} must not have sizes below -1, but got {shape}.')
        self.columns.append({'name': name, 'rank': 1 if shape is None else len(shape),
                             **({} if shape is None else {'shape': list(shape)}), 'type': kind})

    def parse_columns(self, columns):
        """Columns of a list of dicts with name, type and shape, or of a dict from name to such dicts."""
        if isinstance(columns, dict):
            columns = [{'name': n, **c} for n, c in columns.items()]
        elif not isinstance(columns, list):
            raise TypeError('columns must be dict or list.')
        self.columns = []
        for c in columns:
            for key in ('name', 'type'):
                if key not in _check.kind('columns[]', c, dict):
                    raise RuntimeError(f"Column's {key} is missing in {c!r}.")
            self.add_column(c['name'], c['type'], c.get('shape'))

    def from_json(self, json_obj):
        if not isinstance(json_obj, dict) or not json_obj.get('columns'):
            raise RuntimeError('"columns" node is required in the schema json JSON.')
        self.dataset_type = json_obj.get('datasetType', '')
        rows = json_obj.get('numRows', 0)
        if not isinstance(rows, int) or rows < 0:
            raise ValueError('numRows must be greater than or equal to 0')
        self.num_rows = rows
        columns = json_obj['columns']
        self.parse_columns(dict(sorted(columns.items())) if isinstance(columns, dict) else columns)

    def get_num_rows(self):
        return self.num_rows

    def to_json(self):
        d = {'columns': self.columns or None}
        if self.dataset_type:
            d['datasetType'] = self.dataset_type
        if self.num_rows:
            d['numRows'] = self.num_rows
        return json.dumps(d, indent=2)

    def __str__(self):
        return self.to_json()


class TFRecordDataset(_SpansDataset):
    """Rows of TFRecord files of `Example`. Without a schema the first record tells the columns: int64, float32, and bytes as
    uint8, flat and sorted by name."""

    def __init__(self, dataset_files, schema=None, columns_list=None, num_samples=None, num_parallel_workers=None,
                 shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, shard_equal_rows=False, cache=None,
                 compression_type=None):
        if schema is not None and not isinstance(schema, (Schema, str)):
            raise TypeError(f'schema should be either a Schema or the path of a JSON file, but got {type(schema)}.')
        if compression_type not in (None, '', 'GZIP', 'ZLIB'):
            raise ValueError("Input compression_type can only be either '' (no compression), 'ZLIB', or 'GZIP', but got "
                             f'{compression_type!r}.')
        _check.kind('shard_equal_rows', shard_equal_rows, bool)
        self.columns_list = None if columns_list is None else _check.names('columns_list', columns_list)
        self.schema = Schema(schema) if isinstance(schema, str) else schema
        if num_samples is None and self.schema is not None and self.schema.num_rows and isinstance(schema, str):
            num_samples = self.schema.num_rows
        super().__init__('records', dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id,
                         shard_equal_rows, cache, compression_type or None)

    def _open(self):
        if self.schema is not None and self.schema.columns:
            known = {c['name']: (c['name'], c['type'], c.get('shape')) for c in self.schema.columns}
        else:
            known = {n: (n, None, None) for n in _c.ds_features(self._spans)}
        names = self.columns_list or list(known)
        for n in names:
            if n not in known:
                raise RuntimeError(f'Invalid columns_list, tfrecord file failed to find column name: {n}')
        return _c.ds_tfrecord(self._spans, [known[n] for n in names], self._made_sampler(), self.num_parallel_workers or 1)


# ---- MindRecord ----

class MindDataset(MappableDataset):
    """Rows of MindRecord files: one name stands for all the files that were written together, a list for just those."""

    def __init__(self, dataset_files, columns_list=None, num_parallel_workers=None, shuffle=None, num_shards=None,
                 shard_id=None, sampler=None, padded_sample=None, num_padded=None, num_samples=None, cache=None):
        if not isinstance(dataset_files, (str, list)) or not dataset_files:
            raise TypeError(f'dataset_files should be either str or a list of str, but got {dataset_files!r}.')
        for f in [dataset_files] if isinstance(dataset_files, str) else dataset_files:
            _check.kind('dataset_files', f, str)
            if not os.path.isfile(f) or not os.access(f, os.R_OK):
                raise ValueError(f'The file {f} does not exist or permission denied!')
        if columns_list is not None and not isinstance(columns_list, list):
            raise TypeError(f'columns_list should be a list of str, but got {type(columns_list)}.')
        mode = _shuffle_mode(shuffle)
        _shards(num_shards, shard_id)
        if _check.samples(num_samples) is not None:
            if mode in (Shuffle.FILES, Shuffle.INFILE) and not isinstance(mode, bool):
                raise ValueError("'Shuffle.FILES' or 'Shuffle.INFILE' and 'num_samples' cannot be specified at the same time.")
        self._check_padded(columns_list, padded_sample, num_padded)
        if sampler is not None:
            for name, given in (('shuffle', shuffle is not None), ('num_shards', num_shards is not None)):
                if given:
                    raise ValueError(f'sampler and {name} cannot be specified at the same time.')
        from mindspore.mindrecord._format import files_of, open_all
        self.dataset_files = dataset_files
        files = files_of(dataset_files) if isinstance(dataset_files, str) else list(dataset_files)
        headers, self._index = open_all(files)
        self._paths, self._fields = [os.fsencode(h.path) for h in headers], headers[0].fields()
        names = sorted(f[0] for f in self._fields)
        self.columns_list = columns_list or names
        for n in self.columns_list:
            if n not in names:
                raise RuntimeError(f"Invalid data, the column '{n}' of columns_list is not in the schema {names}.")
        self.padded_sample, self.num_padded = padded_sample, num_padded or 0
        self._counts = np.bincount(self._index[:, 0], minlength=len(files)).tolist() + [self.num_padded] * bool(self.num_padded)
        if num_padded and num_shards is not None and sum(self._counts) % num_shards:
            sampler = samplers.Refused(f'Invalid data, the size of dataset and padded samples: {sum(self._counts)} can not be '
                                       f"divisible by the value of 'num_shards': {num_shards}. Please adjust the value of "
                                       "'num_padded'.")
            num_shards = shard_id = None
        mixed = mode is None or mode in _MIXED
        chosen = samplers.choose(num_samples or None, sampler, None if sampler is not None else mixed, num_shards, shard_id)
        if samplers.by_files(mode):
            chosen.shuffle_mode = mode
        super().__init__(chosen, num_parallel_workers, cache)

    def _made_sampler(self):
        """Samplers that mix by files know their sizes only here."""
        return samplers.make(self.sampler, lambda mode: _by_files(mode, self._counts))

    @staticmethod
    def _check_padded(columns_list, padded_sample, num_padded):
        if padded_sample is not None:
            _check.kind('padded_sample', padded_sample, dict)
            if num_padded is None:
                raise RuntimeError('padded_sample is specified and requires num_padded as well.')
            if not columns_list:
                raise RuntimeError('padded_sample is specified and requires columns_list as well.')
            if any(c not in padded_sample for c in columns_list):
                raise ValueError('padded_sample cannot match columns_list.')
        if num_padded is not None:
            _check.kind('num_padded', num_padded, int)
            if num_padded < 0:
                raise ValueError(f'num_padded must not be negative, but got {num_padded}.')
            if padded_sample is None:
                raise RuntimeError('num_padded is specified but padded_sample is not.')

    def _open(self):
        names = [f[0] for f in self._fields]
        padded = []
        if self.num_padded:
            for n in self.columns_list:
                _, kind, shape, _ = self._fields[names.index(n)]
                v = self.padded_sample[n]
                if kind == 'bytes':
                    v = np.array([bytes(v)])
                elif kind != 'string':
                    v = np.asarray(v, kind)
                padded.append(v)
        return _c.ds_mindrecord(self._paths, self._fields, [names.index(n) for n in self.columns_list], self._index,
                                self.num_padded, padded, self._made_sampler(), self.num_parallel_workers or 1)


# ---- saving ----

_KEPT = {'int32': 'int32', 'int64': 'int64', 'float32': 'float32', 'float64': 'float64', 'bool': 'int32', 'int8': 'int32',
         'uint8': 'int32', 'int16': 'int32', 'uint16': 'int32', 'uint32': 'int64', 'float16': 'float32'}


def _field(name, v):
    """The field that holds a column, by its first value, and how a value becomes the field's."""
    if v.dtype.kind == 'U' and v.ndim == 0:
        return {'type': 'string'}, lambda x: x.item()
    if v.dtype.kind == 'S' and v.size == 1 or v.dtype == np.uint8 and v.ndim == 1:
        return {'type': 'bytes'}, lambda x: x.tobytes()
    kind = _KEPT.get(v.dtype.name)
    if kind is None:
        raise RuntimeError(f'Dataset.save: the column {name!r} of {v.dtype}, shape {v.shape}, has no form in MindRecord.')
    if v.ndim == 0:
        return {'type': kind}, lambda x: x.astype(kind).item()
    return {'type': kind, 'shape': [-1, *v.shape[1:]]}, lambda x: x.astype(kind)


def save(dataset, file_name, num_files=1, file_type='mindrecord'):
    """One epoch of a dataset as MindRecord files."""
    from mindspore.mindrecord import FileWriter
    _check.kind('file_name', file_name, str)
    _check.integer('num_files', num_files, 1, 1000)
    if file_type != 'mindrecord':
        raise ValueError(f"{file_type} dataset format is not supported; file_type must be 'mindrecord'.")
    writer, make, some = FileWriter(file_name, num_files, overwrite=True), None, []
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        if make is None:
            fields = {n: _field(n, v) for n, v in row.items()}
            make = {n: f[1] for n, f in fields.items()}
            writer.add_schema({n: f[0] for n, f in fields.items()})
        some.append({n: make[n](v) for n, v in row.items()})
        if len(some) == 1024:
            writer.write_raw_data(some)
            some = []
    if make is None:
        raise RuntimeError('Dataset.save: the dataset has no rows.')
    if some:
        writer.write_raw_data(some)
    writer.commit()
