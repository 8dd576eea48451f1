"""MindRecord files: writing, reading and making them of other formats. `mindspore.dataset.MindDataset` trains on them."""
from ._convert import (Cifar10ToMR, Cifar100ToMR, CsvToMR, ImageNetToMR, MnistToMR, TFRecordToMR)
from ._encrypted import set_dec_mode, set_enc_key, set_enc_mode
from ._reader import FileReader, MindPage
from ._errors import *  # noqa: F401,F403
from ._writer import FileWriter, SUCCESS

FAILED = 1

__all__ = ['Cifar100ToMR', 'Cifar10ToMR', 'CsvToMR', 'FAILED', 'FileReader', 'FileWriter', 'ImageNetToMR', 'MindPage',
           'MnistToMR', 'SUCCESS', 'TFRecordToMR', 'set_dec_mode', 'set_enc_key', 'set_enc_mode']
