"""Bad input to whole pipelines: damaged images, odd names, missing files, Ctrl-C; and memory that does not grow."""
import io
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mindspore.dataset as ds
import mindspore.dataset.vision as V

Image = pytest.importorskip('PIL.Image')
FORMATS = ['JPEG', 'PNG', 'BMP', 'WEBP', 'GIF', 'TIFF']


def encoded(fmt, h=33, w=47):
    y, x = np.mgrid[0:h, 0:w]
    image = Image.fromarray(np.stack([x * 5, y * 7, x + y], -1).astype(np.uint8))
    b = io.BytesIO()
    image.save(b, fmt)
    return b.getvalue()


def folder(path, files):
    (path / 'class').mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (path / 'class' / name).write_bytes(data)
    return str(path)


def epoch(path, **kwargs):
    d = ds.ImageFolderDataset(path, shuffle=False, decode=True, **kwargs)
    return [r[0].shape for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize('fmt', FORMATS)
def test_damaged_images_never_crash(fmt):
    data, draw = encoded(fmt), random.Random(1)
    whole = V.Decode()(np.frombuffer(data, np.uint8)).shape
    assert whole == (33, 47, 3)
    refused = 0
    for k in range(150):
        bad = bytearray(data[:draw.randrange(1, len(data))] if k % 2 else data)
        for _ in range(draw.randrange(1, 9) if k % 2 == 0 else 0):
            bad[draw.randrange(min(len(bad), 200 if k % 4 else len(bad)))] = draw.randrange(256)
        try:
            image = V.Decode()(np.frombuffer(bytes(bad), np.uint8))
            assert image.dtype == np.uint8 and image.ndim == 3
        except RuntimeError as e:
            assert 'Decode' in str(e)
            refused += 1
    assert refused > 10


@pytest.mark.parametrize('data', [b'not an image at all', b'\xff\xd8\xff', b'\x89PNG\r\n\x1a\n', b'GIF89a', b'II*\0',
                                  encoded('JPEG')[:300], encoded('PNG')[:90]])
def test_the_error_names_operation_and_file(tmp_path, data):
    path = folder(tmp_path, {'a.jpg': encoded('JPEG'), 'b.jpg': data, 'c.jpg': encoded('JPEG')})
    for workers in (1, 3):
        with pytest.raises(RuntimeError, match=r'\[Decode\] failed[\s\S]*class/b\.jpg'):
            epoch(path, num_parallel_workers=workers)


def test_names_of_any_kind(tmp_path):
    names = ['größe 日本.jpg', 'a b\n.jpg', "quote'\".jpg", 'x' * 200 + '.jpg']
    assert epoch(folder(tmp_path / 'Ünï', {n: encoded('JPEG') for n in names})) == [(33, 47, 3)] * 4
    raw = os.path.join(os.fsencode(tmp_path / 'Ünï' / 'class'), b'\xff\xfe.jpg')
    with open(raw, 'wb') as f:
        f.write(encoded('JPEG'))
    assert len(epoch(str(tmp_path / 'Ünï'))) == 5


def test_files_that_are_missing_or_unreadable(tmp_path):
    path = folder(tmp_path, {'a.jpg': encoded('JPEG'), 'b.jpg': encoded('JPEG')})
    d = ds.ImageFolderDataset(path, shuffle=False, decode=True)
    os.remove(tmp_path / 'class' / 'b.jpg')
    with pytest.raises(RuntimeError, match=r'b\.jpg'):
        list(d.create_tuple_iterator(num_epochs=1))
    os.symlink('nowhere', tmp_path / 'class' / 'b.jpg')
    with pytest.raises(RuntimeError, match=r'b\.jpg'):
        epoch(path)
    os.remove(tmp_path / 'class' / 'b.jpg')
    os.mkdir(tmp_path / 'class' / 'b.jpg')
    assert len(epoch(path)) == 1
    if os.geteuid():
        os.chmod(tmp_path / 'class' / 'a.jpg', 0)
        with pytest.raises(RuntimeError, match=r'a\.jpg.*ermission'):
            epoch(path)
    for empty in (tmp_path / 'none', tmp_path / 'none' / 'class'):
        empty.mkdir()
        with pytest.raises(RuntimeError, match='no image'):
            epoch(str(tmp_path / 'none'))


class Raises:
    def __len__(self):
        return 9

    def __getitem__(self, i):
        return np.array(i // (i - 5))


def test_failures_of_python_functions_name_the_operation():
    d = ds.NumpySlicesDataset(list(range(9)), ['x'], shuffle=False)

    def fail(*_):
        raise KeyError('k')

    class Odd(ds.Sampler):
        def __iter__(self):
            return fail()
    for bad, says in ((ds.GeneratorDataset(Raises(), ['x'], shuffle=False), r'GeneratorDataset Raises failed.*ZeroDiv.* Row 5'),
                      (d.batch(2, per_batch_map=fail), r'batch operation: \[per_batch_map\] failed.*Batch 0'),
                      (d.batch(fail), r'batch operation: \[batch_size\] failed.*Batch 0'),
                      (d.bucket_batch_by_length('x', [3], [2, 2], fail), r'bucket_batch_by_length operation: .* failed.*KeyError'),
                      (ds.NumpySlicesDataset(list(range(9)), sampler=Odd()), r'The sampler failed.*Epoch 0'),
                      (d.filter(fail), r'filter operation: \[fail\] failed'), (d.map(fail), r'map operation: \[PyFunc\] failed')):
        with pytest.raises(RuntimeError, match=says) as e:
            list(bad.create_tuple_iterator(num_epochs=1))
        assert isinstance(e.value.__cause__, (KeyError, ZeroDivisionError))


SCRIPT = '''
import time, numpy as np, mindspore.dataset as ds
class Source:
    def __getitem__(self, i):
        time.sleep(0.01)
        return np.zeros(1000, np.float32)
    def __len__(self):
        return 10 ** 6
d = ds.GeneratorDataset(Source(), ['x'], num_parallel_workers=2, python_multiprocessing=False)
d = d.map(lambda x: x + 1, 'x', num_parallel_workers=2).shuffle(8).batch(4)
for k, row in enumerate(d.create_tuple_iterator()):
    if k == 3:
        print('running', flush=True)
'''


def test_ctrl_c_in_the_middle_of_an_epoch():
    p = subprocess.Popen([sys.executable, '-c', SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         start_new_session=True)
    assert p.stdout.readline() == 'running\n'
    begin = time.monotonic()
    os.killpg(p.pid, signal.SIGINT)
    err = p.communicate(timeout=30)[1]
    assert p.returncode in (-signal.SIGINT, 130) and err.count('KeyboardInterrupt') == 1 and time.monotonic() - begin < 15


def resident():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGESIZE')


def test_memory_does_not_grow_over_epochs(tmp_path):
    path = folder(tmp_path, {f'{k}.jpg': encoded('JPEG', 200, 300) for k in range(32)})
    d = ds.ImageFolderDataset(path, shuffle=True, num_parallel_workers=2)
    d = d.map([V.RandomCropDecodeResize(96), V.RandomHorizontalFlip(), V.ToTensor()], 'image', num_parallel_workers=2)
    d = d.map(lambda x: x * 2, 'image').batch(8)
    it, sizes = d.create_tuple_iterator(num_epochs=12, output_numpy=True), []
    for _ in range(12):
        for _ in it:
            pass
        sizes.append(resident())
    assert max(sizes[2:]) - sizes[1] < 8 << 20, sizes  # a batch of each epoch would be 9 MB
