"""The data pipeline: sources, operations on them, samplers, transforms and iterators.

The pipeline itself is C (see mindspore_data.h); this package checks arguments and names things as users know them.
"""
from . import config, samplers, transforms, vision
from ._files import (Cifar10Dataset, Cifar100Dataset, CSVDataset, ImageFolderDataset, ManifestDataset)
from .datasets import (BatchInfo, Dataset, FashionMnistDataset, GeneratorDataset, MnistDataset, NumpySlicesDataset,
                       Shuffle, zip)
from .samplers import (DistributedSampler, PKSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
                       SubsetSampler, WeightedRandomSampler)

__all__ = ['BatchInfo', 'CSVDataset', 'Cifar10Dataset', 'Cifar100Dataset', 'Dataset', 'DistributedSampler',
           'FashionMnistDataset', 'GeneratorDataset', 'ImageFolderDataset', 'ManifestDataset', 'MnistDataset',
           'NumpySlicesDataset', 'PKSampler', 'RandomSampler', 'Sampler', 'SequentialSampler', 'Shuffle',
           'SubsetRandomSampler', 'SubsetSampler', 'WeightedRandomSampler', 'config', 'transforms',
           'vision', 'zip']
