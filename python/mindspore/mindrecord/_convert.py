"""MindRecord files of other formats."""
import csv
import gzip
import os
import pickle

import numpy as np

from ._errors import ParamValueError
from ._writer import SUCCESS, FileWriter, check_path


class _ToMR:
    """What the converters share; `run` is the older name of `transform`."""

    def _into(self, destination, partition_number=1):
        if isinstance(partition_number, bool) or not isinstance(partition_number, int):
            raise ValueError(f'The parameter partition_number must be int, but got {partition_number!r}.')
        if not 1 <= partition_number <= 1000:
            raise ParamValueError(f'Invalid parameter value. partition_number {partition_number} should between 1 and 1000.')
        self.destination, self.shards = check_path(destination), partition_number

    def _write(self, destination, shards, schema, rows, index=None, desc='img_schema'):
        writer = FileWriter(destination, shards)
        writer.add_schema(schema, desc)
        if index:
            writer.add_index(index)
        some = []
        for row in rows:
            some.append(row)
            if len(some) == 256:
                writer.write_raw_data(some)
                some = []
        if some:
            writer.write_raw_data(some)
        return writer.commit()

    def run(self, *args, **kw):
        return self.transform(*args, **kw)


def _source(what, path, exists):
    if not isinstance(path, str):
        raise ParamValueError(f'Invalid parameter value. {what} should be a path, but got {path!r}.')
    if not exists(path):
        raise ValueError(f'The {what} {path!r} does not exist.')
    return path


def _jpeg(image):
    import tempfile
    from mindspore import _c
    with tempfile.NamedTemporaryFile(suffix='.jpeg') as f:
        _c.ds_write_image(os.fsencode(f.name), 'jpeg', np.ascontiguousarray(image), 95)
        with open(f.name, 'rb') as g:
            return g.read()


class _Pickled(pickle.Unpickler):
    """The pickles of CIFAR hold arrays and nothing that runs."""

    def find_class(self, module, name):
        if module.split('.')[0] == 'numpy' and name in ('_reconstruct', 'ndarray', 'dtype', 'scalar', '_frombuffer'):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f'{module}.{name} is not allowed in a data file')


class _CifarToMR(_ToMR):
    _labels = ()

    def __init__(self, source, destination):
        self.source = _source('folder', source, os.path.isdir)
        self._into(destination)

    def _file(self, name):
        path = os.path.join(self.source, name)
        try:
            with open(path, 'rb') as f:
                d = _Pickled(f, encoding='bytes').load()
            images = np.asarray(d[b'data'], np.uint8).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
            return zip(images, *(d[key] for key, _ in self._labels))
        except (pickle.UnpicklingError, KeyError, ValueError, EOFError) as e:
            raise RuntimeError(f'Invalid file, {path} is not of the CIFAR format: {e}') from e

    def transform(self, fields=None):
        if fields is not None and not isinstance(fields, list):
            raise ValueError(f'The parameter fields should be None or list, but got {fields!r}.')
        schema = {'id': {'type': 'int64'}, 'data': {'type': 'bytes'}}
        schema.update({n: {'type': 'int64'} for _, n in self._labels})
        for part, names in self._parts().items():
            rows = ({'id': k, 'data': _jpeg(image), **{n: int(v) for (_, n), v in zip(self._labels, labels)}}
                    for k, (image, *labels) in enumerate(r for n in names for r in self._file(n)))
            suffix = '' if part == 'train' else '_test'
            self._write(self.destination + suffix, 1, schema, rows, fields, 'cifar')
        return SUCCESS


class Cifar10ToMR(_CifarToMR):
    """The Python version of CIFAR-10: DESTINATION and DESTINATION_test."""

    _labels = ((b'labels', 'label'),)

    def _parts(self):
        names = sorted(os.listdir(self.source))
        return {'train': [n for n in names if n.startswith('data_batch')], 'test': [n for n in names if n == 'test_batch']}


class Cifar100ToMR(_CifarToMR):
    _labels = ((b'fine_labels', 'fine_label'), (b'coarse_labels', 'coarse_label'))

    def _parts(self):
        return {'train': ['train'], 'test': ['test']}


class CsvToMR(_ToMR):
    """The columns of a CSV file, numbers where every value is one."""

    def __init__(self, source, destination, columns_list=None, partition_number=1):
        self.source = _source('file', source, os.path.isfile)
        self._into(destination, partition_number)
        if columns_list is not None and (not isinstance(columns_list, list) or not columns_list or
                                         not all(isinstance(c, str) for c in columns_list)):
            raise ValueError(f'The parameter columns_list must be a list of str, but got {columns_list!r}.')
        self.columns = columns_list

    def transform(self):
        try:
            with open(self.source, encoding='utf-8-sig', newline='') as f:
                rows = list(csv.DictReader(f, strict=True))
        except (csv.Error, UnicodeDecodeError) as e:
            raise RuntimeError(f'Invalid CSV, {self.source}: {e}') from e
        if not rows:
            raise RuntimeError(f'The CSV file {self.source} has no rows.')
        names = self.columns or list(rows[0])
        kinds = {}
        for n in names:
            if n not in rows[0]:
                raise RuntimeError(f'The CSV file {self.source} has no column {n!r}.')
            for kind, make in (('int64', int), ('float64', float), ('string', str)):
                try:
                    for r in rows:
                        r[n] if kind == 'string' else make(r[n])
                    kinds[n] = (kind, make)
                    break
                except (ValueError, TypeError):
                    continue
        return self._write(self.destination, self.shards, {n: {'type': k[0]} for n, k in kinds.items()},
                           ({n: make(r[n]) for n, (_, make) in kinds.items()} for r in rows), None, 'csv_schema')


class ImageNetToMR(_ToMR):
    """Images in a folder for each class; the map file names a folder and its number in a line."""

    def __init__(self, map_file, image_dir, destination, partition_number=1):
        self.map_file = _source('file', map_file, os.path.isfile)
        self.image_dir = _source('folder', image_dir, os.path.isdir)
        self._into(destination, partition_number)

    def _rows(self):
        with open(self.map_file, encoding='utf-8') as f:
            number = {}
            for line in filter(str.strip, f):
                try:
                    name, label = line.rsplit(None, 1)
                    number[name.strip()] = int(label)
                except ValueError:
                    raise RuntimeError(f'Invalid file, the line {line!r} of {self.map_file} is not "folder number".') from None
        for name, label in number.items():
            folder = os.path.join(self.image_dir, name)
            for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
                with open(os.path.join(folder, file), 'rb') as f:
                    yield {'label': label, 'file_name': file, 'data': f.read()}

    def transform(self):
        schema = {'label': {'type': 'int64'}, 'data': {'type': 'bytes'}, 'file_name': {'type': 'string'}}
        return self._write(self.destination, self.shards, schema, self._rows(), ['label', 'file_name'])


class MnistToMR(_ToMR):
    """The gzipped files of MNIST: DESTINATION_train.mindrecord and DESTINATION_test.mindrecord."""

    def __init__(self, source, destination, partition_number=1):
        self.source = _source('folder', source, os.path.isdir)
        self._into(destination, partition_number)

    def _read(self, name, skip):
        path = os.path.join(self.source, name)
        try:
            with gzip.open(path, 'rb') as f:
                return np.frombuffer(f.read(), np.uint8, offset=skip)
        except (OSError, EOFError, ValueError) as e:
            raise RuntimeError(f'Invalid file, {path} cannot be read: {e}') from e

    def transform(self):
        schema = {'label': {'type': 'int64'}, 'data': {'type': 'bytes'}}
        for part, prefix in (('train', 'train'), ('test', 't10k')):
            images = self._read(f'{prefix}-images-idx3-ubyte.gz', 16).reshape(-1, 28, 28)
            labels = self._read(f'{prefix}-labels-idx1-ubyte.gz', 8)
            rows = ({'label': int(v), 'data': _jpeg(x)} for x, v in zip(images, labels))
            self._write(f'{self.destination}_{part}.mindrecord', self.shards, schema, rows, ['label'], 'mnist_schema')
        return SUCCESS


class TFRecordToMR(_ToMR):
    """feature_dict: {name: VarLenFeature or FixedLenFeature} of TensorFlow, whose dtype tells the type."""

    def __init__(self, source, destination, feature_dict, bytes_fields=None):
        if not isinstance(feature_dict, dict) or not feature_dict:
            raise ValueError('feature_dict should be a dict that is not empty.')
        self.source, self.features = _source('file', source, os.path.isfile), feature_dict
        self._into(destination)
        self.bytes_fields = set(bytes_fields or ())

    def transform(self):
        from mindspore.dataset import Schema, TFRecordDataset
        wanted, schema = Schema(), {}
        for name, feature in self.features.items():
            kind = getattr(feature.dtype, 'name', str(feature.dtype))
            shape = list(getattr(feature, 'shape', None) or [])
            if kind == 'string':
                schema[name] = {'type': 'bytes' if name in self.bytes_fields else 'string'}
                wanted.add_column(name, 'uint8' if name in self.bytes_fields else 'string')
            else:
                fixed = hasattr(feature, 'shape') and shape in ([], [1])
                schema[name] = {'type': kind} if fixed else {'type': kind, 'shape': shape or [-1]}
                wanted.add_column(name, kind)
        rows = TFRecordDataset(self.source, wanted, shuffle=False).create_dict_iterator(1, True)
        return self._write(self.destination, 1, schema, (self._row(schema, r) for r in rows), None, 'tfrecord')

    @staticmethod
    def _row(schema, row):
        out = {}
        for name, field in schema.items():
            v = row[name]
            out[name] = v.tobytes() if field['type'] == 'bytes' else v if 'shape' in field else v.ravel()[0].item()
        return out
