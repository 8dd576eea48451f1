"""Reading MindRecord and TFRecord files from end to end. peer_records.py runs the same code on the original. As a script:
prints one JSON object, name -> seconds per epoch; each process writes its files first, with the same rows."""
import json
import os
import struct
import sys
import tempfile
import time

import numpy as np

import mindspore.dataset as ds
from mindspore.mindrecord import FileWriter

ROWS = {'small': (20000, 64), 'image': (2000, 100000)}  # rows, bytes of the large field


def rows(kind):
    n, size = ROWS[kind]
    noise = np.random.default_rng(0).integers(0, 256, size + n, dtype=np.uint8)
    return ((noise[k:k + size].tobytes(), k, noise[k:k + 16].astype(np.float32)) for k in range(n))


def write_mindrecord(path, kind):
    writer = FileWriter(path, 1, True)
    writer.add_schema({'data': {'type': 'bytes'}, 'label': {'type': 'int64'}, 'vector': {'type': 'float32', 'shape': [16]}})
    batch = []
    for data, label, vector in rows(kind):
        batch.append({'data': data, 'label': label, 'vector': vector})
        if len(batch) == 500:
            writer.write_raw_data(batch)
            batch = []
    writer.commit()


def crc_table():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = table >> 1 ^ np.where(table & 1, np.uint32(0x82f63b78), np.uint32(0))
    return table


TABLE = crc_table()


def masked_crc(same_length):
    """The masked CRC-32C of each of several byte strings, all at once."""
    data = np.frombuffer(b''.join(same_length), np.uint8).reshape(len(same_length), -1).T.copy()
    crc = np.full(len(same_length), 0xffffffff, np.uint32)
    for column in data:
        crc = crc >> 8 ^ TABLE[(crc ^ column) & 255]
    crc = ~crc
    return ((crc >> 15 | crc << 17) + np.uint32(0xa282ead8)).tolist()


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def example(data, label, vector):
    """The protocol buffer `Example` with a bytes, an int64 and a float feature."""
    lists = (('data', field(1, field(1, data))), ('label', field(3, field(1, varint(label)))),
             ('vector', field(2, field(1, vector.tobytes()))))
    return field(1, b''.join(field(1, field(1, name.encode()) + field(2, value)) for name, value in lists))


def write_tfrecord(path, kind):
    def flush(f, part):
        heads = [struct.pack('<Q', len(d)) for d in part]
        for head, crc, data, data_crc in zip(heads, masked_crc(heads), part, masked_crc(part)):
            f.write(head + struct.pack('<I', crc) + data + struct.pack('<I', data_crc))

    with open(path, 'wb') as f:
        part = []
        for row in rows(kind):
            data = example(*row)
            if part and (len(data) != len(part[0]) or len(part) == 500):
                flush(f, part)
                part = []
            part.append(data)
        flush(f, part)


def opened(form, path):
    if form == 'mindrecord':
        return ds.MindDataset(path, shuffle=False)
    return ds.TFRecordDataset(path, shuffle=False)


def main(names):
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            form, kind = name.split('_')
            path = os.path.join(folder, name)
            (write_mindrecord if form == 'mindrecord' else write_tfrecord)(path, kind)
            times = []
            for _ in range(4):
                start, n = time.perf_counter(), 0
                for _ in opened(form, path).create_tuple_iterator(num_epochs=1, output_numpy=True):
                    n += 1
                times.append(time.perf_counter() - start)
                if n != ROWS[kind][0]:
                    sys.exit(f'{name}: {n} rows instead of {ROWS[kind][0]}')
            result[name] = min(times)
    print(json.dumps(result))


if __name__ == '__main__':
    main(sys.argv[1:])
