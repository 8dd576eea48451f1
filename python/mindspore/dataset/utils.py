"""Helpers for sources: a text file by line."""
import os

from . import _check

__all__ = ['LineReader']


class LineReader:
    """The lines of a text file, numbered from 1, without reading the file into memory."""

    def __init__(self, filename):
        if not isinstance(filename, str):
            raise TypeError(f'The filename: {filename} is not string.')
        if not os.path.exists(filename):
            raise RuntimeError(f'The file {filename} does not exist or permission denied!')
        if not os.path.isfile(filename):
            raise RuntimeError(f'The path {filename} is not a regular file.')
        self.filename, self._starts = filename, []
        self._file, at = open(filename, 'rb'), 0
        for line in self._file:
            self._starts.append(at)
            at += len(line)

    def __len__(self):
        return len(self._starts)

    len = __len__

    def __getitem__(self, line):
        return self.readline(line)

    def readline(self, line):
        _check.integer('line', line, 1, len(self._starts))
        self._file.seek(self._starts[line - 1])
        return self._file.readline().decode('utf-8').rstrip('\r\n')

    def close(self):
        self._file.close()
