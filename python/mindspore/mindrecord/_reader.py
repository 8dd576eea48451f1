"""Reading MindRecord files row by row, and by pages of one category."""
import os

import numpy as np

from mindspore import _c

from ._errors import MRMFetchDataError, ParamTypeError, ParamValueError
from ._format import Header, files_of, open_all, read_index, sqlite


def _consumers(n):
    if not isinstance(n, int) or isinstance(n, bool):
        raise ParamTypeError(f'Parameter num_consumer is {"None" if n is None else "not int"}.')
    if n < 1:
        raise ParamValueError(f'Invalid parameter value. num_consumer should be a positive int, but got {n!r}.')


def _page(page, num_row):
    for name, v, low in (('page', page, 0), ('num_row', num_row, 1)):
        if not isinstance(v, int) or isinstance(v, bool) or v < low:
            raise ParamValueError(f'Invalid parameter value. {name} should be an int of at least {low}, but got {v!r}.')


class FileReader:
    """Rows of a file, or of a list of them, in order, as dicts of Python values and arrays."""

    def __init__(self, file_name, num_consumer=4, columns=None, operator=None):
        if operator is not None:
            raise NotImplementedError('FileReader does not support operator.')
        _consumers(num_consumer)
        files = [file_name] if isinstance(file_name, str) else list(file_name)
        if isinstance(file_name, str):
            files = files_of(file_name)
        headers, index = open_all(files)
        self._header, self._len = headers[0], len(index)
        fields = self._header.fields()
        names = [f[0] for f in fields]
        if columns is not None:
            if not isinstance(columns, list) or not all(c in names for c in columns):
                raise RuntimeError(f'columns should be a list of fields of the schema {names}, but got {columns!r}.')
        self._columns = columns or names
        node = _c.ds_mindrecord([os.fsencode(h.path) for h in headers], fields, [names.index(c) for c in self._columns], index, 0,
                                [], None, 1)
        self._iterator = _c.ds_iter(node, 1)

    def get_next(self):
        """A generator of the rows."""
        while self._iterator is not None:
            row = _c.ds_next(self._iterator, len(self._columns), True)
            if row is None:
                return
            yield {n: self._value(n, v) for n, v in zip(self._columns, row)}

    def _value(self, name, v):
        field = self._header.schema[name]
        if field['type'] == 'bytes':
            return v.tobytes() if v.dtype.itemsize > 1 or v.tobytes() != b'\0' else b''
        return v if 'shape' in field else v.item()

    def len(self):
        return self._len

    def schema(self):
        return self._header.schema

    def close(self):
        if self._iterator is not None:
            _c.ds_close(self._iterator)
            self._iterator = None


class MindPage:
    """Rows of one value of an indexed field, page by page."""

    def __init__(self, file_name, num_consumer=4):
        _consumers(num_consumer)
        self._headers = [Header(f) for f in (files_of(file_name) if isinstance(file_name, str) else file_name)]
        self._category = None

    @property
    def candidate_fields(self):
        return list(self._headers[0].index_fields)

    def get_category_fields(self):
        return self.candidate_fields

    @property
    def category_field(self):
        return self._category

    @category_field.setter
    def category_field(self, name):
        if name not in self.candidate_fields:
            raise RuntimeError(f'category_field should be one of {self.candidate_fields}, but got {name!r}.')
        self._category = name

    def _rows(self):
        """(value, file, row) in order of the value."""
        if self._category is None:
            raise RuntimeError('Set category_field first.')
        found = []
        for k, h in enumerate(self._headers):
            db = sqlite().connect(h.path + '.db')
            found += [(v, k, r) for v, r in db.execute(f'SELECT {self._category}_0, ROW_ID FROM INDEXES')]
            db.close()
        return sorted(found)

    def read_category_info(self):
        import json
        names, counts = np.unique([str(r[0]) for r in self._rows()], return_counts=True)
        order = list(dict.fromkeys(str(r[0]) for r in self._rows()))
        count = dict(zip(names.tolist(), counts.tolist()))
        return json.dumps({'key': self._category, 'categories': [{'id': k, 'name': n, 'count': count[n]}
                                                                 for k, n in enumerate(order)]})

    def read_at_page_by_name(self, category_name, page, num_row):
        """Rows [page * num_row, ...) of the category, as dicts."""
        _page(page, num_row)
        if not isinstance(category_name, str):
            raise ParamValueError(f'Invalid parameter value. category_name should be a str, but got {category_name!r}.')
        wanted = [r for r in self._rows() if str(r[0]) == category_name]
        if not wanted:
            raise MRMFetchDataError(f'Invalid data, category_name: {category_name} could not found.')
        wanted = wanted[page * num_row:(page + 1) * num_row]
        if not wanted:
            return []
        tables = [read_index(h, k) for k, h in enumerate(self._headers)]
        reader = FileReader.__new__(FileReader)
        reader._header = self._headers[0]
        fields = reader._header.fields()
        reader._columns = [f[0] for f in fields]
        index = np.stack([tables[k][r] for _, k, r in wanted])
        node = _c.ds_mindrecord([os.fsencode(h.path) for h in self._headers], fields, list(range(len(fields))), index, 0, [], None, 1)
        reader._iterator = _c.ds_iter(node, 1)
        return list(reader.get_next())

    def read_at_page_by_id(self, category_id, page, num_row):
        order = list(dict.fromkeys(str(r[0]) for r in self._rows()))
        if not isinstance(category_id, int) or isinstance(category_id, bool):
            raise ParamValueError(f'Invalid parameter value. category_id should be an int, but got {category_id!r}.')
        if not 0 <= category_id < len(order):
            raise MRMFetchDataError(f'Invalid data, category_id: {category_id} must be in the range [0, {len(order)}].')
        return self.read_at_page_by_name(order[category_id], page, num_row)
