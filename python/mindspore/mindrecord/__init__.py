"""MindRecord files: writing, reading and making them of other formats. `mindspore.dataset.MindDataset` trains on them."""
from ._convert import (Cifar10ToMR, Cifar100ToMR, CsvToMR, ImageNetToMR, MnistToMR, TFRecordToMR)
from ._reader import FileReader, MindPage
from ._writer import FileWriter, MRMSchemaError, ParamTypeError, SUCCESS

FAILED = 1


def _no_encryption(what):
    raise NotImplementedError(f'{what}: encryption of MindRecord files is not supported.')


def set_enc_key(enc_key):
    """None, which is the default, means plain files."""
    if enc_key is not None:
        _no_encryption('set_enc_key')


def set_enc_mode(enc_mode='AES-GCM'):
    _no_encryption('set_enc_mode')


def set_dec_mode(dec_mode='AES-GCM'):
    if dec_mode is not None:
        _no_encryption('set_dec_mode')


__all__ = ['Cifar100ToMR', 'Cifar10ToMR', 'CsvToMR', 'FAILED', 'FileReader', 'FileWriter', 'ImageNetToMR', 'MindPage',
           'MnistToMR', 'SUCCESS', 'TFRecordToMR', 'set_dec_mode', 'set_enc_key', 'set_enc_mode']
