"""Published data sets, from small folders of the same layout."""
import inspect
import json
import struct
import wave

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
    with pytest.raises(RuntimeError, match='no row was found'):
        ds.Caltech256Dataset(str(tmp_path))


SAMPLES = np.array([[0, 32767, -32767, 1], [2, 3, 4, 5]], np.int16)  # two channels


def sound(path, samples=SAMPLES, rate=16000):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), 'wb') as f:
        f.setnchannels(len(samples))
        f.setsampwidth(samples.dtype.itemsize)
        f.setframerate(rate)
        f.writeframes(samples.T.tobytes())


def check_sound(row, rate_type):
    assert row[0].dtype == np.float32 and np.array_equal(row[0], (SAMPLES / 32767).astype(np.float32))
    assert row[1] == 16000 and row[1].dtype == rate_type


def test_sounds(tmp_path):
    sound(tmp_path / 'yes' / '1_0_1.wav')
    row, = rows(ds.YesNoDataset(str(tmp_path / 'yes')))
    check_sound(row, np.int32)
    assert row[2].tolist() == [1, 0, 1]
    sound(tmp_path / 'lj' / 'wavs' / 'a.wav')
    text(tmp_path / 'lj' / 'metadata.csv', 'a|No. 1|Number one\n')
    row, = rows(ds.LJSpeechDataset(str(tmp_path / 'lj')))
    check_sound(row, np.int32)
    assert row[2:] == ['No. 1', 'Number one']
    sound(tmp_path / 'cmu_us_slt_arctic' / 'wav' / 'arctic_b0001.wav')
    text(tmp_path / 'cmu_us_slt_arctic' / 'etc' / 'txt.done.data', '( arctic_b0001 "Don\'t say "so"." )\n')
    row, = rows(ds.CMUArcticDataset(str(tmp_path), 'slt'))
    check_sound(row, np.uint32)
    assert row[2:] == ['Don\'t say "so".', 'b0001']
    sound(tmp_path / 'tts' / 'dev-other' / '7' / '9' / '7_9_1.wav')
    text(tmp_path / 'tts' / 'dev-other' / '7' / '9' / '7_9.trans.tsv', '7_9_1\tmr. x\tMister X\n')
    row, = rows(ds.LibriTTSDataset(str(tmp_path / 'tts')))
    check_sound(row, np.uint32)
    assert row[2:] == ['mr. x', 'Mister X', 7, 9, '7_9_1']
    sound(tmp_path / 'music' / 'blues' / 'blues.00000.wav')
    check_sound(rows(ds.GTZANDataset(str(tmp_path / 'music')))[0], np.uint32)


def test_speech_commands(tmp_path):
    for name in ('cat/ab_nohash_0', 'cat/cd_nohash_2', 'dog/ab_nohash_1', '_background_noise_/x'):
        sound(tmp_path / f'{name}.wav')
    text(tmp_path / 'testing_list.txt', 'cat/cd_nohash_2.wav\n')
    text(tmp_path / 'validation_list.txt', 'dog/ab_nohash_1.wav\n')
    found = {u: [tuple(map(str, r[2:])) for r in rows(ds.SpeechCommandsDataset(str(tmp_path), u, shuffle=False))]
             for u in ('all', 'train', 'test', 'valid')}
    assert found['train'] == [('cat', 'ab', '0')] and found['test'] == [('cat', 'cd', '2')]
    assert found['valid'] == [('dog', 'ab', '1')] and len(found['all']) == 3


@pytest.mark.parametrize('order, code', [('<', '01'), ('>', '10')])
def test_tedlium(tmp_path, order, code):
    samples = np.arange(16, dtype=np.int16)
    head = f'NIST_1A\n   1024\nsample_n_bytes -i 2\nchannel_count -i 1\nsample_byte_format -s2 {code}\nsample_rate -i 10\nend_head\n'
    (tmp_path / 'data' / 'sph').mkdir(parents=True)
    (tmp_path / 'data' / 'sph' / 't.sph').write_bytes(head.encode().ljust(1024) + samples.astype(f'{order}i2').tobytes())
    text(tmp_path / 'data' / 'stm' / 't.stm', 't 1 jo 0.2 0.5 <o> so to say\n')
    row, = rows(ds.TedliumDataset(str(tmp_path), 'release3'))
    assert np.array_equal(row[0], (samples[None, 2:5] / 32767).astype(np.float32)) and row[1] == 10
    assert row[2:] == ['so to say', 't', 'jo', '<o>']
    (tmp_path / 'data' / 'sph' / 't.sph').write_bytes(b'RIFF')
    with pytest.raises(RuntimeError, match=r't\.sph'):
        rows(ds.TedliumDataset(str(tmp_path), 'release3'))


@pytest.mark.parametrize('samples', [np.array([[0, 128, 255]], np.uint8), np.array([[5, -6]], np.int32)])
def test_sound_widths(tmp_path, samples):
    sound(tmp_path / '1.wav', samples)
    top = 127 if samples.dtype == np.uint8 else 2 ** 31 - 1
    expect = (samples.astype(np.int64) - (128 if top == 127 else 0)) / top
    assert np.array_equal(rows(ds.YesNoDataset(str(tmp_path)))[0][0], expect.astype(np.float32))


def test_wider_face(tmp_path):
    image(tmp_path / 'WIDER_train' / 'images' / '0--A' / 'a.jpg')
    text(tmp_path / 'wider_face_split' / 'wider_face_train_bbx_gt.txt', '0--A/a.jpg\n2\n1 2 3 4 5 6 7 8 9 10 \n' + '0 ' * 10 + '\n')
    row, = rows(ds.WIDERFaceDataset(str(tmp_path), 'train', decode=True))
    assert row[0].shape == (4, 4, 3) and row[1].tolist() == [[1, 2, 3, 4], [0] * 4]
    assert [int(c[0]) for c in row[2:]] == [5, 6, 7, 9, 10, 8]  # invalid comes last


def test_lfw(tmp_path):
    for name in ('A_0001', 'A_0002', 'B_0001'):
        image(tmp_path / 'lfw' / name[0] / f'{name}.jpg', value=ord(name[0]) + int(name[-1]))
    text(tmp_path / 'lfw-names.txt', 'A\t2\nB\t1\n')
    text(tmp_path / 'people.txt', '1\n2\nA\t2\nB\t1\n')
    text(tmp_path / 'pairsDevTest.txt', '1\nA\t1\t2\nA\t2\tB\t1\n')
    people = rows(ds.LFWDataset(str(tmp_path), 'people', '10fold', 'original', decode=True, shuffle=False))
    assert [(int(r[0][0, 0, 0]), int(r[1])) for r in people] == [(66, 0), (67, 0), (67, 1)]
    pairs = rows(ds.LFWDataset(str(tmp_path), 'pairs', 'test', 'original', decode=True, shuffle=False))
    assert [(int(r[0][0, 0, 0]), int(r[1][0, 0, 0]), int(r[2])) for r in pairs] == [(66, 67, 1), (67, 67, 0)]


def test_talks(tmp_path):
    base = tmp_path / 'texts' / 'fr' / 'en' / 'fr-en'
    for language, a, b in (('fr', 'un', 'deux'), ('en', 'one', 'two')):
        text(base / f'train.tags.fr-en.{language}', f'<title>x</title>\n{a}\n')
        text(base / f'IWSLT16.TED.tst2010.fr-en.{language}.xml', f'<mteval><doc><seg id="1"> {b} </seg></doc></mteval>')
    d = ds.IWSLT2016Dataset(str(tmp_path), 'valid', ['fr', 'en'], 'tst2010', shuffle=False)
    assert d.get_col_names() == ['text', 'translation'] and rows(d) == [['deux', 'two']]
    assert rows(ds.IWSLT2016Dataset(str(tmp_path), 'train', ['fr', 'en'])) == [['un', 'one']]
    with pytest.raises(ValueError, match='language_pair'):
        ds.IWSLT2017Dataset(str(tmp_path), 'train', ['fr', 'en'])
