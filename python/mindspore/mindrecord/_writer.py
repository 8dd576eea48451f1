"""Writing MindRecord files. New files grow under a temporary name and get theirs at commit, the index first; until then
nothing that looks whole exists. Appending writes behind what the header tells; header and index change at commit."""
import json
import os
import struct

import numpy as np

from . import _encrypted
from ._errors import (MRMAddSchemaError, MRMBuildSchemaError, MRMDefineIndexError, MRMGetMetaError, MRMValidateDataError,
                      ParamTypeError, ParamValueError)
from ._format import (HEADER, LIMITS, PAGE, SCALARS, TYPES, Header, is_blob, pack_blob, pack_raw, sqlite, valid_name)

SUCCESS = 0
_NO_DATA = "There is no valid data which can be written by 'write_raw_data' to mindrecord file."
_BAD = '\\/:*?"<>|`&;\''


def check_path(path):
    """The name of a file to write, which is fit for every file system."""
    if not isinstance(path, str):
        raise ParamValueError(f'Invalid parameter value. File path: {path} is not string.')
    if not path:
        raise ParamValueError('Invalid parameter value. File path is empty.')
    if path.endswith('/'):
        raise ParamValueError("Invalid parameter value. File path can not end with '/'")
    name = path.rsplit('/', 1)[-1]
    if any(c in _BAD for c in name):
        raise ParamValueError(f'Invalid parameter value. File name should not contains {_BAD}')
    if name != name.strip():
        raise ParamValueError('Invalid parameter value. File name should not start/end with space.')
    return path


class _Shard:
    """One file: an open blob page and an open raw page; a group of rows lies in one of each."""

    def __init__(self, path, temporary, sealed=None):
        self.path, self.temporary = path, temporary
        self.sealed = sealed  # the encrypted file of which `path` is a plain copy
        self.pages, self.index, self.n = [], [], 0
        self.blob = self.raw = None
        self.f = None

    def write(self, at, data):
        self.f.seek(at)
        self.f.write(data)


class FileWriter:
    """Writes rows, dicts of the fields of a schema, to one MindRecord file or to `shard_num` of them."""

    def __init__(self, file_name, shard_num=1, overwrite=False):
        check_path(file_name)
        if shard_num is None:
            raise ParamTypeError('Parameter shard_num is None.')
        if not isinstance(shard_num, int) or isinstance(shard_num, bool):
            raise ParamTypeError("Parameter shard_num's type is not int.")
        if not 1 <= shard_num <= 1000:
            raise ParamValueError(f"Invalid parameter value. Parameter shard_num's value: {shard_num} should between 1 and 1000.")
        if not isinstance(overwrite, bool):
            raise ParamTypeError("Parameter overwrite's type is not bool.")
        digits = len(str(shard_num - 1))
        names = [file_name] if shard_num == 1 else [f'{file_name}{k:0{digits}d}' for k in range(shard_num)]
        folder = os.path.dirname(os.path.abspath(file_name))
        if not os.path.isdir(folder):
            raise RuntimeError(f'Invalid path, the folder {folder!r} of {file_name!r} does not exist.')
        if not overwrite:
            old = [n for n in names if os.path.exists(n) or os.path.exists(n + '.db')]
            if old:
                raise RuntimeError(f'Invalid file, mindrecord files already exist. Please check file path: {old[0]}\n'
                                   'If you do not want to keep the files, set the `overwrite` parameter to True and try again.')
        self._shards = [_Shard(n, f'{n}.part{os.getpid()}') for n in names]
        self._schema = self._desc = self._index = None
        self._header_size, self._page_size = HEADER, PAGE
        self._append = self._committed = False
        self._parallel = None

    @classmethod
    def open_for_append(cls, file_name):
        """Rows are added to the files that were written together with file_name."""
        first = Header(check_path(file_name))
        folder = os.path.dirname(file_name)
        w = cls.__new__(cls)
        w._shards, w._append, w._committed, w._parallel = [], True, False, None
        w._schema, w._desc, w._index = first.schema, first.desc, first.index_fields
        w._header_size, w._page_size = first.header_size, first.page_size
        for name in first.shards:
            path = os.path.join(folder, os.path.basename(name))
            h = Header(path)
            s = _Shard(h.path, None, path if h.path != path else None)
            s.pages = h.pages
            blobs = [p for p in h.pages if p['page_type'] == 'BLOB_DATA']
            raws = [p for p in h.pages if p['page_type'] == 'RAW_DATA']
            s.blob, s.raw, s.n = blobs[-1] if blobs else None, raws[-1] if raws else None, \
                blobs[-1]['end_row_id'] if blobs else 0
            w._shards.append(s)
        return w

    # -- description --

    def add_schema(self, content, desc=None):
        """content: {field: {'type': ..., 'shape': [...]}}; a shape makes it an array of numbers."""
        if not isinstance(content, dict) or not content:
            raise MRMBuildSchemaError('Schema format is error: the content should be a dict that is not empty.')
        for name, field in content.items():
            if not isinstance(name, str) or not valid_name(name):
                raise MRMBuildSchemaError(f"Schema format is error: field '{name}' should be composed of '0-9' or 'a-z' or 'A-Z' or '_'.")
            if not isinstance(field, dict) or field.get('type') not in TYPES:
                raise MRMBuildSchemaError(f"Schema format is error: field '{name}' contain illegal attribute 'type': {field!r}; it must be one of "
                                     f'{list(TYPES)}.')
            if set(field) - {'type', 'shape'}:
                raise MRMBuildSchemaError(f"Schema format is error: field '{name}' contain illegal attributes {sorted(set(field) - {'type', 'shape'})}.")
            if 'shape' in field:
                shape = field['shape']
                if field['type'] in ('string', 'bytes'):
                    raise MRMBuildSchemaError(f"Schema format is error: field '{name}' contain illegal attribute: a shape is for numbers only.")
                if not isinstance(shape, list) or not shape or not all(isinstance(n, int) for n in shape) or \
                        sum(n < 0 for n in shape) > 1:
                    raise MRMBuildSchemaError(f"Schema format is error: field '{name}' contain illegal attribute 'shape': {shape!r}; it must be a list "
                                         'of int, one of them at most -1.')
        if self._schema is not None:
            raise MRMAddSchemaError('Failed to add schema. The schema is added repeatedly.')
        if desc is not None and not isinstance(desc, str):
            raise MRMBuildSchemaError('Schema format is error: the description should be a str.')
        self._schema = {n: dict(sorted(content[n].items())) for n in sorted(content)}
        self._desc = desc or ''
        return 0

    def add_index(self, index_fields):
        """Fields, no arrays or bytes, that the index can be searched by; without a call, all of them."""
        if not isinstance(index_fields, list) or not index_fields:
            raise ParamTypeError("Invalid parameter type. 'index_fields' expect list type, of str and not empty.")
        if self._schema is None:
            raise MRMGetMetaError('Failed to get meta info: call add_schema before add_index.')
        for name in index_fields:
            if not isinstance(name, str):
                raise ParamTypeError("Invalid parameter type. 'index field' expect str type.")
            if name not in self._schema:
                raise MRMDefineIndexError(f"Invalid input, 'index_fields': {name} can not found in schema: {list(self._schema)}.")
            if is_blob(self._schema[name]):
                raise MRMDefineIndexError(f'Failed to define index field. Detail: Failed to set field {name} since it\'s not '
                                          'primitive type.')
        self._index = list(index_fields)
        return SUCCESS

    def set_header_size(self, header_size):
        self._header_size = _size('header_size', header_size, 16 << 10, 128 << 20)
        return SUCCESS

    def set_page_size(self, page_size):
        self._page_size = _size('page_size', page_size, 32 << 10, 256 << 20)
        return SUCCESS

    # -- rows --

    def write_raw_data(self, raw_data, parallel_writer=False):
        """Adds rows. parallel_writer is accepted: one thread writes."""
        if self._schema is None:
            raise RuntimeError('Schema is not set: call add_schema before writing.')
        if self._committed:
            raise RuntimeError('Not allowed to call `write_raw_data` on flushed MindRecord files. open_for_append adds rows to them.')
        if not isinstance(raw_data, list):
            raise ParamTypeError("Invalid parameter type. 'raw_data' expect list type.")
        if not all(isinstance(r, dict) for r in raw_data):
            raise ParamTypeError("Invalid parameter type. 'raw_data item' expect dict type.")
        if not isinstance(parallel_writer, bool):
            raise ParamTypeError('The parameter `parallel_writer` must be bool.')
        if self._parallel not in (None, parallel_writer):
            raise RuntimeError('The parameter `parallel_writer` must be consistent during use.')
        self._parallel = parallel_writer
        if not raw_data:
            raise RuntimeError(f'{_NO_DATA} raw_data is empty.')
        packed = []
        for k, row in enumerate(raw_data):
            try:
                packed.append(self._pack(row))
            except MRMValidateDataError as e:
                raise RuntimeError(f'{_NO_DATA} Row {k}: {e}') from e
        n = len(self._shards)
        try:
            self._open()
            begin = 0
            for k, s in enumerate(self._shards):
                end = begin + len(packed) // n + (k < len(packed) % n)
                for raw, blob, keys in packed[begin:end]:
                    self._put(s, raw, blob, keys)
                begin = end
        except OSError as e:
            self._drop()
            raise RuntimeError(f'Failed to write the mindrecord file {self._shards[0].path!r}: {e.strerror}.') from e
        return SUCCESS

    def _pack(self, row):
        scalars, blobs = [], []
        for name, field in self._schema.items():
            if name not in row:
                raise MRMValidateDataError(f"Field '{name}' of the schema is missing in a row; it has {sorted(row)}.")
            kind, v = field['type'], row[name]
            if kind == 'bytes':
                if not isinstance(v, (bytes, bytearray, np.bytes_)):
                    raise MRMValidateDataError(f"Field '{name}' should be bytes, but got {type(v)}.")
                blobs.append((kind, v))
            elif 'shape' in field:
                blobs.append((kind, self._array(name, field, v)))
            else:
                if not isinstance(v, SCALARS[kind]) or isinstance(v, bool):
                    raise MRMValidateDataError(f"Field '{name}' should be {kind}, but got {type(v)}.")
                v = v.item() if isinstance(v, np.generic) else v
                if kind in LIMITS and not -LIMITS[kind] <= v < LIMITS[kind]:
                    raise MRMValidateDataError(f"Field '{name}' is {v}, which {kind} cannot hold.")
                scalars.append((name, v))
        keys = dict(scalars)
        return pack_raw(scalars or [('id', 0)]), pack_blob(blobs), keys

    def _array(self, name, field, v):
        if not isinstance(v, np.ndarray) or v.dtype != np.dtype(field['type']):
            got = v.dtype if isinstance(v, np.ndarray) else type(v)
            raise MRMValidateDataError(f"Field '{name}' should be an array of {field['type']}, but got {got}.")
        known = int(np.prod([n for n in field['shape'] if n >= 0]))
        if (v.size % known if known else v.size) if min(field['shape']) < 0 else v.size != known:
            raise MRMValidateDataError(f"Field '{name}' of shape {v.shape} does not fit the shape {field['shape']} of the schema.")
        return v

    def _open(self):
        for s in self._shards:
            if s.f is None:
                s.f = open(s.path, 'r+b') if self._append else open(s.temporary, 'w+b')

    def _page(self, s, kind):
        page = {'end_row_id': 0, 'page_id': len(s.pages), 'page_size': 0, 'page_type': kind,
                'page_type_id': sum(p['page_type'] == kind for p in s.pages), 'row_group_ids': [],
                'shard_id': self._shards.index(s), 'start_row_id': 0}
        s.pages.append(page)
        return page

    def _put(self, s, raw, blob, keys):
        for data in (raw, blob):
            if len(data) > self._page_size:
                raise RuntimeError(f'Invalid data, a row has {len(data)} bytes, more than the page size {self._page_size}; '
                                   'set_page_size makes it larger.')
        full = s.raw is not None and s.raw['page_size'] + len(raw) > self._page_size
        if s.blob is None or s.blob['page_size'] + len(blob) > self._page_size or full:
            s.blob = self._page(s, 'BLOB_DATA')
            s.blob.update(start_row_id=s.n, end_row_id=s.n, row_group_ids=[{'id': s.blob['page_type_id'], 'offset': 0}])
            if s.raw is None or full:
                s.raw = self._page(s, 'RAW_DATA')
            s.raw['row_group_ids'].append({'id': s.blob['page_type_id'], 'offset': s.raw['page_size']})
        place = []
        for page, data in ((s.raw, raw), (s.blob, blob)):
            at = page['page_size']
            s.write(self._header_size + page['page_id'] * self._page_size + at, data)
            page['page_size'] = at + len(data)
            place.append((page['page_id'], at, at + len(data)))
        s.index.append((s.n, *place[0], s.blob['page_type_id'], *place[1], keys))
        s.n += 1
        s.blob['end_row_id'] = s.n

    # -- the end --

    def commit(self):
        """Makes the files whole: header, index, and their names."""
        if self._schema is None:
            raise RuntimeError('Schema is not set: call add_schema before commit.')
        if self._committed:
            return SUCCESS
        if self._index is None:
            self._index = [n for n, f in self._schema.items() if not is_blob(f)]
        try:
            self._open()
            for k, s in enumerate(self._shards):
                self._finish(k, s)
            for s in self._shards:
                s.f.close()
            _encrypted.seal(*[(s.path + end, s.sealed + end) for s in self._shards if s.sealed for end in ('.db', '')])
            if not self._append:
                if _encrypted.is_on():
                    _encrypted.seal(*[(s.temporary + end,) * 2 for s in self._shards for end in ('.db', '')])
                for s in self._shards:
                    os.replace(s.temporary + '.db', s.path + '.db')
                for s in self._shards:
                    os.replace(s.temporary, s.path)
        except (OSError, sqlite().Error) as e:
            self._drop()
            raise RuntimeError(f'Failed to write the mindrecord file {self._shards[0].path!r}: '
                               f'{getattr(e, "strerror", None) or e}.') from e
        self._committed = True
        return SUCCESS

    def _finish(self, k, s):
        blobs = [n for n, f in self._schema.items() if is_blob(f)]
        header = {'header_size': self._header_size,
                  'index_fields': [{'index_field': n, 'schema_id': 0} for n in self._index] or None,
                  'page': s.pages, 'page_size': self._page_size, 'compression_size': 0,
                  'schema': [{'blob_fields': blobs, 'desc': self._desc, 'schema': self._schema}],
                  'shard_addresses': [os.path.basename(x.path) for x in self._shards], 'shard_id': k,
                  'statistics': None, 'version': '3.0'}
        text = json.dumps(header, separators=(',', ':'), ensure_ascii=False).encode('utf-8')
        if len(text) + 8 > self._header_size:
            raise RuntimeError(f'Invalid data, the header has {len(text)} bytes, more than the header size '
                               f'{self._header_size}; set_header_size makes it larger.')
        s.f.flush()
        os.fsync(s.f.fileno())
        self._write_index(s)
        s.write(0, struct.pack('<Q', len(text)) + text)
        s.f.flush()
        os.fsync(s.f.fileno())

    def _write_index(self, s):
        kinds = {'string': 'TEXT', 'int32': 'INTEGER', 'int64': 'INTEGER', 'float32': 'REAL', 'float64': 'REAL'}
        path = (s.path if self._append else s.temporary) + '.db'
        if not self._append and os.path.exists(path):
            os.remove(path)
        db = sqlite().connect(path)
        try:
            if not self._append:
                columns = ''.join(f',INC_{k} INT, {n}_0 {kinds[self._schema[n]["type"]]}' for k, n in enumerate(self._index))
                keys = ''.join(f',INC_{k}' for k in range(len(self._index)))
                db.execute('CREATE TABLE INDEXES(ROW_ID INT NOT NULL, PAGE_ID_RAW INT NOT NULL, PAGE_OFFSET_RAW INT NOT NULL, '
                           'PAGE_OFFSET_RAW_END INT NOT NULL, ROW_GROUP_ID INT NOT NULL, PAGE_ID_BLOB INT NOT NULL, '
                           f'PAGE_OFFSET_BLOB INT NOT NULL, PAGE_OFFSET_BLOB_END INT NOT NULL{columns}, '
                           f'PRIMARY KEY(ROW_ID{keys}))')
                db.execute('CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)')
                db.execute('INSERT INTO SHARD_NAME VALUES(?)', (os.path.basename(s.path),))
            marks = ','.join('?' * (8 + 2 * len(self._index)))
            db.executemany(f'INSERT INTO INDEXES VALUES({marks})',
                           ((*row[:8], *(x for n in self._index for x in (0, row[8][n]))) for row in s.index))
            db.commit()
        finally:
            db.close()

    def _drop(self):
        """After a failure: removes what was written so far."""
        self._committed = True
        for s in self._shards:
            if s.f is not None:
                try:
                    s.f.close()
                except OSError:
                    pass
            for name in (s.temporary, f'{s.temporary}.db') if s.temporary else ():
                if os.path.exists(name):
                    os.remove(name)

    def __del__(self):
        if not self.__dict__.get('_committed', True) and not self._append:
            self._drop()


def _size(name, value, low, high):
    if not isinstance(value, int) or isinstance(value, bool):
        raise ParamTypeError(f'{name} should be an int, but got {type(value)}.')
    if not low <= value <= high or value & (value - 1):
        raise RuntimeError(f'Invalid parameter, {name} should be a power of two between {low} and {high} bytes, but got '
                           f'{value}.')
    return value
