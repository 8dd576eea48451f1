"""Published data sets, from small folders of the same layout."""
import inspect
import json
import struct

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import vision


def rows(d):
    return list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))


def image(path, side=4, value=7):
    path.parent.mkdir(parents=True, exist_ok=True)
    vision.write_png(str(path), np.full((side, side, 3), value, np.uint8))
    return path


def text(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding='utf-8')


BOX = '<object><name>{}</name><difficult>0</difficult><truncated>1</truncated><bndbox><xmin>1</xmin><ymin>2</ymin>' \
      '<xmax>4</xmax><ymax>8</ymax></bndbox></object>'


def test_voc(tmp_path):
    for name, what in (('a', ['dog', 'cat']), ('b', ['dog'])):
        image(tmp_path / 'JPEGImages' / f'{name}.jpg')
        image(tmp_path / 'SegmentationClass' / f'{name}.png', value=3)
        text(tmp_path / 'Annotations' / f'{name}.xml', f'<annotation>{"".join(map(BOX.format, what))}</annotation>')
    text(tmp_path / 'ImageSets' / 'Main' / 'train.txt', 'a\nb\n')
    text(tmp_path / 'ImageSets' / 'Segmentation' / 'train.txt', 'b\n')
    d = ds.VOCDataset(str(tmp_path), 'Detection', shuffle=False, decode=True)
    first, second = rows(d)
    assert d.get_class_indexing() == {'cat': 0, 'dog': 1} and d.get_col_names() == ['image', 'bbox', 'label', 'difficult',
                                                                                   'truncate']
    assert first[0].shape == (4, 4, 3) and first[1].tolist() == [[1, 2, 3, 6]] * 2 and first[1].dtype == np.float32
    assert first[2].tolist() == [[1], [0]] and first[2].dtype == np.uint32 and second[4].tolist() == [[1]]
    only = ds.VOCDataset(str(tmp_path), 'Detection', class_indexing={'cat': 9}, shuffle=False)
    assert [r[2].tolist() for r in rows(only)] == [[[9]]]
    target = rows(ds.VOCDataset(str(tmp_path), shuffle=False, decode=True))[0][1]
    assert target.shape == (4, 4, 3) and (target == 3).all()
    text(tmp_path / 'Annotations' / 'a.xml', '<annotation>')
    with pytest.raises(RuntimeError, match=r'a\.xml'):
        ds.VOCDataset(str(tmp_path), 'Detection')


def test_coco(tmp_path):
    image(tmp_path / 'x.jpg')
    note = {'image_id': 1, 'category_id': 5, 'iscrowd': 0, 'bbox': [1, 2, 3, 4], 'caption': 'näher', 'num_keypoints': 1,
            'keypoints': [1, 2, 2], 'segmentation': [[1, 2, 3], [4, 5]]}
    path = tmp_path / 'notes.json'
    data = {'images': [{'id': 1, 'file_name': 'x.jpg'}], 'annotations': [note], 'categories': [{'id': 5, 'name': 'dog'}]}
    text(path, json.dumps(data))

    def first(task):
        return rows(ds.CocoDataset(str(tmp_path), str(path), task, decode=True, shuffle=False))[0][1:]
    assert [c.tolist() for c in first('Detection')] == [[[1, 2, 3, 4]], [[5]], [[0]]]
    assert first('Captioning')[0].tolist() == [['näher']]
    assert [c.tolist() for c in first('Keypoint')] == [[[1, 2, 2]], [[1]]]
    assert first('Stuff')[0].tolist() == [[1, 2, 3], [4, 5, -1]]
    assert ds.CocoDataset(str(tmp_path), str(path)).get_class_indexing() == {'dog': [5]}
    data['annotations'][0]['image_id'] = 8
    text(path, json.dumps(data))
    with pytest.raises(RuntimeError, match='notes.json.*id 8'):
        ds.CocoDataset(str(tmp_path), str(path))
    text(path, '{')
    with pytest.raises(RuntimeError, match='notes.json'):
        ds.CocoDataset(str(tmp_path), str(path))


def test_arrays(tmp_path):
    pixels = np.arange(27648, dtype=np.uint32).astype(np.uint8)
    for part in ('train', 'test', 'unlabeled'):
        pixels.tofile(tmp_path / f'{part}_X.bin')
        np.array([3], np.uint8).tofile(tmp_path / f'{part}_y.bin')
    got = rows(ds.STL10Dataset(str(tmp_path), 'train+unlabeled', shuffle=False))
    assert [int(r[1]) for r in got] == [2, -1]
    assert got[0][0].shape == (96, 96, 3) and got[0][0][5, 7, 1] == pixels.reshape(3, 96, 96)[1, 7, 5]
    text(tmp_path / 'usps', '3 ' + ' '.join(f'{k + 1}:{-1 + k / 127.5}' for k in range(256)) + '\n')
    label = rows(ds.USPSDataset(str(tmp_path), 'train', shuffle=False))[0]
    assert label[0].shape == (16, 16, 1) and int(label[1]) == 2
    (tmp_path / 'qmnist-train-images-idx3-ubyte').write_bytes(struct.pack('>4i', 0x803, 1, 28, 28) + bytes(784))
    (tmp_path / 'qmnist-train-labels-idx2-int').write_bytes(struct.pack('>3i', 0xc02, 1, 8) + struct.pack('>8i', *range(4, 12)))
    assert int(rows(ds.QMnistDataset(str(tmp_path), 'train'))[0][1]) == 4
    assert rows(ds.QMnistDataset(str(tmp_path), 'train', compat=False))[0][1].tolist() == list(range(4, 12))
    (tmp_path / 'qmnist-train-labels-idx2-int').write_bytes(b'\0\0\x0c\x02')
    with pytest.raises(RuntimeError, match='qmnist-train-labels-idx2-int'):
        ds.QMnistDataset(str(tmp_path), 'train')
    fake = ds.FakeImageDataset(3, (2, 2, 3), 4, shuffle=False)
    assert len(fake) == 3 and rows(fake)[1][0].tolist() == rows(fake)[1][0].tolist() != rows(fake)[2][0].tolist()


def test_images(tmp_path):
    names = ' '.join(f'a{k}' for k in range(40))
    for n in 'xyz':
        image(tmp_path / f'{n}.png', value=ord(n))
    text(tmp_path / 'list_attr_celeba.txt', f'3\n{names}\n' + ''.join(f'{n}.png {"1 -1 " * 20}\n' for n in 'xyz'))
    text(tmp_path / 'list_eval_partition.txt', 'x.png 0\ny.png 2\nz.png 0\n')
    got = rows(ds.CelebADataset(str(tmp_path), usage='train', shuffle=False, decode=True))
    assert [int(r[0][0, 0, 0]) for r in got] == [ord('x'), ord('z')] and got[0][1].tolist() == [1, 0] * 20
    for n in ('b/2', 'b/1', 'a/1'):
        image(tmp_path / 'tree' / f'{n}.png', value=int(n[-1]))
    got = rows(ds.Caltech256Dataset(str(tmp_path / 'tree'), shuffle=False, decode=True))
    assert [(int(r[0][0, 0, 0]), int(r[1])) for r in got] == [(1, 0), (1, 1), (2, 1)]
    image(tmp_path / 'leftImg8bit/val/c/c_1_leftImg8bit.png', value=1)
    image(tmp_path / 'gtFine/val/c/c_1_gtFine_labelIds.png', value=2)
    got = rows(ds.CityscapesDataset(str(tmp_path), 'val', 'fine', 'semantic', decode=True))
    assert [int(c[0, 0, 0]) for c in got[0]] == [1, 2]
    text(tmp_path / 'tree' / 'a' / '2.png', 'no image')
    with pytest.raises(RuntimeError, match=r'a/2\.png'):
        rows(ds.Caltech256Dataset(str(tmp_path / 'tree'), shuffle=False, decode=True))


def test_texts(tmp_path):
    text(tmp_path / 'train.csv', '3,"Title, one","say ""hi"""\n')
    assert [c.item() for c in rows(ds.AGNewsDataset(str(tmp_path), 'train'))[0]] == ['3', 'Title, one', 'say "hi"']
    with pytest.raises(RuntimeError, match='row 1 of .*train.csv has 3 fields, not 4'):
        ds.YahooAnswersDataset(str(tmp_path), 'train')
    for name, words in (('pos/0', 'gut'), ('neg/0', 'schlecht, 不好')):
        text(tmp_path / 'train' / f'{name}.txt', words)
    got = rows(ds.IMDBDataset(str(tmp_path), 'train', shuffle=False))
    assert [(r[0].item(), int(r[1])) for r in got] == [('gut', 1), ('schlecht, 不好', 0)] and got[0][1].dtype == np.int32
    text(tmp_path / 'train.txt', 'He PRP B-NP\nran VBD B-VP\n\nYes UH O\n')
    got = rows(ds.CoNLL2000Dataset(str(tmp_path), 'train', shuffle=False))
    assert [r[1].tolist() for r in got] == [['PRP', 'VBD'], ['UH']]
    text(tmp_path / 'wsc.json', json.dumps({'target': {'span1_index': 1, 'span1_text': 'a', 'span2_index': 2, 'span2_text': 'b'},
                                            'idx': 5, 'text': 't', 'label': 'true'}))
    d = ds.CLUEDataset(str(tmp_path / 'wsc.json'), 'WSC')
    assert d.get_col_names() == ['idx', 'label', 'span1_index', 'span1_text', 'span2_index', 'span2_text', 'text']
    assert [c.item() for c in rows(d)[0]] == [5, 'true', 1, 'a', 2, 'b', 't']


def test_arguments(tmp_path):
    assert list(inspect.signature(ds.VOCDataset).parameters)[:4] == ['dataset_dir', 'task', 'usage', 'class_indexing']
    for kind in (ds.Food101Dataset, ds.DBpediaDataset, ds.KMnistDataset):
        with pytest.raises(ValueError, match='usage is not within the valid set'):
            kind(str(tmp_path), 'some')
        with pytest.raises(ValueError, match='does not exist'):
            kind(str(tmp_path / 'nowhere'))
        with pytest.raises(TypeError, match='unexpected keyword'):
            kind(str(tmp_path), colour=1)
    with pytest.raises(RuntimeError, match='found no row'):
        ds.Caltech256Dataset(str(tmp_path))
