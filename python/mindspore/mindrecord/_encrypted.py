"""Encrypted MindRecord files. A file, and its index, is a run of pieces of up to 64 MiB, each a big-endian length and an encrypted
block as in checkpoints (src/format/seal.c), then four zero bytes and the mode followed by ENCRYPT. They are read from decrypted copies in
a folder that only the user can enter and that ends with the process."""
import atexit
import os
import shutil
import tempfile

import numpy as np

from mindspore import _c
from mindspore.common._rows import format as _format

_PIECE, _MODE = 1 << 26, 'AES-GCM'
_MARK = b'ENCRYPT'
_key, _decrypts, _copies, _folder = None, True, {}, None


def set_enc_key(enc_key):
    """The key (a str of 16, 24 or 32 characters) with which files are encrypted and decrypted from now on; None: plain files."""
    global _key
    if enc_key is not None and not isinstance(enc_key, str):
        raise ValueError('The input enc_key is not str.')
    if enc_key is not None and len(enc_key.encode()) not in (16, 24, 32):
        raise ValueError('The length of input enc_key is not 16, 24, 32.')
    _key = enc_key


def _check_mode(name, mode):
    if not isinstance(mode, str):
        raise ValueError(f'The input {name} is not str.')
    if mode != _MODE:
        raise ValueError(f"The input {name} is invalid: it must be '{_MODE}', but got {mode!r}.")


def set_enc_mode(enc_mode='AES-GCM'):
    """How files are encrypted: 'AES-GCM'."""
    _check_mode('enc_mode', enc_mode)


def set_dec_mode(dec_mode='AES-GCM'):
    """How files are decrypted: 'AES-GCM'; None: they are plain."""
    global _decrypts
    _decrypts = dec_mode is not None
    if dec_mode is not None:
        _check_mode('dec_mode', dec_mode)


def is_on():
    """Whether files are encrypted."""
    return _key is not None


def _content(run, content, *more):
    return run(_c.Tensor(np.frombuffer(content, np.uint8)), _MODE, _key.encode().hex(), *more).get_bytes()


def seal(*pairs):
    """Encrypts files into others, or in their places. All are written before the first takes its name."""
    try:
        for path, to in pairs:
            with open(path, 'rb') as f, open(to + '.sealed', 'wb') as out:
                while piece := f.read(_PIECE):
                    block = _content(_format.seal, piece)
                    out.write(len(block).to_bytes(4, 'big') + block)
                out.write(bytes(4) + _MODE.encode() + _MARK)
        for _, to in pairs:
            os.replace(to + '.sealed', to)
    except BaseException:
        for _, to in pairs:
            if os.path.exists(to + '.sealed'):
                os.remove(to + '.sealed')
        raise


def _unseal(path, to):
    end = len(_MODE) + len(_MARK) + 4
    with open(path, 'rb') as f, open(to, 'wb') as out:
        left = os.fstat(f.fileno()).st_size - end
        while left > 4:
            size = int.from_bytes(f.read(4), 'big')
            block = f.read(min(size, left - 4))
            left -= 4 + len(block)
            try:
                out.write(_content(_format.unseal, block, f'the mindrecord file {path}'))
            except ValueError as e:
                raise RuntimeError(f'Failed to decrypt data, please check if enc_key and enc_mode / dec_mode is valid. {e}') from e
    if left:
        raise RuntimeError(f'Invalid file, the encrypted mindrecord file {path} is damaged: {left} bytes are left over.')


def plain(path):
    """A file with the content of this one, which is itself unless it is encrypted; the index is beside it."""
    global _folder
    with open(path, 'rb') as f:
        f.seek(max(0, os.fstat(f.fileno()).st_size - len(_MARK)))
        if f.read() != _MARK:
            if _key is not None and _decrypts:
                raise RuntimeError("The mindrecord file is not encrypted. You can set 'mindspore.mindrecord.set_enc_key(None)' to "
                                   f'disable the decryption. Its path is {path}.')
            return path
        info = os.fstat(f.fileno())
    if _key is None or not _decrypts:
        raise RuntimeError("The mindrecord file is encrypted. You need to configure 'mindspore.mindrecord.set_enc_key(...)' and "
                           f"'mindspore.mindrecord.set_enc_mode(...)' for decryption. Its path is {path}.")
    known = os.path.realpath(path), info.st_size, info.st_mtime_ns, info.st_ino, _key
    if known not in _copies:
        if _folder is None:
            _folder = tempfile.mkdtemp(prefix='mindrecord')
            atexit.register(shutil.rmtree, _folder, True)
        copy = os.path.join(tempfile.mkdtemp(dir=_folder), os.path.basename(path))
        for suffix in ('', '.db'):
            if os.path.isfile(path + suffix):
                _unseal(path + suffix, copy + suffix)
        _copies[known] = copy
    return _copies[known]
