"""The data pipeline: sources, operations on them, samplers, transforms and iterators.

The pipeline itself is C (see mindspore_data.h); this package checks arguments and names things as users know them.
"""
from . import audio, config, debug, samplers, text, transforms, utils, vision
from . import _catalog, _corpora, _speech

transforms.vision = vision  # older scripts find one through the other
from ._catalog import *  # noqa: F401,F403
from ._corpora import *  # noqa: F401,F403
from ._speech import *  # noqa: F401,F403
from ._files import (Cifar10Dataset, Cifar100Dataset, CSVDataset, ImageFolderDataset, ManifestDataset)
from ._records import MindDataset, Schema, TextFileDataset, TFRecordDataset
from .datasets import (BatchInfo, Dataset, DatasetCache, FashionMnistDataset, GeneratorDataset, MappableDataset,
                       MnistDataset, NumpySlicesDataset, PaddedDataset, Shuffle, zip)
from .utils import LineReader
from .samplers import (DistributedSampler, PKSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
                       SubsetSampler, WeightedRandomSampler)
from ._serialize import compare, deserialize, serialize, show
from .callback import DSCallback, WaitedDSCallback
from . import engine  # all of the above under the places it has in the original

__all__ = ['BatchInfo', 'DSCallback', 'LineReader', 'WaitedDSCallback', 'compare', 'deserialize', 'serialize', 'show', 'CSVDataset', 'Cifar10Dataset', 'Cifar100Dataset', 'Dataset', 'DatasetCache', 'DistributedSampler',
           'FashionMnistDataset', 'GeneratorDataset', 'ImageFolderDataset', 'ManifestDataset',
           'MappableDataset', 'MindDataset', 'MnistDataset', 'Schema', 'TFRecordDataset', 'TextFileDataset',
           'NumpySlicesDataset', 'PKSampler', 'PaddedDataset', 'RandomSampler', 'Sampler', 'SequentialSampler', 'Shuffle',
           'SubsetRandomSampler', 'SubsetSampler', 'WeightedRandomSampler', 'audio', 'config', 'debug', 'text', 'transforms',
           'utils', 'vision', 'zip'] + _catalog.__all__ + _corpora.__all__ + _speech.__all__
