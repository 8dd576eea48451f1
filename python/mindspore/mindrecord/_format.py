"""The form of MindRecord files: a file has a header (u64 length, JSON), then pages of equal size; raw pages hold the scalar
fields of rows as msgpack, blob pages the arrays and bytes. Where a row lies is told by an index beside it, an SQLite file
FILE.db. Reading rows is C (src/data/mindrecord.c); headers, the index and writing are here."""
import json
import os
import re
import struct

import numpy as np

from ._encrypted import plain

TYPES = ('int32', 'int64', 'float32', 'float64', 'string', 'bytes')
HEADER, PAGE, _HEADER_LIMIT = 1 << 24, 1 << 25, 128 << 20
INDEX_COLUMNS = ('ROW_ID', 'PAGE_ID_RAW', 'PAGE_OFFSET_RAW', 'PAGE_OFFSET_RAW_END', 'ROW_GROUP_ID', 'PAGE_ID_BLOB',
                 'PAGE_OFFSET_BLOB', 'PAGE_OFFSET_BLOB_END')


def sqlite():
    try:
        import sqlite3
    except ImportError as e:
        raise RuntimeError("MindRecord files need Python's module sqlite3, which this Python was built without.") from e
    return sqlite3


class Header:
    """The checked content of a file's header."""

    def __init__(self, path):
        try:
            self.path = plain(path)  # the index is beside it
            with open(self.path, 'rb') as f:
                size, total = int.from_bytes(f.read(8), 'little'), os.fstat(f.fileno()).st_size
                if total < 8:
                    raise RuntimeError(f'Invalid file, the size of mindrecord file: {path} is smaller than the lower limit: {total} '
                                       'bytes. Please use FileWriter to create it.')
                if size > _HEADER_LIMIT:
                    raise RuntimeError('Invalid file, the size of mindrecord file header is larger than the upper limit. '
                                       f'{path} is no mindrecord file.')
                if not 0 < size <= total - 8:
                    raise ValueError('its header is cut')
                h = self.json = json.loads(f.read(size).decode('utf-8'))
            self.header_size, self.page_size = int(h['header_size']), int(h['page_size'])
            if self.header_size < 0 or not 0 < self.page_size < 1 << 40:
                raise ValueError('the sizes in its header are wrong')
            self.shards, self.shard_id = list(h['shard_addresses']), int(h['shard_id'])
            entry = h['schema'][0]
            self.desc, self.schema = str(entry['desc']), dict(sorted(entry['schema'].items()))
            self.blobs = list(entry['blob_fields'])
            self.index_fields = [str(f['index_field']) for f in h['index_fields'] or []]
            if not all(map(valid_name, self.index_fields)):
                raise ValueError('its list of indexed fields is wrong')
            self.pages = h['page']
            for name, field in self.schema.items():
                if field['type'] not in TYPES:
                    raise ValueError(f'its field {name} is of the unknown type {field["type"]}')
                shape = field.get('shape', [])
                if not isinstance(shape, list) or not all(type(n) is int and -1 <= n < 1 << 62 for n in shape):
                    raise ValueError(f'its field {name} has the shape {shape}')
            if not all(type(b) is str and b in self.schema for b in self.blobs) or not all(type(s) is str for s in self.shards):
                raise ValueError('its lists of fields or files are wrong')
        except OSError as e:
            raise RuntimeError(f'Invalid file, the mindrecord file {path} is not exists or cannot be opened: {e.strerror}. Please check '
                               'whether the file exists and can be read.') from e
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as e:
            raise RuntimeError(f'Invalid file, {path!r} is not a MindRecord file, or is corrupt: {e}') from e

    def fields(self):
        """As _c.ds_mindrecord takes them: scalars, then blobs in the order of their storage."""
        order = [n for n in self.schema if n not in self.blobs] + self.blobs
        return [(n, self.schema[n]['type'], self.schema[n].get('shape'), n in self.blobs) for n in order]


def is_blob(field):
    return field['type'] == 'bytes' or 'shape' in field


def read_index(header, file):
    """int64 [rows, 5]: file, raw begin, raw size, blob begin, blob size."""
    path = header.path + '.db'
    if not os.path.isfile(path):
        raise RuntimeError(f'Invalid file, the meta file: {path} is not exists. Please check whether {path} exists and do not rename '
                           'the mindrecord file and meta file.')
    try:
        db = sqlite().connect(f'file:{_quote(path)}?mode=ro', uri=True)
        try:
            name = db.execute('SELECT NAME FROM SHARD_NAME').fetchone()
            rows = db.execute(f'SELECT {", ".join(INDEX_COLUMNS)} FROM INDEXES ORDER BY ROW_ID').fetchall()
        finally:
            db.close()
        table = np.array(rows, np.int64).reshape(-1, len(INDEX_COLUMNS))
    except (sqlite().Error, ValueError, OverflowError) as e:
        raise RuntimeError(f'Invalid database file, path: {path}, Failed to execute the sql [ SELECT NAME from SHARD_NAME; ] while verifying '
                           f'meta file: {e}') from e
    if name is None or name[0] != os.path.basename(header.path):
        raise RuntimeError(f'Invalid file, mindrecord file: {header.path} and meta file: {path} can not match. Please do not rename the '
                           f'mindrecord file or meta file. The meta file was made for '
                           f'{name and name[0]}.')
    out = np.empty((len(table), 5), np.int64)
    out[:, 0] = file
    for k, page in ((1, 1), (3, 5)):
        out[:, k] = header.header_size + table[:, page] * header.page_size + table[:, page + 1]
        out[:, k + 1] = table[:, page + 2] - table[:, page + 1]
    return out


def _quote(path):
    from urllib.parse import quote
    return quote(path)


def open_all(files):
    """Headers and one index of the files, which must belong together."""
    headers = [Header(f) for f in files]
    for h in headers[1:]:
        if h.schema != headers[0].schema or h.blobs != headers[0].blobs:
            raise RuntimeError(f'Invalid data, the schema of {h.path!r} differs from that of {headers[0].path!r}.')
    return headers, np.concatenate([read_index(h, k) for k, h in enumerate(headers)])


def files_of(name):
    """All the files that were written together with this one."""
    header = Header(name)
    folder = os.path.dirname(name)
    files = [os.path.join(folder, os.path.basename(s)) for s in header.shards]
    for f in files:
        if not os.path.exists(f):
            raise RuntimeError(f'Invalid file, mindrecord file: {f}, which was written together with {name}, can not be found. Please '
                               'check whether the mindrecord file exists and do not rename the mindrecord file.')
    return files


# ---- packing rows ----

def _msgpack(v, out):
    if isinstance(v, str):
        b = v.encode('utf-8')
        n = len(b)
        out.append(bytes([0xa0 | n]) if n < 32 else struct.pack('>BB', 0xd9, n) if n < 256 else
                   struct.pack('>BH', 0xda, n) if n < 65536 else struct.pack('>BI', 0xdb, n))
        out.append(b)
    elif isinstance(v, float):
        as_float = np.float32(v) if abs(v) <= 3.4028234663852886e38 else None
        out.append(struct.pack('>Bf', 0xca, v) if as_float is not None and float(as_float) == v else
                   struct.pack('>Bd', 0xcb, v))
    elif v >= 0:
        out.append(bytes([v]) if v < 128 else struct.pack('>BB', 0xcc, v) if v < 256 else
                   struct.pack('>BH', 0xcd, v) if v < 65536 else struct.pack('>BI', 0xce, v) if v < 1 << 32 else
                   struct.pack('>BQ', 0xcf, v))
    else:
        out.append(struct.pack('>b', v) if v >= -32 else struct.pack('>Bb', 0xd0, v) if v >= -128 else
                   struct.pack('>Bh', 0xd1, v) if v >= -32768 else struct.pack('>Bi', 0xd2, v) if v >= -(1 << 31) else
                   struct.pack('>Bq', 0xd3, v))


def pack_raw(items):
    out = [bytes([0x80 | len(items)]) if len(items) < 16 else struct.pack('>BH', 0xde, len(items))]
    for name, v in items:
        _msgpack(name, out)
        _msgpack(v, out)
    body = b''.join(out)
    return struct.pack('<Q', len(body)) + body


def pack_ints(a):
    """u32 count, two bits of width for each value, the values in one, two, four or eight bytes."""
    a = np.ascontiguousarray(a, np.int64).ravel()
    width = np.zeros(len(a), np.uint8)
    for k, t in enumerate((np.int8, np.int16, np.int32)):
        info = np.iinfo(t)
        width[(a < info.min) | (a > info.max)] = k + 1
    bits = np.zeros((len(a) + 3) // 4 * 4, np.uint8)
    bits[:len(a)] = width
    bits = bits.reshape(-1, 4)
    flags = (bits[:, 0] << 6 | bits[:, 1] << 4 | bits[:, 2] << 2 | bits[:, 3]).astype(np.uint8)
    keep = np.arange(8) < (1 << width.astype(np.int64))[:, None]
    return struct.pack('>I', len(a)) + flags.tobytes() + a.view(np.uint8).reshape(-1, 8)[keep].tobytes()


def pack_blob(values):
    """values: (type, value) of each blob field."""
    parts = []
    for kind, v in values:
        if kind == 'bytes':
            parts.append(bytes(v))
        elif kind in ('int32', 'int64'):
            parts.append(pack_ints(v))
        else:
            parts.append(np.ascontiguousarray(v).tobytes())
    if not parts:
        body = bytes(4)
    elif len(parts) == 1:
        body = parts[0]
    else:
        body = b''.join(struct.pack('>Q', len(p)) + p for p in parts)
    return struct.pack('<Q', len(body)) + body


SCALARS = {'int32': (int, np.integer), 'int64': (int, np.integer), 'float32': (float, int, np.floating, np.integer),
           'float64': (float, int, np.floating, np.integer), 'string': (str, np.str_)}
LIMITS = {'int32': 1 << 31, 'int64': 1 << 63}


def valid_name(name):
    return bool(re.fullmatch(r'[0-9a-zA-Z_]+', name))
