"""nn.probability: densities, moments, divergences and draws beside scipy; bijectors and what is derived from hooks."""
import math

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint
from mindspore.nn.probability import bijector as B
from mindspore.nn.probability import distribution as D

stats = pytest.importorskip('scipy.stats')
ms_f = ms.float32

# class, parameters, the same for kl_loss, scipy's distribution of the parameters, values
CASES = [
    (D.Normal, (1., 2.), (.5, 1.5), lambda m, s: stats.norm(m, s), [.3, 2., -1.]),
    (D.HalfNormal, (1., 2.), None, lambda m, s: stats.halfnorm(m, s), [.3, 2., 5.]),
    (D.Laplace, (1., 2.), None, lambda m, s: stats.laplace(m, s), [.3, 2., -1.]),
    (D.Logistic, (1., 2.), None, lambda m, s: stats.logistic(m, s), [.3, 2., -1.]),
    (D.Cauchy, (1., 2.), (.5, 1.5), lambda m, s: stats.cauchy(m, s), [.3, 2., -1.]),
    (D.Gumbel, (1., 2.), (.5, 1.5), lambda m, s: stats.gumbel_r(m, s), [.3, 2., -1.]),
    (D.LogNormal, (.5, .6), (.3, .5), lambda m, s: stats.lognorm(s, scale=math.exp(m)), [.3, 2., 1.]),
    (D.Exponential, (.5,), (2.,), lambda r: stats.expon(scale=1 / r), [.3, 2., -1.]),
    (D.Uniform, (0., 2.), (-1., 3.), lambda a, b: stats.uniform(a, b - a), [.3, 2.5, -1.]),
    (D.Gamma, (2., 3.), (1.5, 2.5), lambda a, r: stats.gamma(a, scale=1 / r), [.3, 2., 1.]),
    (D.Beta, (2., 3.), (1.5, 2.5), lambda a, b: stats.beta(a, b), [.3, .2, .9]),
    (D.StudentT, (5., 1., 2.), None, lambda d, m, s: stats.t(d, m, s), [.3, 2., -1.]),
    (D.Bernoulli, (.3,), (.6,), lambda p: stats.bernoulli(p), [0, 1, 1]),
    (D.Geometric, (.3,), (.6,), lambda p: stats.geom(p, loc=-1), [0, 1, 5]),
    (D.Poisson, (2.5,), None, lambda r: stats.poisson(r), [0, 1, 5]),
    (D.Categorical, ([.2, .3, .5],), ([.4, .3, .3],), lambda p: stats.rv_discrete(values=(range(3), p)), [0, 1, 2]),
]


@pytest.mark.parametrize('cls, p, q, ref, values', CASES, ids=[c[0].__name__ for c in CASES])
def test_against_scipy(cls, p, q, ref, values):
    d, r, x = cls(*p), ref(*p), Tensor(values, ms_f)
    close = lambda a, b: np.testing.assert_allclose(a.asnumpy(), b, rtol=2e-4, atol=1e-6)
    mass = r.pdf if hasattr(r.dist if hasattr(r, 'dist') else r, 'pdf') and cls not in (D.Bernoulli, D.Geometric, D.Poisson, D.Categorical) \
        else r.pmf
    close(d.prob(x), mass(values))
    for ours, theirs in (('log_prob', lambda v: np.log(mass(v))), ('cdf', r.cdf), ('survival_function', r.sf), ('log_cdf', r.logcdf),
                         ('log_survival', r.logsf), ('mean', lambda: r.mean()), ('var', lambda: r.var()), ('sd', lambda: r.std()),
                         ('entropy', lambda: r.entropy())):
        args = (x,) if ours.endswith(('prob', 'cdf', 'survival', 'function')) else ()
        try:
            got = getattr(d, ours)(*args)
        except (NotImplementedError, ValueError):
            continue
        with np.errstate(divide='ignore'):
            want = theirs(*([values] if args else []))
        finite = np.isfinite(want)
        close(got[Tensor(finite)] if got.ndim and finite.ndim else got, np.asarray(want)[finite] if finite.ndim else want)
    ms.set_seed(3)
    draws = d.sample((20000,)).asnumpy()
    assert draws.shape == (20000,)
    tail = r.cdf(np.median(draws))
    assert abs(np.mean(draws <= np.median(draws)) - tail) < .02
    assert abs(np.mean(draws <= np.quantile(draws, .9)) - r.cdf(np.quantile(draws, .9))) < .02
    if q is not None:
        other = ref(*q)
        if cls in (D.Bernoulli, D.Geometric, D.Categorical):
            k = np.arange(0, 3 if cls is D.Categorical else 2 if cls is D.Bernoulli else 200)
            want = np.sum(r.pmf(k) * np.log(r.pmf(k) / other.pmf(k)))
        else:
            u = (np.arange(400000) + .5) / 400000
            v = r.ppf(u)
            want = np.mean(r.logpdf(v) - other.logpdf(v))
        args = [Tensor(v, ms_f) for v in q]
        np.testing.assert_allclose(d.kl_loss(cls.__name__, *args).asnumpy(), want, rtol=5e-3)
        np.testing.assert_allclose(d.cross_entropy(cls.__name__, *args).asnumpy(), d.entropy().asnumpy() + want, rtol=5e-3)
        with pytest.raises(ValueError):
            d.kl_loss('Other', *args)
        with pytest.raises(TypeError):
            d.kl_loss(cls.__name__)


def test_parameters_of_a_call():
    d = D.Normal(dtype=ms_f)
    x = Tensor([.3, 1.])
    want = D.Normal([0., 1.], [1., 2.]).log_prob(x).asnumpy()
    for got in (d.log_prob(x, Tensor([0., 1.]), Tensor([1., 2.])), d.log_prob(x, sd=[1., 2.], mean=[0., 1.]),
                ms.jit(lambda v: d.log_prob(v, [0., 1.], [1., 2.]))(x), d('log_prob', x, [0., 1.], [1., 2.])):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
    assert d.sample((5,), [0., 1.], [1., 2.]).shape == (5, 2) and D.Normal(0., [1., 2.]).batch_shape == (2,)
    with pytest.raises(TypeError):
        d.prob(x)
    for bad, kind in ((lambda: D.Normal(0., -1.), ValueError), (lambda: D.Normal('a', 1.), TypeError),
                      (lambda: D.Normal(0., 1., dtype=ms.int32), TypeError), (lambda: D.Bernoulli(1.5), ValueError),
                      (lambda: D.Categorical([.5, .7]), ValueError), (lambda: D.Uniform(2., 1.), ValueError),
                      (lambda: D.Normal(0., 1.).sample(2), TypeError), (lambda: D.Normal(0., 1.).prob(3), TypeError),
                      (lambda: D.Normal(0., 1.).mean(foo=1), TypeError)):
        with pytest.raises(kind):
            bad()
    a, b = D.Normal(0., 1., seed=4), D.Normal(0., 1., seed=4)
    assert a.sample((3,)).tolist() == b.sample((3,)).tolist() != a.sample((3,)).tolist()


def test_gradient_reaches_parameters():
    mean = ms.Parameter(Tensor(.5), name='mean')
    d = D.Normal(mean, 2.)
    g = ms.grad(lambda v: d.log_prob(v).sum(), None, [mean])(Tensor([1., 2.]))
    np.testing.assert_allclose(np.ravel(g[0].asnumpy()), [(.5 + 1.5) / 4], rtol=1e-6)


@pytest.mark.parametrize('b', [B.Exp(), B.GumbelCDF(1., 2.), B.PowerTransform(.5), B.PowerTransform(0.), B.ScalarAffine(-2., 3.),
                               B.Softplus([1., 2., 3.]), B.Invert(B.Exp()), B.Invert(B.ScalarAffine(2.))], ids=str)
def test_bijector(b):
    x = Tensor([.3, .7, .5])
    y = b.forward(x)
    np.testing.assert_allclose(b.inverse(y).asnumpy(), x.asnumpy(), rtol=1e-5)
    slope = ms.grad(lambda v: b.forward(v).sum())(x)
    np.testing.assert_allclose((b.forward_log_jacobian(x) + mint.zeros(3)).asnumpy(), np.log(abs(slope.asnumpy())), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose((b.inverse_log_jacobian(y) + b.forward_log_jacobian(x)).asnumpy(), 0, atol=1e-5)
    with pytest.raises(TypeError):
        b.forward(3)


def test_own_classes():
    class Cube(B.Bijector):
        def _forward(self, x):
            return x ** 3

        def _inverse(self, y):
            return mint.sign(y) * mint.abs(y) ** (1 / 3)

        def _forward_log_jacobian(self, x):
            return mint.log(3 * x * x)

    class Ramp(D.Distribution):
        def __init__(self):
            super().__init__(0, ms_f, 'Ramp', {})

        def _cdf(self, x):
            return x * x

        def _prob(self, x):
            return 2 * x

    x = Tensor([.3, .5])
    np.testing.assert_allclose(Cube().inverse_log_jacobian(x ** 3).asnumpy(), -np.log(3 * x.asnumpy() ** 2), rtol=1e-4)
    np.testing.assert_allclose(Ramp().log_survival(x).asnumpy(), np.log(1 - x.asnumpy() ** 2), rtol=1e-5)
    t = D.TransformedDistribution(Cube(), Ramp())
    np.testing.assert_allclose(t.cdf(x).asnumpy(), x.asnumpy() ** (2 / 3), rtol=1e-5)
    np.testing.assert_allclose(t.prob(x).asnumpy(), 2 / 3 * x.asnumpy() ** (-1 / 3), rtol=1e-4)
    assert isinstance(B.Exp()(D.Normal(0., 1.)), D.TransformedDistribution)
    with pytest.raises(NotImplementedError):
        Ramp().entropy()
