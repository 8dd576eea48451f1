"""Sources on disk: folders of images, CIFAR and CSV; what the pipeline does with them and says when they are bad."""
import io
import json

import numpy as np
import pytest

import mindspore.dataset as ds
import mindspore.dataset.vision as V

Image = pytest.importorskip('PIL.Image')


def photo(h, w, seed):
    rng = np.random.default_rng(seed)
    return np.clip(rng.integers(60, 190, (1, 1, 3)) + rng.normal(0, 12, (h, w, 3)).cumsum(1) / 3, 0, 255).astype(np.uint8)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp('images')
    for k in range(18):
        where = root / ['cat', 'dög', 'eel'][k % 3]
        where.mkdir(exist_ok=True)
        Image.fromarray(photo(60 + k, 90 - k, k)).save(where / f'{k:02}.{"jpg" if k % 2 else "png"}')
    (root / 'cat' / 'notes.txt').write_text('no image')
    return str(root)


def rows(d, **options):
    return list(d.create_dict_iterator(num_epochs=1, output_numpy=True, **options))


def test_image_folder(folder):
    d = ds.ImageFolderDataset(folder, shuffle=False)
    assert d.get_class_indexing() == {'cat': 0, 'dög': 1, 'eel': 2} and d.num_classes() == 3
    assert d.get_dataset_size() == 18 and d.get_col_names() == ['image', 'label']
    labels = [int(r['label']) for r in rows(d)]
    assert labels == [0] * 6 + [1] * 6 + [2] * 6 and rows(d)[0]['label'].dtype == np.int32
    decoded = rows(ds.ImageFolderDataset(folder, shuffle=False, decode=True))
    assert decoded[0]['image'].ndim == 3
    assert len(ds.ImageFolderDataset(folder, extensions=['.png'])) == 9
    some = ds.ImageFolderDataset(folder, class_indexing={'eel': 7, 'cat': 4}, shuffle=False)
    assert sorted({int(r['label']) for r in rows(some)}) == [4, 7] and len(some) == 12


def test_shards_and_classes(folder):
    seen = []
    for shard in range(4):
        d = ds.ImageFolderDataset(folder, num_shards=4, shard_id=shard, shuffle=False)
        assert len(d) == 5
        seen += [r['image'].tobytes() for r in rows(d)]
    assert len(set(seen)) == 18
    pk = rows(ds.ImageFolderDataset(folder, sampler=ds.PKSampler(2)))
    assert sorted(int(r['label']) for r in pk) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize('operations', [
    [V.Decode(), V.Resize(40), V.CenterCrop(32)], [V.Decode(), V.Resize((50, 45), V.Inter.CUBIC)],
    [V.Decode(), V.Resize(20), V.CenterCrop(32)], [V.Decode(), V.Resize(48, V.Inter.AREA), V.CenterCrop((30, 20))]])
def test_a_fused_map_gives_the_bits_of_its_parts(folder, operations):
    d = ds.ImageFolderDataset(folder, shuffle=False)
    fused = rows(d.map(operations, 'image'))
    for have, row in zip(fused, rows(d)):
        want = row['image']
        for op in operations:
            want = op(want)
        assert (have['image'] == want).all()


@pytest.mark.parametrize('first', [[V.RandomCropDecodeResize(32)], [V.Decode(), V.RandomResizedCrop(32)]])
def test_same_seed_same_rows_for_any_workers(folder, first):
    operations = first + [V.RandomHorizontalFlip(), V.RandomColorAdjust(0.3, 0.3, 0.3), V.RandAugment(), V.ToTensor(),
                          V.RandomErasing(0.5)]
    runs = []
    for workers in (1, 3, 5):
        ds.config.set_seed(11)
        d = ds.ImageFolderDataset(folder).map(operations, 'image', num_parallel_workers=workers)
        runs.append([r['image'] for r in rows(d)] + [r['image'] for r in rows(d.repeat(2))])
    for other in runs[1:]:
        assert all((a == b).all() for a, b in zip(runs[0], other))


def test_images_of_pil_between_functions(folder):
    operations = [V.Decode(to_pil=True), V.Resize((40, 40)), V.RandomHorizontalFlip(1.0), V.ToTensor()]
    for r in rows(ds.ImageFolderDataset(folder).map(operations, 'image')):
        assert r['image'].shape == (3, 40, 40) and r['image'].dtype == np.float32


def test_a_bad_image_names_its_file(tmp_path):
    (tmp_path / 'c').mkdir()
    good = io.BytesIO()
    Image.fromarray(photo(40, 40, 0)).save(good, 'JPEG')
    for k in range(6):
        (tmp_path / 'c' / f'{k}.jpg').write_bytes(good.getvalue())
    (tmp_path / 'c' / '4.jpg').write_bytes(good.getvalue()[:300])
    for operations in ([V.Decode()], [V.Decode(), V.Resize(20)], [V.RandomCropDecodeResize(20, (1.0, 1.0), (1.0, 1.0))]):
        d = ds.ImageFolderDataset(str(tmp_path), shuffle=False).map(operations, 'image')
        with pytest.raises(RuntimeError, match=r'Decode.*4\.jpg'):
            rows(d)


def test_folders_without_images(tmp_path):
    with pytest.raises(RuntimeError, match='no image'):
        ds.ImageFolderDataset(str(tmp_path))
    with pytest.raises(ValueError, match='does not exist'):
        ds.ImageFolderDataset(str(tmp_path / 'none'))


def test_cifar(tmp_path):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (20, 3, 32, 32), dtype=np.uint8)
    label = rng.integers(0, 10, (20, 1), dtype=np.uint8)
    np.concatenate([label, image.reshape(20, -1)], 1).tofile(tmp_path / 'data_batch_1.bin')
    d = rows(ds.Cifar10Dataset(str(tmp_path), shuffle=False))
    assert len(d) == 20 and d[0]['label'].dtype == np.uint32
    assert (d[3]['image'] == image[3].transpose(1, 2, 0)).all() and d[3]['label'] == label[3, 0]
    coarse = label // 5
    np.concatenate([coarse, label, image.reshape(20, -1)], 1).tofile(tmp_path / 'train.bin')
    d = rows(ds.Cifar100Dataset(str(tmp_path), 'train', shuffle=False))
    assert d[5]['fine_label'] == label[5, 0] and d[5]['coarse_label'] == coarse[5, 0]
    (tmp_path / 'test_batch.bin').write_bytes(b'x' * 100)
    with pytest.raises(RuntimeError, match='test_batch.bin'):
        ds.Cifar10Dataset(str(tmp_path), 'test')


def test_csv(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('1,2.5\n3,\n')
    d = rows(ds.CSVDataset(str(path), column_defaults=[0, 9.0], column_names=['a', 'b'], shuffle=False))
    assert d[0]['a'] == 1 and d[0]['a'].dtype == np.int32 and d[1]['b'] == 9
    assert len(ds.CSVDataset(str(tmp_path / '*.csv'), ',', [0, 0.0], ['a', 'b'], num_shards=2, shard_id=0)) == 1
    path.write_text('1,"x, y"\n,\n')
    d = rows(ds.CSVDataset(str(path), None, [7, 'z'], ['a', 'b'], shuffle=False))
    assert [(r['a'], r['b']) for r in d] == [(1, 'x, y'), (7, 'z')]
    assert rows(ds.CSVDataset(str(path), column_names=['a', 'b'], shuffle=False))[0]['a'] == '1'
    path.write_text('a,b\n1,2\n3\n')
    with pytest.raises(RuntimeError, match='line 3'):
        ds.CSVDataset(str(path), column_defaults=[0, 0])
    with pytest.raises(ValueError, match='did not match'):
        ds.CSVDataset(str(tmp_path / 'none'), column_defaults=[0])


def test_an_empty_file_fails_when_it_is_decoded(tmp_path):
    (tmp_path / 'c').mkdir()
    (tmp_path / 'c' / 'a.png').write_bytes(b'')
    assert rows(ds.ImageFolderDataset(str(tmp_path)))[0]['image'].shape == (0,)
    with pytest.raises(RuntimeError, match='Decode.*a.png'):
        rows(ds.ImageFolderDataset(str(tmp_path), decode=True))


def test_manifest_labels(tmp_path):
    """Images may have different numbers of labels; what is no image is left out."""
    Image.new('RGB', (2, 2)).save(tmp_path / 'a.png')
    (tmp_path / 'text.jpg').write_text('text')
    lines = [('a.png', ['b']), ('a.png', ['c', 'a']), ('text.jpg', ['a'])]
    (tmp_path / 'm').write_text(''.join(json.dumps({'source': str(tmp_path / f), 'usage': 'train',
                                                    'annotation': [{'name': n} for n in names]}) + '\n' for f, names in lines))
    d = ds.ManifestDataset(str(tmp_path / 'm'), shuffle=False)
    assert [r['label'].tolist() for r in rows(d)] == [1, [2, 0]]
    (tmp_path / 'm').write_text('{"source": "a.png"}\n')
    with pytest.raises(RuntimeError, match="'usage' is missing in line 1"):
        ds.ManifestDataset(str(tmp_path / 'm'))


def test_transforms_of_columns():
    import mindspore.dataset.transforms as T
    assert T.PadEnd([5], 1)(np.arange(3)).tolist() == [0, 1, 2, 1, 1]
    assert T.Mask(T.Relational.GT, 1)(np.arange(4)).tolist() == [False, False, True, True]
    assert T.Slice(slice(1, 3))(np.arange(5)).tolist() == [1, 2]
    assert T.Concatenate(0, np.array([7]), np.array([8]))(np.arange(2)).tolist() == [7, 0, 1, 8]
    values, index, count = T.Unique()(np.array([3, 1, 3]))
    assert values.tolist() == [3, 1] and index.tolist() == [0, 1, 0] and count.tolist() == [2, 1]
    with pytest.raises(NotImplementedError):
        T.Plugin('x.so', 'f')
