"""MindRecord, TFRecord and text files: contents, shards and shuffles, and what happens with damaged ones."""
import gzip
import os
import random
import resource
import signal
import struct
import tarfile
import zlib

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import mindrecord
from mindspore.mindrecord import FileReader, FileWriter, MindPage
from test_summary import crc32c

HERE = os.path.dirname(__file__)
SCHEMA = {'id': {'type': 'int32'}, 'name': {'type': 'string'}, 'x': {'type': 'float64'}, 'data': {'type': 'bytes'},
          'ids': {'type': 'int64', 'shape': [-1]}, 'box': {'type': 'float32', 'shape': [2, 2]}}


def record(i):
    return {'id': i - 2, 'name': f'größe{i}', 'x': i / 3, 'data': bytes(range(i)),
            'ids': np.array([(-7) ** k for k in range(i * 3)], np.int64), 'box': np.full((2, 2), i / 2, np.float32)}


def write(path, n=7, shards=1, schema=SCHEMA, row=record):
    w = FileWriter(str(path), shards, overwrite=True)
    w.set_header_size(1 << 14)
    w.set_page_size(1 << 15)
    w.add_schema(schema, 'test')
    w.write_raw_data([row(i) for i in range(n)])
    w.commit()
    return str(path)


def same(got, want):
    assert list(got) == sorted(got) or set(got) == set(want)
    for k, v in want.items():
        assert np.array_equal(got[k], v) and np.asarray(got[k]).dtype == np.asarray(v).dtype, k


def column(d, k=0):
    return [r[k].ravel()[0].item() for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize('source', ['original', 'ours'])
def test_rows_of_mindrecord(tmp_path, source):
    if source == 'original':
        with tarfile.open(os.path.join(HERE, 'data', 'original_mindrecord.tar.xz')) as t:
            t.extractall(tmp_path)
        path = str(tmp_path / 'original.mindrecord0')
    else:
        path = write(tmp_path / 'ours.mindrecord', shards=2) + '0'
    rows = list(ds.MindDataset(path, shuffle=False).create_dict_iterator(num_epochs=1, output_numpy=True))
    assert len(rows) == 7 and sorted(rows[0]) == sorted(SCHEMA)
    for i, row in enumerate(rows):
        want = record(i)
        assert row['data'].dtype.kind == 'S' and row['data'].shape == (1,)
        assert row['data'].tobytes() == (want.pop('data') or b'\0')
        assert row['id'].dtype == np.int32 and row['name'].item() == want.pop('name')
        for k, v in want.items():
            assert np.array_equal(row[k], v), k
    with_reader = list(FileReader(path).get_next())
    for i, row in enumerate(with_reader):
        same(row, record(i))


def test_writer_pages_append_and_index(tmp_path):
    schema = {'label': {'type': 'int64'}, 'data': {'type': 'bytes'}}
    path = write(tmp_path / 'größe.mindrecord', 60, 1, schema, lambda i: {'label': i % 3, 'data': bytes([i]) * 3000})
    w = FileWriter.open_for_append(path)
    w.write_raw_data([{'label': 60 + i, 'data': b'z'} for i in range(3)])
    w.commit()
    d = ds.MindDataset(path, ['data', 'label'], shuffle=False)
    assert d.get_col_names() == ['data', 'label'] and d.get_dataset_size() == 63
    assert column(d, 1) == [i % 3 for i in range(60)] + [60, 61, 62]
    assert len(set(column(ds.MindDataset(path, ['data'], shuffle=False)))) == 61
    assert sorted(column(ds.MindDataset(path, ['label']))) == sorted(column(d, 1)) != column(ds.MindDataset(path, ['label']))
    page = MindPage(path)
    page.category_field = 'label'
    assert page.candidate_fields == ['label']
    assert [r['data'][0] for r in page.read_at_page_by_name('1', 1, 2)] == [7, 10]
    assert sorted(os.listdir(tmp_path)) == ['größe.mindrecord', 'größe.mindrecord.db']


def test_minddataset_shards_and_padding(tmp_path):
    path = write(tmp_path / 'a.mindrecord', 5)
    sample = {'id': np.array(-9, np.int32), 'name': 'pad'}
    parts = [column(ds.MindDataset(path, ['id', 'name'], shuffle=False, num_shards=2, shard_id=k, padded_sample=sample,
                                   num_padded=1)) for k in range(2)]
    assert sorted(sum(parts, [])) == [-9, -2, -1, 0, 1, 2] and len(parts[0]) == len(parts[1]) == 3
    assert [column(ds.MindDataset(path, ['id'], shuffle=False, num_shards=2, shard_id=k)) for k in range(2)] == [
        column(ds.MindDataset(path, ['id'], shuffle=False))[:][k::2] + [-2] * k for k in range(2)]
    uneven = ds.MindDataset(path, ['id', 'name'], num_shards=4, shard_id=0, padded_sample=sample, num_padded=1)
    with pytest.raises(RuntimeError, match='can not be divisible by the value'):
        uneven.get_dataset_size()
    picked = ds.MindDataset(path, ['id'], sampler=ds.SubsetSampler([3, 1]))
    assert column(picked) == [1, -1]
    for kw, text in (({'num_padded': 1}, 'padded_sample is not'), ({'columns_list': ['nope']}, 'nope'),
                     ({'num_shards': 2, 'shard_id': 2}, 'shard_id'), ({'sampler': ds.RandomSampler(), 'shuffle': True}, 'same')):
        with pytest.raises((RuntimeError, ValueError), match=text):
            ds.MindDataset(path, **kw)


def test_save_and_read_again(tmp_path):
    source = {'s': ['a', 'ü'], 'i': np.arange(2), 'f': np.ones((2, 3, 2), np.float32), 'b': np.array([b'xy', b'z'])}
    ds.NumpySlicesDataset(source, shuffle=False).save(str(tmp_path / 'saved.mindrecord'))
    rows = list(ds.MindDataset(str(tmp_path / 'saved.mindrecord'), shuffle=False).create_dict_iterator(1, True))
    assert [r['s'].item() for r in rows] == source['s'] and [r['i'].item() for r in rows] == [0, 1]
    assert rows[1]['f'].shape == (3, 2) and rows[0]['b'][0] == b'xy'


def test_failed_append_to_encrypted_files_changes_nothing(tmp_path, monkeypatch):
    path, names = str(tmp_path / 'a.mindrecord'), ('a.mindrecord', 'a.mindrecord.db')
    try:
        mindrecord.set_enc_key('0123456789abcdef')
        write(path, 3)
        before = [(tmp_path / n).read_bytes() for n in names]
        w = FileWriter.open_for_append(path)
        w.write_raw_data([record(5)])
        from mindspore.mindrecord import _encrypted
        seal, calls = _encrypted._content, []

        def full(run, *args):
            calls.append(run)
            if len(calls) > 1:
                raise OSError('no space is left')
            return seal(run, *args)
        monkeypatch.setattr(_encrypted, '_content', full)
        with pytest.raises(RuntimeError, match='no space is left'):
            w.commit()
        assert [(tmp_path / n).read_bytes() for n in names] == before and sorted(os.listdir(tmp_path)) == sorted(names)
    finally:
        mindrecord.set_enc_key(None)


def test_encrypted(tmp_path):
    path = str(tmp_path / 'a.mindrecord')
    try:
        mindrecord.set_enc_key('0123456789abcdef')
        mindrecord.set_enc_mode('AES-GCM')
        write(path, 5, 2)
        content = (tmp_path / 'a.mindrecord0').read_bytes() + (tmp_path / 'a.mindrecord0.db').read_bytes()
        assert b'schema' not in content and b'SQLite' not in content
        read = [column(ds.MindDataset(path + '0', ['id'], shuffle=False)), [r['id'] for r in FileReader(path + '1').get_next()]]
        assert sorted(read[0]) == sorted(read[1]) == [-2, -1, 0, 1, 2] and len(os.listdir(tmp_path)) == 4
        w = FileWriter.open_for_append(path + '0')
        w.write_raw_data([record(5), record(6)])
        w.commit()
        assert sorted(column(ds.MindDataset(path + '0', ['id'], shuffle=False))) == [-2, -1, 0, 1, 2, 3, 4]
        content = (tmp_path / 'a.mindrecord0').read_bytes() + (tmp_path / 'a.mindrecord0.db').read_bytes()
        assert b'schema' not in content and b'SQLite' not in content and len(os.listdir(tmp_path)) == 4
        mindrecord.set_dec_mode(None)
        with pytest.raises(RuntimeError, match='is encrypted'):
            ds.MindDataset(path + '0')
        mindrecord.set_dec_mode()
        mindrecord.set_enc_key(None)
        with pytest.raises(RuntimeError, match='is encrypted'):
            ds.MindDataset(path + '0')
        mindrecord.set_enc_key('1' * 16)
        with pytest.raises(RuntimeError, match='Failed to decrypt'):
            ds.MindDataset(path + '0')
        for call, text in ((lambda: mindrecord.set_enc_key(b'0' * 16), 'not str'), (lambda: mindrecord.set_enc_key('0' * 5), 'length'),
                           (lambda: mindrecord.set_enc_mode('AES-CBC'), 'enc_mode is invalid'),
                           (lambda: mindrecord.set_dec_mode(3), 'dec_mode is not str')):
            with pytest.raises(ValueError, match=text):
                call()
        mindrecord.set_enc_key(None)
        plain = write(tmp_path / 'plain')
        mindrecord.set_enc_key('1' * 16)
        with pytest.raises(RuntimeError, match='is not encrypted'):
            FileReader(plain)
    finally:
        mindrecord.set_enc_key(None)
        mindrecord.set_dec_mode()


def test_writer_refuses(tmp_path):
    path = write(tmp_path / 'a.mindrecord')
    with pytest.raises(RuntimeError, match='already exist'):
        FileWriter(path)
    for schema in ({'a b': {'type': 'int32'}}, {'a': {'type': 'int8'}}, {'a': {'type': 'bytes', 'shape': [1]}},
                   {'a': {'type': 'int32', 'shape': [-1, -1]}}, {}):
        with pytest.raises(RuntimeError, match='Schema format is error'):
            FileWriter(str(tmp_path / 'b')).add_schema(schema)
    w = FileWriter(str(tmp_path / 'b'))
    w.add_schema(SCHEMA)
    for change in ({'id': 'x'}, {'id': 1 << 31}, {'ids': np.zeros(3, np.int32)}, {'box': np.zeros(3, np.float32)}, {'data': 'x'}):
        with pytest.raises(RuntimeError, match='no valid data.*' + list(change)[0]):
            w.write_raw_data([{**record(1), **change}])
    del w
    assert sorted(os.listdir(tmp_path)) == ['a.mindrecord', 'a.mindrecord.db']
    for name, text in (('b/', 'end with'), ('a*', 'should not contains'), (' a', 'with space'), (3, 'not string')):
        with pytest.raises(mindrecord.ParamValueError, match=text):
            FileWriter(name)


@pytest.mark.parametrize('call, text', [
    (lambda w: w.write_raw_data([]), 'no valid data'), (lambda w: w.add_index(['q']), "'index_fields': q"),
    (lambda w: w.add_index(['ids']), 'primitive'), (lambda w: w.add_schema(SCHEMA), 'repeatedly'),
    (lambda w: [w.commit(), w.write_raw_data([record(0)])], 'flushed'),
    (lambda w: [w.write_raw_data([record(0)], p) for p in (True, False)], 'consistent')])
def test_writer_order(tmp_path, call, text):
    w = FileWriter(str(tmp_path / 'a'))
    w.add_schema(SCHEMA)
    w.write_raw_data([record(0)], text == 'consistent')
    with pytest.raises(RuntimeError, match=text):
        call(w)


def in_child(work):
    """Runs work in a forked process; the way it ended."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(work() or 0)
        except BaseException:
            os._exit(99)
    return os.waitpid(pid, 0)[1]


def test_a_full_disk_leaves_nothing(tmp_path):
    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        try:
            write(tmp_path / 'a.mindrecord', 60, 1, {'data': {'type': 'bytes'}}, lambda i: {'data': bytes(3000)})
        except RuntimeError as e:
            return 0 if 'a.mindrecord' in str(e) and 'Failed to write' in str(e) else 1
        return 2
    assert in_child(work) == 0
    assert os.listdir(tmp_path) == []


# ---- TFRecord ----

def varint(n):
    n &= (1 << 64) - 1
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(v):
    if isinstance(v[0], bytes):
        return field(1, b''.join(field(1, x) for x in v))
    if isinstance(v[0], float):
        return field(2, field(1, struct.pack(f'<{len(v)}f', *v)))
    return field(3, field(1, b''.join(map(varint, v))))


def tfrecord(path, rows, pack=lambda b: b):
    out = b''
    for row in rows:
        b = field(1, b''.join(field(1, field(1, k.encode()) + field(2, feature(v))) for k, v in row.items()))
        n = struct.pack('<Q', len(b))
        out += n + struct.pack('<I', crc32c(n)) + b + struct.pack('<I', crc32c(b))
    path.write_bytes(pack(out))
    return str(path)


def test_columns_of_tfrecord(tmp_path):
    path = tfrecord(tmp_path / 'm', [{'s': [b'a', b'bcd'], 'i': [1, -2, 3, 4], 'f': [1.5]}] * 2)
    row = next(ds.TFRecordDataset(path).create_dict_iterator(1, True))
    assert list(row) == ['f', 'i', 's'] and row['f'].dtype == np.float32 and row['i'].tolist() == [1, -2, 3, 4]
    assert row['s'].tobytes() == b'a  bcd' and row['s'].dtype == np.uint8
    schema = ds.Schema()
    schema.add_column('s', ms.string, [2])
    schema.add_column('i', ms.int32, [2, -1])
    row = next(ds.TFRecordDataset(path, schema).create_dict_iterator(1, True))
    assert row['s'].tolist() == ['a', 'bcd'] and row['i'].tolist() == [[1, -2], [3, 4]] and row['i'].dtype == np.int32
    schema.add_column('nope', 'int64')
    with pytest.raises(RuntimeError, match='nope is required'):
        column(ds.TFRecordDataset(path, schema))
    with pytest.raises(RuntimeError, match='column name: q'):
        ds.TFRecordDataset(path, columns_list=['q'])


def test_files_and_shards_of_tfrecord(tmp_path):
    files = [tfrecord(tmp_path / f'{k}', [{'i': [10 * k + j]} for j in range(n)]) for k, n in enumerate((5, 3, 4))]
    rows = [0, 1, 2, 3, 4, 10, 11, 12, 20, 21, 22, 23]

    def got(**kw):
        return column(ds.TFRecordDataset(files, **{'shuffle': False, 'num_parallel_workers': 1, **kw}))
    assert got() == rows and got(num_samples=4) == rows[:4]
    turns = [[0, 10, 1, 11, 2, 12, 3, 4, 20, 21, 22, 23], [0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 23, 4]]
    assert [got(num_parallel_workers=n) for n in (2, 3)] == turns and got(num_parallel_workers=None) == turns[1]
    assert got(num_parallel_workers=2, num_shards=2, shard_id=0, shard_equal_rows=True) == [0, 10, 1, 2, 3, 4]
    assert sorted(got(shuffle=True)) == rows != got(shuffle=True)
    assert got(num_shards=2, shard_id=0) == rows[:5] + rows[8:]
    assert [got(num_shards=5, shard_id=k, shard_equal_rows=True) for k in (1, 4)] == [[3, 4, 10], [0, 1, 2]]
    infile = got(shuffle=ds.Shuffle.INFILE)
    assert sorted(infile[:5]) == rows[:5] and infile != rows
    for kind, pack in (('GZIP', gzip.compress), ('ZLIB', zlib.compress)):
        packed = tfrecord(tmp_path / kind, [{'i': [j]} for j in range(3)], pack)
        assert column(ds.TFRecordDataset(packed, shuffle=False, compression_type=kind)) == [0, 1, 2]
        (tmp_path / 'cut').write_bytes((tmp_path / kind).read_bytes()[:-9])
        for name, how in ((packed, None), (str(tmp_path / 'cut'), kind), (files[0], kind)):
            with pytest.raises(RuntimeError, match='Invalid file.*' + os.path.basename(name)):
                ds.TFRecordDataset(name, compression_type=how)


def test_lines_of_text(tmp_path):
    (tmp_path / 'a.txt').write_bytes('eins\r\n\nzwei ü\n'.encode())
    (tmp_path / 'b.txt').write_bytes(b'x' * 200000 + b'\nlast')
    d = ds.TextFileDataset(str(tmp_path / '*.txt'), shuffle=False)
    rows = column(d)
    assert d.get_dataset_size() == 4 and rows == ['eins', 'x' * 200000, 'zwei ü', 'last']
    assert column(ds.TextFileDataset(str(tmp_path / '*.txt'), shuffle=False, num_shards=2, shard_id=1)) == rows[1::2]
    assert sorted(column(ds.TextFileDataset(str(tmp_path / '*.txt')))) == sorted(rows)


# ---- damaged files ----

def damaged(data, rng):
    b = bytearray(data)
    if rng.random() < 0.3:
        return bytes(b[:rng.randrange(len(b))])
    for _ in range(rng.randrange(1, 9)):
        b[rng.randrange(len(b))] = rng.randrange(256)
    return bytes(b)


@pytest.mark.parametrize('kind', ['mindrecord', 'index', 'tfrecord'])
def test_damaged_files_raise(tmp_path, kind):
    path = str(tmp_path / 'f')
    if kind == 'tfrecord':
        tfrecord(tmp_path / 'f', [{'s': [b'a', b'bcd'], 'i': [1, -2], 'f': [1.5, 2.5]}] * 5)
    else:
        write(path)
    target = path + '.db' if kind == 'index' else path
    with open(target, 'rb') as f:
        data = f.read()
    if kind == 'mindrecord':  # damage where there is content
        spots = [i for i, x in enumerate(data) if x]
    loop = int(os.environ.get('FUZZ', 150))

    def work():
        rng = random.Random(1)
        for _ in range(loop):
            b = damaged(data, rng)
            if kind == 'mindrecord' and len(b) == len(data):
                b = bytearray(data)
                for _ in range(rng.randrange(1, 9)):
                    b[rng.choice(spots)] = rng.randrange(256)
            with open(target, 'wb') as f:
                f.write(b)
            try:
                d = ds.TFRecordDataset(path) if kind == 'tfrecord' else ds.MindDataset(path)
                list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))
            except (RuntimeError, ValueError, TypeError):
                pass
    assert in_child(work) == 0


def test_converters(tmp_path):
    (tmp_path / 'a.csv').write_text('n,x,s\n1,0.5,a\n2,1,b\n')
    assert mindrecord.CsvToMR(str(tmp_path / 'a.csv'), str(tmp_path / 'csv'), ['s', 'n']).transform() == mindrecord.SUCCESS
    assert [r for r in FileReader(str(tmp_path / 'csv')).get_next()] == [{'n': 1, 's': 'a'}, {'n': 2, 's': 'b'}]
    for part, n in (('train', 2), ('t10k', 1)):
        for kind, head, size in (('images-idx3', 16, 784), ('labels-idx1', 8, 1)):
            with gzip.open(tmp_path / f'{part}-{kind}-ubyte.gz', 'wb') as f:
                f.write(bytes(head) + bytes(range(n)) * size)
    mindrecord.MnistToMR(str(tmp_path), str(tmp_path / 'm')).transform()
    rows = list(FileReader(str(tmp_path / 'm_train.mindrecord')).get_next())
    assert [r['label'] for r in rows] == [0, 1] and rows[0]['data'][:2] == b'\xff\xd8'
    for make in (lambda: mindrecord.ImageNetToMR(str(tmp_path / 'a.csv'), str(tmp_path), 'x', None),
                 lambda: mindrecord.CsvToMR(str(tmp_path / 'a.csv'), 'x', 'n'), lambda: mindrecord.MnistToMR('/no', 'x'),
                 lambda: mindrecord.Cifar10ToMR(str(tmp_path), 'a:b'),
                 lambda: mindrecord.Cifar10ToMR(str(tmp_path), str(tmp_path / 'c')).transform('label')):
        with pytest.raises(ValueError):
            make()
