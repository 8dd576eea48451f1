"""Distributions: densities, moments, divergences and draws, over batches of parameters."""
from mindspore.nn.probability.distribution._base import Distribution
from mindspore.nn.probability.distribution.continuous import (Beta, Cauchy, Exponential, Gamma, HalfNormal, Laplace, Logistic, Normal,
                                                              StudentT, Uniform)
from mindspore.nn.probability.distribution.discrete import Bernoulli, Categorical, Geometric, Poisson
from mindspore.nn.probability.distribution.transformed import Gumbel, LogNormal, TransformedDistribution

__all__ = ['Distribution', 'TransformedDistribution', 'Bernoulli', 'Beta', 'Categorical', 'Cauchy', 'Exponential', 'Gamma', 'Geometric',
           'Gumbel', 'HalfNormal', 'Laplace', 'LogNormal', 'Logistic', 'Normal', 'Poisson', 'StudentT', 'Uniform']
