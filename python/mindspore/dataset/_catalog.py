"""Published data sets of images."""
import json
import os
import xml.etree.ElementTree as ElementTree

import numpy as np

from . import _check, config
from ._rows import File, RowsDataset, file, folder, inside, lines, u4
from .vision import Decode

_IMAGES = ('.jpg', '.jpeg', '.png', '.bmp')
_join = os.path.join


def _mat(path):
    try:
        from scipy.io import loadmat
    except ImportError as e:
        raise ImportError(f'Reading {path} needs scipy.') from e
    return loadmat(file(path), squeeze_me=True)


def _classes(path):
    return sorted(e.name for e in os.scandir(folder(path)) if e.is_dir())


class STL10Dataset(RowsDataset):
    _arguments = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, \
        num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'unlabeled', 'train+unlabeled', 'all')

    def _list(self, dataset_dir, usage):
        parts = ('train', 'test', 'unlabeled') if usage in (None, 'all') else usage.split('+')
        if usage in (None, 'all'):
            parts = ('test', 'train', 'unlabeled')
        rows = []
        for part in parts:
            path = file(_join(dataset_dir, f'{part}_X.bin'))
            raw = np.fromfile(path, np.uint8)
            if len(raw) % 27648:
                raise RuntimeError(f'Invalid file, the size {len(raw)} of {path} is no multiple of 3 * 96 * 96.')
            images = raw.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1)
            labels = np.full(len(images), -1) if part == 'unlabeled' else \
                np.fromfile(file(_join(dataset_dir, f'{part}_y.bin')), np.uint8).astype(int) - 1
            rows += [(i, np.int32(k)) for i, k in zip(images, labels)]
        return ('image', 'label'), rows


class SVHNDataset(RowsDataset):
    _arguments = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None, \
        num_shards=None, shard_id=None: None  # noqa: E731
    _usages = ('train', 'test', 'extra', 'all')

    def _list(self, dataset_dir, usage):
        rows = []
        for part in ('train', 'test', 'extra') if usage in (None, 'all') else (usage,):
            data = _mat(_join(dataset_dir, f'{part}_32x32.mat'))
            rows += [(data['X'][..., k], u4(label % 10)) for k, label in enumerate(np.atleast_1d(data['y']).astype(int))]
        return ('image', 'label'), rows


class USPSDataset(RowsDataset):
    _arguments = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=True, \
        num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'all')

    def _list(self, dataset_dir, usage):
        rows = []
        for name in ('usps', 'usps.t') if usage in (None, 'all') else ('usps',) if usage == 'train' else ('usps.t',):
            for number, line in enumerate(lines(_join(dataset_dir, name))):
                label, *values = line.split()
                pixels = np.array([v.split(':')[1] for v in values], np.float32).astype(float)
                if len(pixels) != 256:
                    raise RuntimeError(f'Invalid file, line {number + 1} of {name} has {len(pixels)} pixels, not 256.')
                rows.append((((pixels + 1) / 2 * 255).astype(np.uint8).reshape(16, 16, 1), u4(int(label) - 1)))
        return ('image', 'label'), rows


def _idx(path, ndim, dtype=np.uint8):
    raw = np.fromfile(file(path), np.uint8)
    head = raw[:4 * (ndim + 1)].view('>i4')
    if len(head) != ndim + 1 or head[0] & 0xff != ndim:
        raise RuntimeError(f'Invalid file, {path} is not an idx file of {ndim} dimensions.')
    data = raw[4 * (ndim + 1):].view(dtype)
    if data.size != np.prod(head[1:]):
        raise RuntimeError(f'Invalid file, {path} holds {data.size} values, but its header says {head[1:].tolist()}.')
    return data.reshape(head[1:].tolist())


class _IdxDataset(RowsDataset):
    def _pairs(self, dataset_dir, names):
        rows = []
        for image, label in names:
            images, labels = _idx(_join(dataset_dir, image), 3), _idx(_join(dataset_dir, label), 1)
            rows += [(i[..., None], u4(k)) for i, k in zip(images, labels)]
        return ('image', 'label'), rows


class KMnistDataset(_IdxDataset):
    _arguments = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, \
        num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'all')

    def _list(self, dataset_dir, usage):
        parts = ('train', 't10k') if usage in (None, 'all') else ('train',) if usage == 'train' else ('t10k',)
        return self._pairs(dataset_dir, [(f'{p}-images-idx3-ubyte', f'{p}-labels-idx1-ubyte') for p in parts])


class EMnistDataset(_IdxDataset):
    _arguments = lambda dataset_dir, name, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, \
        sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'all')

    def _list(self, dataset_dir, name, usage):
        known = ['byclass', 'bymerge', 'balanced', 'letters', 'digits', 'mnist']
        _check.choice('name', _check.kind('name', name, str), known)
        parts = ('test', 'train') if usage in (None, 'all') else (usage,)
        return self._pairs(dataset_dir, [(f'emnist-{name}-{p}-images-idx3-ubyte', f'emnist-{name}-{p}-labels-idx1-ubyte')
                                         for p in parts])


class QMnistDataset(RowsDataset):
    _arguments = lambda dataset_dir, usage=None, compat=True, num_samples=None, num_parallel_workers=None, shuffle=None, \
        sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'test10k', 'test50k', 'nist', 'all')

    def _list(self, dataset_dir, usage, compat):
        _check.kind('compat', compat, bool)
        rows = []
        for part in ('train', 'test', 'nist') if usage in (None, 'all') else (usage,):
            stem = {'nist': 'xnist', 'train': 'qmnist-train'}.get(part, 'qmnist-test')
            images = _idx(_join(dataset_dir, f'{stem}-images-idx3-ubyte'), 3)
            labels = _idx(_join(dataset_dir, f'{stem}-labels-idx2-int'), 2, '>i4').astype(np.uint32)
            begin, end = {'test10k': (0, 10000), 'test50k': (10000, None)}.get(part, (0, None))
            rows += [(i[..., None], k[0] if compat else k) for i, k in zip(images[begin:end], labels[begin:end])]
        return ('image', 'label'), rows


class SemeionDataset(RowsDataset):
    _arguments = lambda dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, \
        num_shards=None, shard_id=None, cache=None: None  # noqa: E731

    def _list(self, dataset_dir):
        rows = []
        for line in lines(_join(dataset_dir, 'semeion.data')):
            v = np.array(line.split(), float)
            if len(v) != 266:
                raise RuntimeError(f'Invalid file, a line of semeion.data has {len(v)} numbers, not 266.')
            rows.append((v[:256].astype(np.uint8).reshape(16, 16), u4(np.argmax(v[256:]))))
        return ('image', 'label'), rows


class PhotoTourDataset(RowsDataset):
    _arguments = lambda dataset_dir, name, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, \
        sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test')

    def _list(self, dataset_dir, name, usage):
        known = ['notredame', 'yosemite', 'liberty', 'notredame_harris', 'yosemite_harris', 'liberty_harris']
        _check.choice('name', _check.kind('name', name, str), known)
        base = folder(_join(dataset_dir, name))
        count, patches = len([s for s in lines(_join(base, 'info.txt')) if s.strip()]), []
        for path in inside(base, '.bmp'):
            sheet = Decode()(path.read())[..., 0]
            if sheet.shape != (1024, 1024):
                raise RuntimeError(f'Invalid file, {path} must be of 1024 x 1024 pixels, but is of {sheet.shape}.')
            patches += list(sheet.reshape(16, 64, 16, 64).swapaxes(1, 2).reshape(256, 64, 64, 1))
        if usage == 'train' or usage is None:
            return ('image',), [(p,) for p in patches[:count]]
        rows = []
        for line in lines(_join(base, 'm50_100000_100000_0.txt')):
            v = [int(t) for t in line.split()]
            if v:
                rows.append((patches[v[0]], patches[v[3]], u4(v[1] == v[4])))
        return ('image1', 'image2', 'matches'), rows


class FakeImageDataset(RowsDataset):
    """Images of random pixels; each row follows from base_seed and its number."""

    _arguments = lambda num_images=1000, image_size=(224, 224, 3), num_classes=10, base_seed=0, num_samples=None, \
        num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731

    def _list(self, num_images, image_size, num_classes, base_seed):
        _check.integer('num_images', num_images, 1)
        _check.integer('num_classes', num_classes, 1)
        _check.integer('base_seed', base_seed, 0)
        for v in _check.kind('image_size', image_size, list, tuple):
            _check.integer('image_size', v, 1)
        if len(image_size) != 3:
            raise ValueError('image_size should be a list or tuple of length 3.')
        return ('image', 'label'), range(num_images)

    def _open(self):
        return self._host()

    def _get(self, i):
        draw = np.random.RandomState((self.base_seed + i) & 0xffffffff)
        return draw.randint(0, 256, self.image_size, np.uint8), u4(draw.randint(0, self.__dict__['num_classes']))


class RandomDataset(RowsDataset):
    """Rows of random values, for trying pipelines: columns of a Schema, or a few of random types and shapes."""

    _arguments = lambda total_rows=None, schema=None, columns_list=None, num_samples=None, num_parallel_workers=None, \
        cache=None, shuffle=None, num_shards=None, shard_id=None: None  # noqa: E731

    def _list(self, total_rows, schema, columns_list):
        from ._records import Schema
        self._seed = config.get_seed()
        draw = np.random.RandomState(self._seed)
        if schema is None:
            schema = Schema()
            for k in range(draw.randint(1, 5)):
                kind = ('uint8', 'int32', 'int64', 'float32', 'bool')[draw.randint(5)]
                schema.add_column(f'c{k}', kind, draw.randint(1, 33, draw.randint(1, 4)).tolist())
        elif isinstance(schema, str):
            schema = Schema(schema)
        elif not isinstance(schema, Schema):
            raise TypeError(f'schema should be a Schema or the path of a JSON file, but got {type(schema)}.')
        rows = draw.randint(1, 1001) if total_rows is None else _check.integer('total_rows', total_rows, 1)
        if total_rows is None and self.num_samples:
            rows = max(rows, self.num_samples)
        fields = {c['name']: (np.dtype(c['type']), [abs(n) for n in c.get('shape', [])]) for c in schema.columns}
        names = list(fields) if columns_list is None else _check.names('columns_list', columns_list)
        for n in names:
            if n not in fields:
                raise RuntimeError(f'Invalid columns_list, the schema has no column {n!r}.')
        self._fields = [fields[n] for n in names]
        return tuple(names), range(rows)

    def _open(self):
        return self._host()

    def _get(self, i):
        draw = np.random.RandomState((self._seed + i) & 0xffffffff)
        return tuple(draw.uniform(-1, 1, shape).astype(kind) if kind.kind in 'fc' else draw.randint(0, 2, shape).astype(kind)
                     if kind == bool else np.frombuffer(draw.bytes(int(np.prod(shape)) * kind.itemsize), kind).reshape(shape)
                     for kind, shape in self._fields)


class CelebADataset(RowsDataset):
    _arguments = lambda dataset_dir, num_parallel_workers=None, shuffle=None, usage='all', sampler=None, decode=False, \
        extensions=None, num_samples=None, num_shards=None, shard_id=None, cache=None, decrypt=None: None  # noqa: E731
    _usages = ('all', 'train', 'valid', 'test')

    def _list(self, dataset_dir, usage, extensions, decrypt):
        if decrypt is not None:
            raise NotImplementedError('CelebADataset does not support decrypt.')
        if extensions is not None and not all(isinstance(e, str) for e in _check.kind('extensions', extensions, list)):
            raise TypeError('extensions must be a list of str.')
        _, _, *text = lines(_join(dataset_dir, 'list_attr_celeba.txt'))
        part = {}
        if usage != 'all':
            part = dict(line.split() for line in lines(_join(dataset_dir, 'list_eval_partition.txt')) if line.strip())
        wanted, rows = {'train': '0', 'valid': '1', 'test': '2'}.get(usage), []
        for line in text:
            name, *values = line.split() or ['']
            if not name or (wanted is not None and part.get(name) != wanted):
                continue
            if extensions and not name.endswith(tuple(extensions)):
                continue
            rows.append((File(_join(dataset_dir, name)), (np.array(values, int) > 0).astype(np.uint32)))
        return ('image', 'attr'), rows


_DECODED = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False, \
    sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731


class Food101Dataset(RowsDataset):
    _arguments, _usages = _DECODED, ('train', 'test', 'all')

    def _list(self, dataset_dir, usage):
        names = [n for p in (('train', 'test') if usage in (None, 'all') else (usage,))
                 for n in lines(_join(dataset_dir, 'meta', f'{p}.txt')) if n.strip()]
        return ('image', 'label'), [(File(_join(dataset_dir, 'images', *n.split('/')) + '.jpg'), n.split('/')[0])
                                    for n in names]


class LSUNDataset(RowsDataset):
    _arguments = lambda dataset_dir, usage=None, classes=None, num_samples=None, num_parallel_workers=None, shuffle=None, \
        decode=False, sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'valid', 'all')

    def _list(self, dataset_dir, usage, classes):
        if classes is not None:
            for c in _check.kind('classes', classes, list):
                _check.kind('classes', c, str)
        if usage == 'test':
            return ('image', 'label'), [(p, u4(0)) for p in inside(_join(dataset_dir, 'test'), *_IMAGES)]
        parts = ('train', 'val') if usage in (None, 'all') else ({'valid': 'val'}.get(usage, usage),)
        found = _classes(dataset_dir)
        names = classes or sorted({f.rsplit('_', 1)[0] for f in found if f.rsplit('_', 1)[-1] in ('train', 'val')})
        rows = []
        for k, name in enumerate(names):
            for part in parts:
                rows += [(p, u4(k)) for p in inside(_join(dataset_dir, f'{name}_{part}'), *_IMAGES)]
        return ('image', 'label'), rows


class Places365Dataset(RowsDataset):
    _arguments = lambda dataset_dir, usage=None, small=True, decode=False, num_samples=None, num_parallel_workers=None, \
        shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train-standard', 'train-challenge', 'val')

    def _list(self, dataset_dir, usage, small):
        usage, size = usage or 'train-standard', '256' if _check.kind('small', small, bool) else 'large'
        base = f'val_{size}' if usage == 'val' else f'data_{size}_{usage[6:]}'
        rows = [line.split() for line in lines(_join(dataset_dir, f'places365_{usage.replace("-", "_")}.txt'))]
        return ('image', 'label'), [(File(_join(dataset_dir, base, r[0].lstrip('/'))), u4(int(r[1]))) for r in rows if r]


class SUN397Dataset(RowsDataset):
    _arguments = lambda dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False, sampler=None, \
        num_shards=None, shard_id=None, cache=None: None  # noqa: E731

    def _list(self, dataset_dir):
        return ('image', 'label'), [
            (p, u4(k)) for k, name in enumerate(lines(_join(dataset_dir, 'ClassName.txt'))) if name.strip()
            for p in inside(_join(dataset_dir, name.strip().lstrip('/')), *_IMAGES)]


class Caltech256Dataset(RowsDataset):
    _arguments = SUN397Dataset._arguments

    def _list(self, dataset_dir):
        return ('image', 'label'), [(p, u4(k)) for k, name in enumerate(_classes(dataset_dir))
                                    for p in inside(_join(dataset_dir, name), *_IMAGES)]


class OmniglotDataset(RowsDataset):
    _arguments = lambda dataset_dir, background=None, num_samples=None, num_parallel_workers=None, shuffle=None, \
        decode=False, sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731

    def _list(self, dataset_dir, background):
        if background is not None:
            _check.kind('background', background, bool)
        base = folder(_join(dataset_dir, 'images_evaluation' if background is False else 'images_background'))
        kinds = [_join(base, a, c) for a in _classes(base) for c in _classes(_join(base, a))]
        return ('image', 'label'), [(p, np.int32(k)) for k, kind in enumerate(kinds) for p in inside(kind, *_IMAGES)]


class RenderedSST2Dataset(RowsDataset):
    _arguments, _usages = _DECODED, ('val', 'all', 'train', 'test')

    def _list(self, dataset_dir, usage):
        parts = ('test', 'train', 'valid') if usage in (None, 'all') else ({'val': 'valid'}.get(usage, usage),)
        return ('image', 'label'), [(p, u4(k)) for part in parts for k, name in enumerate(('negative', 'positive'))
                                    for p in inside(_join(dataset_dir, part, name), *_IMAGES)]


class Caltech101Dataset(RowsDataset):
    _arguments = lambda dataset_dir, target_type=None, num_samples=None, num_parallel_workers=1, shuffle=None, \
        decode=False, sampler=None, num_shards=None, shard_id=None: None  # noqa: E731
    _renamed = {'Faces': 'Faces_2', 'Faces_easy': 'Faces_3', 'Motorbikes': 'Motorbikes_16', 'airplanes': 'Airplanes_Side_2'}

    def _list(self, dataset_dir, target_type):
        target = target_type or 'category'
        _check.choice('target_type', target, ('category', 'annotation', 'all'))
        base, rows = folder(_join(dataset_dir, '101_ObjectCategories')), []
        names = [n for n in _classes(base) if n != 'BACKGROUND_Google']
        self._number = {n: k for k, n in enumerate(names)}
        for k, name in enumerate(names):
            for path in inside(_join(base, name), *_IMAGES):
                row = [path]
                if target != 'annotation':
                    row.append(np.int64(k))
                if target != 'category':
                    number = os.path.splitext(path)[0].rsplit('_', 1)[1]
                    row.append(_mat(_join(dataset_dir, 'Annotations', self._renamed.get(name, name),
                                          f'annotation_{number}.mat'))['obj_contour'])
                rows.append(tuple(row))
        return ('image', *(('category', 'annotation') if target == 'all' else (target,))), rows

    def get_class_indexing(self):
        return dict(self._number)


class Flowers102Dataset(RowsDataset):
    _arguments = lambda dataset_dir, task='Classification', usage='all', num_samples=None, num_parallel_workers=1, \
        shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None: None  # noqa: E731
    _usages = ('train', 'valid', 'test', 'all')

    def _list(self, dataset_dir, task, usage):
        _check.choice('task', task, ('Classification', 'Segmentation'))
        labels, sets = _mat(_join(dataset_dir, 'imagelabels.mat'))['labels'], _mat(_join(dataset_dir, 'setid.mat'))
        parts = [{'train': 'trnid', 'valid': 'valid', 'test': 'tstid'}[p]
                 for p in (('train', 'valid', 'test') if usage == 'all' else (usage,))]
        rows, mask = [], task == 'Segmentation'
        self._images = (0, 1) if mask else (0,)
        for k in sorted(np.concatenate([np.atleast_1d(sets[p]) for p in parts]).tolist()):
            row = [File(_join(dataset_dir, 'jpg', f'image_{k:05d}.jpg'))]
            if mask:
                row.append(File(_join(dataset_dir, 'segmim', f'segmim_{k:05d}.jpg')))
            rows.append((*row, u4(labels[k - 1] - 1)))
        return ('image', *(('segmentation',) if mask else ()), 'label'), rows


class FlickrDataset(RowsDataset):
    _arguments = lambda dataset_dir, annotation_file, num_samples=None, num_parallel_workers=None, shuffle=None, \
        decode=None, sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731

    def _list(self, dataset_dir, annotation_file):
        captions = {}
        for line in lines(file(annotation_file, 'annotation_file')):
            name, _, text = line.partition('\t')
            if text:
                captions.setdefault(name.rsplit('#', 1)[0], []).append(text)
        return ('image', 'annotation'), [(File(_join(dataset_dir, n)), np.array(c)) for n, c in captions.items()]


class SBUDataset(RowsDataset):
    _arguments = SUN397Dataset._arguments

    def _list(self, dataset_dir):
        urls = lines(_join(dataset_dir, 'SBU_captioned_photo_dataset_urls.txt'))
        captions = lines(_join(dataset_dir, 'SBU_captioned_photo_dataset_captions.txt'))
        if len(urls) != len(captions):
            raise RuntimeError(f'Invalid data, SBU has {len(urls)} urls, but {len(captions)} captions.')
        paths = [_join(dataset_dir, 'sbu_images', u[23:].replace('/', '_')) for u in urls]
        return ('image', 'caption'), [(File(p), c) for p, c in zip(paths, captions) if os.path.isfile(p)]


class SBDataset(RowsDataset):
    _arguments = lambda dataset_dir, task='Boundaries', usage='all', num_samples=None, num_parallel_workers=1, \
        shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None: None  # noqa: E731
    _usages = ('train', 'val', 'train_noval', 'all')

    def _list(self, dataset_dir, task, usage):
        _check.choice('task', task, ('Boundaries', 'Segmentation'))
        names = [n.strip() for p in (('train', 'val') if usage == 'all' else (usage,))
                 for n in lines(_join(dataset_dir, f'{p}.txt')) if n.strip()]
        return ('image', 'task'), [(File(_join(dataset_dir, 'img', f'{n}.jpg')),
                                    _Mask(_join(dataset_dir, 'cls', f'{n}.mat'), task)) for n in names]


class _Mask(File):
    """The segmentation of a .mat file of SBD, or the boundaries of its 20 classes."""

    def __new__(cls, path, task):
        self = super().__new__(cls, path)
        self.task = task
        return self

    def read(self):
        truth = _mat(str(self))['GTcls']
        if self.task == 'Segmentation':
            return np.asarray(truth['Segmentation'].item(), np.uint8)
        return np.stack([np.asarray(b.toarray() if hasattr(b, 'toarray') else b, np.uint8)
                         for b in truth['Boundaries'].item()])


class CityscapesDataset(RowsDataset):
    _arguments = lambda dataset_dir, usage='train', quality_mode='fine', task='instance', num_samples=None, \
        num_parallel_workers=None, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None, \
        cache=None: None  # noqa: E731
    _usages, _images = ('train', 'train_extra', 'val', 'test', 'all'), (0, 1)

    def _list(self, dataset_dir, usage, quality_mode, task):
        suffix = {'instance': 'instanceIds.png', 'semantic': 'labelIds.png', 'color': 'color.png', 'polygon': 'polygons.json'}
        _check.choice('task', task, suffix)
        _check.choice('quality_mode', quality_mode, ('fine', 'coarse'))
        truth, rows = 'gt' + quality_mode.capitalize(), []
        if task == 'polygon':
            self._images = (0,)
        every = ('train', 'val', 'test') if quality_mode == 'fine' else ('train', 'train_extra', 'val')
        for part in every if usage == 'all' else (usage,):
            base = folder(_join(dataset_dir, 'leftImg8bit', part))
            for city in _classes(base):
                for path in inside(_join(base, city), '_leftimg8bit.png'):
                    stem = os.path.basename(path)[:-len('_leftImg8bit.png')]
                    rows.append((path, File(_join(dataset_dir, truth, part, city, f'{stem}_{truth}_{suffix[task]}'))))
        return ('image', 'task'), rows


class DIV2KDataset(RowsDataset):
    _arguments = lambda dataset_dir, usage='train', downgrade='bicubic', scale=2, num_samples=None, \
        num_parallel_workers=None, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None, \
        cache=None: None  # noqa: E731
    _usages, _images = ('train', 'valid', 'all'), (0, 1)

    def _list(self, dataset_dir, usage, downgrade, scale):
        _check.choice('downgrade', downgrade, ('bicubic', 'unknown', 'mild', 'difficult', 'wild'))
        real = downgrade in ('mild', 'difficult', 'wild')
        if scale not in ((4,) if real else (2, 3, 4, 8) if downgrade == 'bicubic' else (2, 3, 4)):
            raise ValueError(f'{scale} is not a valid scale for downgrade {downgrade}.')
        rows = []
        for part in ('train', 'valid') if usage == 'all' else (usage,):
            low = f'DIV2K_{part}_LR_x8' if scale == 8 else f'DIV2K_{part}_LR_{downgrade}' if real else \
                _join(f'DIV2K_{part}_LR_{downgrade}', f'X{scale}')
            for path in inside(_join(dataset_dir, f'DIV2K_{part}_HR'), '.png'):
                stem = os.path.splitext(os.path.basename(path))[0]
                rows.append((path, File(_join(dataset_dir, low, f'{stem}x{scale}{downgrade[0] if real else ""}.png'))))
        return ('hr_image', 'lr_image'), rows


class KITTIDataset(RowsDataset):
    _arguments, _usages = _DECODED, ('train', 'test')

    def _list(self, dataset_dir, usage):
        base = _join(dataset_dir, 'data_object_image_2', 'testing' if usage == 'test' else 'training', 'image_2')
        if usage == 'test':
            return ('image',), [(p,) for p in inside(base, '.png')]
        found = []
        for path in inside(base, '.png'):
            stem = os.path.splitext(os.path.basename(path))[0]
            text = lines(_join(dataset_dir, 'data_object_label_2', 'training', 'label_2', f'{stem}.txt'))
            found.append((path, [line.split() for line in text if line.strip()]))
        names = sorted({b[0] for _, boxes in found for b in boxes})
        number = {n: k for k, n in enumerate(names)}
        rows = []
        for path, boxes in found:
            v = np.array([[float(t) for t in b[1:]] for b in boxes], np.float32)
            rows.append((path, u4([[number[b[0]]] for b in boxes]), v[:, :1], v[:, 1:2].astype(np.int32).view(np.uint32),
                         v[:, 2:3], v[:, 3:7], v[:, 7:10], v[:, 10:13], v[:, 13:14]))
        return ('image', 'label', 'truncated', 'occluded', 'alpha', 'bbox', 'dimensions', 'location', 'rotation_y'), rows


def _with_names(self, names, rows, extra_metadata):
    """With extra_metadata, a last column has the names of the files; like all `_meta-` columns, iterators leave it out."""
    if not _check.kind('extra_metadata', extra_metadata, bool):
        return names, rows
    return (*names, '_meta-filename'), [(*r, os.path.splitext(os.path.basename(r[0]))[0]) for r in rows]


class VOCDataset(RowsDataset):
    _arguments = lambda dataset_dir, task='Segmentation', usage='train', class_indexing=None, num_samples=None, \
        num_parallel_workers=None, shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None, cache=None, \
        extra_metadata=False, decrypt=None: None  # noqa: E731

    def _list(self, dataset_dir, task, usage, class_indexing, extra_metadata, decrypt):
        if decrypt is not None:
            raise NotImplementedError('VOCDataset does not support decrypt.')
        if task not in ('Segmentation', 'Detection'):
            raise ValueError(f'Invalid task : {task}.')
        if class_indexing is not None:
            if task == 'Segmentation':
                raise ValueError("class_indexing is not supported in 'Segmentation' task.")
            _check.kind('class_indexing', class_indexing, dict)
        names = [n.split()[0] for n in lines(_join(dataset_dir, 'ImageSets', 'Main' if task == 'Detection' else task,
                                                   f'{usage}.txt')) if n.strip()]
        paths = [File(_join(dataset_dir, 'JPEGImages', f'{n}.jpg')) for n in names]
        self._number = class_indexing
        if task == 'Segmentation':
            self._images = (0, 1)
            rows = [(p, File(_join(dataset_dir, 'SegmentationClass', f'{n}.png'))) for p, n in zip(paths, names)]
            return _with_names(self, ('image', 'target'), rows, extra_metadata)
        found = [(p, self._boxes(file(_join(dataset_dir, 'Annotations', f'{n}.xml')))) for p, n in zip(paths, names)]
        if class_indexing is None:
            self._number = {n: k for k, n in enumerate(sorted({b[0] for _, boxes in found for b in boxes}))}
        rows = []
        for path, boxes in found:
            boxes = [b for b in boxes if b[0] in self._number]
            if boxes:
                rows.append((path, np.array([b[1] for b in boxes], np.float32), u4([[self._number[b[0]]] for b in boxes]),
                             u4([[b[2]] for b in boxes]), u4([[b[3]] for b in boxes])))
        return _with_names(self, ('image', 'bbox', 'label', 'difficult', 'truncate'), rows, extra_metadata)

    def _boxes(self, path):
        """(class, [x, y, width, height], difficult, truncated) of each object."""
        boxes = []
        try:
            for o in ElementTree.parse(path).getroot().iter('object'):
                b = [float(o.find(f'bndbox/{n}').text) for n in ('xmin', 'ymin', 'xmax', 'ymax')]
                if b[2] <= b[0] or b[3] <= b[1]:
                    raise ValueError(f'the box {b} is empty')
                flags = [int(o.findtext(n) or 0) for n in ('difficult', 'truncated')]
                boxes.append((o.find('name').text, [b[0], b[1], b[2] - b[0], b[3] - b[1]], *flags))
        except (ElementTree.ParseError, AttributeError, ValueError) as e:
            raise RuntimeError(f'Invalid annotation file {path}: {e}') from e
        return boxes

    def get_class_indexing(self):
        if self.task != 'Detection':
            raise NotImplementedError("Only 'Detection' support get_class_indexing.")
        return dict(self._number)


class CocoDataset(RowsDataset):
    _arguments = lambda dataset_dir, annotation_file, task='Detection', num_samples=None, num_parallel_workers=None, \
        shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None, cache=None, extra_metadata=False, \
        decrypt=None: None  # noqa: E731
    _columns = {'Detection': ('image', 'bbox', 'category_id', 'iscrowd'), 'Stuff': ('image', 'segmentation', 'iscrowd'),
                'Keypoint': ('image', 'keypoints', 'num_keypoints'), 'Captioning': ('image', 'captions'),
                'Panoptic': ('image', 'bbox', 'category_id', 'iscrowd', 'area')}

    def _list(self, dataset_dir, annotation_file, task, extra_metadata, decrypt):
        if decrypt is not None:
            raise NotImplementedError('CocoDataset does not support decrypt.')
        if task not in self._columns:
            raise ValueError(f'Invalid task type: {task}.')
        path = file(annotation_file, 'annotation_file')
        try:
            with open(path, encoding='utf-8') as f:
                data = json.load(f)
            images = {i['id']: i['file_name'] for i in data['images']}
            self._categories = data.get('categories', [])
            known = {c['id'] for c in self._categories}
            of = {}
            for a in data['annotations']:
                if a['image_id'] not in images:
                    raise RuntimeError(f"Invalid annotation file {path}: there is no image with the id {a['image_id']}.")
                if task == 'Panoptic':
                    of.setdefault(a['image_id'], []).extend(a['segments_info'])
                else:
                    if task == 'Detection' and a['category_id'] not in known:
                        raise RuntimeError(f"Invalid annotation file {path}: the attribute of 'category_id': "
                                           f"{a['category_id']} is missing in its categories.")
                    of.setdefault(a['image_id'], []).append(a)
            rows = [(File(_join(dataset_dir, name)), *self._cells(task, of[k])) for k, name in images.items() if k in of]
        except KeyError as e:
            raise RuntimeError(f'Invalid annotation file, Coco Dataset annotation file: {path}: the attribute of {e} is '
                               'missing.') from e
        except (ValueError, TypeError) as e:
            raise RuntimeError(f'Invalid annotation file, Coco Dataset annotation file: {path}: {e!r}') from e
        return _with_names(self, self._columns[task], rows, extra_metadata)

    def _cells(self, task, found):
        if task == 'Captioning':
            return (np.array([[a['caption']] for a in found]),)
        if task == 'Keypoint':
            return (np.array([a['keypoints'] for a in found], np.float32), u4([[a['num_keypoints']] for a in found]))
        crowd = u4([[a['iscrowd']] for a in found])
        if task == 'Stuff':
            flat = [p for a in found for p in (a['segmentation'] if isinstance(a['segmentation'], list)
                                               else [a['segmentation']['counts']])]
            table = np.full((len(flat), max(map(len, flat))), -1, np.float32)
            for row, values in zip(table, flat):
                row[:len(values)] = values
            return table, crowd
        cells = (np.array([a['bbox'] for a in found], np.float32), u4([[a['category_id']] for a in found]), crowd)
        return (*cells, u4([[a['area']] for a in found])) if task == 'Panoptic' else cells

    def get_class_indexing(self):
        if self.task not in ('Detection', 'Panoptic'):
            raise NotImplementedError("Only 'Detection' and 'Panoptic' support get_class_indexing.")
        return {c['name']: [c['id'], c['isthing']] if self.task == 'Panoptic' else [c['id']] for c in self._categories}


class WIDERFaceDataset(RowsDataset):
    """The boxes of an image, int32 <n, 4>, and what is said of each."""

    _arguments, _usages = _DECODED, ('train', 'test', 'valid', 'all')

    def _list(self, dataset_dir, usage):
        def path(part, name):
            return File(_join(dataset_dir, f'WIDER_{part}', 'images', *name.strip().split('/')))
        split = _join(dataset_dir, 'wider_face_split')
        if usage == 'test':
            return ('image',), [(path('test', n),) for n in lines(_join(split, 'wider_face_test_filelist.txt')) if n.strip()]
        rows = []
        for part in ('train', 'val') if usage in (None, 'all') else ({'valid': 'val'}.get(usage, usage),):
            text = iter(lines(_join(split, f'wider_face_{part}_bbx_gt.txt')))
            for name in filter(str.strip, text):
                count = int(next(text, '0'))
                faces = np.array([next(text, '').split() for _ in range(max(count, 1))], np.int32)
                if faces.shape[1] != 10:
                    raise RuntimeError(f'Invalid file, a face of {name} in {split} has {faces.shape[1]} numbers, not 10.')
                blur, expression, light, invalid, occlusion, pose = (np.ascontiguousarray(c) for c in faces[:, 4:].T)
                rows.append((path(part, name), faces[:, :4], blur, expression, light, occlusion, pose, invalid))
        return ('image', 'bbox', 'blur', 'expression', 'illumination', 'occlusion', 'pose', 'invalid'), rows


class LFWDataset(RowsDataset):
    """People: image and label. Pairs: two images, and whether they show one person."""

    _arguments = lambda dataset_dir, task=None, usage=None, image_set=None, num_samples=None, num_parallel_workers=None, \
        shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('10fold', 'train', 'test', 'all')

    def _list(self, dataset_dir, task, usage, image_set):
        task = 'people' if task is None else _check.choice('task', _check.kind('task', task, str), ('people', 'pairs'))
        sets = {'original': 'lfw', 'funneled': 'lfw_funneled', 'deepfunneled': 'lfw-deepfunneled'}
        base = folder(_join(dataset_dir, sets[_check.choice('image_set', image_set or 'funneled', sets)]))
        stems = {'10fold': '', 'train': 'DevTrain', 'test': 'DevTest'}
        parts = ('train', 'test') if usage in (None, 'all') else (usage,)
        fields = [line.split() for p in parts for line in lines(_join(dataset_dir, f'{task}{stems[p]}.txt'))]

        def image(name, number):
            return File(_join(base, name, f'{name}_{int(number):04d}.jpg'))
        if task == 'pairs':
            self._images = (0, 1)
            return ('image1', 'image2', 'label'), [
                (image(f[0], f[1]), image(f[-2] if len(f) == 4 else f[0], f[-1]), u4(len(f) == 3))
                for f in fields if len(f) in (3, 4)]
        number = {line.split()[0]: k for k, line in enumerate(lines(_join(dataset_dir, 'lfw-names.txt'))) if line.strip()}
        return ('image', 'label'), [(image(f[0], k + 1), u4(number[f[0]])) for f in fields
                                    if len(f) == 2 and not f[0].isdigit() for k in range(int(f[1]))]


__all__ = [n for n, o in list(globals().items()) if n.endswith('Dataset') and isinstance(o, type) and n != 'RowsDataset'
           and not n.startswith('_')]
