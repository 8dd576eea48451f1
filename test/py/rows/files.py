"""What is written to files and read again, and the profiler: the rows `_format` and `_profile`."""
import json
import pathlib
import struct
import tempfile

import numpy as np

import mindspore as ms

from .table import F, I, c, row

FOLDER = pathlib.Path(tempfile.mkdtemp())
AT = {name: str(FOLDER / name) for name in ('plain.ckpt', 'sealed.ckpt', 'a.safetensors', 'log', 'trace.json')}
KEY = '00112233445566778899aabbccddeeff'
NAMES, VALUES = ['w', 'n'], [F, I]
run = ms._c.row


def tensors(values):
    return [ms.Tensor(v) for v in values]


def same(found, names, values):
    assert sorted(found) == sorted(names)
    for name, want in zip(names, values):
        got = found[name].asnumpy() if isinstance(found[name], ms.Tensor) else found[name]
        assert got.dtype.kind == want.dtype.kind and got.shape == want.shape and np.allclose(got, want)


def check_ckpt(path, names, values, mode=None, key=''):
    same(dict(zip(*run('_format.ckpt_load')(path, mode, key))), names, values)


def check_safetensors(path, names, values):
    """The published layout: length, header, data."""
    raw = pathlib.Path(path).read_bytes()
    n, = struct.unpack('<Q', raw[:8])
    header, data = json.loads(raw[8:8 + n]), raw[8 + n:]
    for name, want in zip(names, values):
        begin, end = header[name]['data_offsets']
        dtype = {'F32': '<f4', 'F64': '<f8', 'I64': '<i8'}[header[name]['dtype']]
        same({name: np.frombuffer(data[begin:end], dtype).reshape(header[name]['shape'])}, [name], [want])


run('_format.ckpt_save')(AT['plain.ckpt'], NAMES, tensors(VALUES))
run('_format.ckpt_save')(AT['sealed.ckpt'], NAMES, tensors(VALUES), 'AES-GCM', KEY)
run('_format.safetensors_save')(AT['a.safetensors'], NAMES, tensors(VALUES))


def check_loaded(*results, **kw):
    """Names, values, then the arguments of the call."""
    same(dict(zip(results[:2], results[2:4])), NAMES, VALUES)


row('_format.ckpt_save', None, c(AT['plain.ckpt'], NAMES, VALUES), c(path=AT['sealed.ckpt'], names=NAMES, values=VALUES, mode='AES-GCM', key=KEY),
    check=check_ckpt)
row('_format.ckpt_load', None, c(AT['plain.ckpt']), c(path=AT['sealed.ckpt'], mode='AES-GCM', key=KEY), check=check_loaded)
row('_format.safetensors_save', None, c(AT['a.safetensors'], NAMES, VALUES), c(path=AT['a.safetensors'], names=NAMES, values=VALUES), check=check_safetensors)
row('_format.safetensors_load', None, c(AT['a.safetensors']), c(path=AT['a.safetensors']), check=check_loaded)


def crc(data):
    """CRC-32C, masked as event logs want it."""
    v = 0xffffffff
    for b in data:
        v ^= b
        for _ in range(8):
            v = v >> 1 ^ (0x82f63b78 if v & 1 else 0)
    v ^= 0xffffffff
    return ((v >> 15 | v << 17) + 0xa282ead8) & 0xffffffff


def check_record(path, record):
    size, data = struct.pack('<Q', len(record)), record.tobytes()
    want = size + struct.pack('<I', crc(size)) + data + struct.pack('<I', crc(data))
    assert pathlib.Path(path).read_bytes().endswith(want)


BYTES = np.arange(40, dtype=np.uint8)
row('_format.record_append', None, c(AT['log'], BYTES), c(path=AT['log'], record=BYTES[:3]), check=check_record)


def check_seal(sealed, content, mode, key):
    assert content.tobytes() not in sealed.tobytes() and sealed.dtype == np.uint8
    assert (run('_format.unseal')(ms.Tensor(sealed), mode, key, 'content').asnumpy() == content).all()


SEALED = {mode: run('_format.seal')(ms.Tensor(BYTES), mode, KEY).asnumpy() for mode in ('AES-GCM', 'AES-CBC')}
row('_format.seal', None, c(BYTES, 'AES-GCM', KEY), c(content=BYTES, mode='AES-CBC', key=KEY), check=check_seal)
row('_format.unseal', lambda content, mode, key, what: BYTES, c(SEALED['AES-GCM'], 'AES-GCM', KEY, 'content'), c(
    content=SEALED['AES-CBC'], mode='AES-CBC', key=KEY, what='content'), grad=False, dynamic=True)


def check_profile(*args, **kw):
    """Whatever was the state: an addition between start and stop is counted, one after it not; the trace has it and the range."""
    run('_profile.clear')()
    run('_profile.start')(True)
    x = ms.Tensor(VALUES[0])
    (x + x).asnumpy()
    run('_profile.range')('a range', 10, 30)
    run('_profile.stop')()
    (x + x).asnumpy()
    counted = [r for r in run('_profile.table')() if r[0] == 'add']
    assert len(counted) == 1 and counted[0][2] == 1 and counted[0][4] == 3 * x.nbytes
    run('_profile.save')(AT['trace.json'])
    events = {e['name'] for e in json.loads(pathlib.Path(AT['trace.json']).read_text())['traceEvents'] if 'name' in e}
    assert {'add', 'a range'} <= events
    run('_profile.clear')()
    assert not run('_profile.table')()


for name, *cases in (('start', c(True), c(shapes=False)), ('stop', c()), ('clear', c()), ('table', c()), ('range', c('r', 1, 2), c(name='r', start=1, stop=2)),
                     ('save', c(AT['trace.json']), c(path=AT['trace.json']))):
    row(f'_profile.{name}', None, *cases, check=check_profile)
