"""Distributions and invertible maps between them."""
from mindspore.nn.probability import bijector, distribution

__all__ = ['bijector', 'distribution']
