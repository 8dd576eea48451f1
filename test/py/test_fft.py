"""The Fourier family against numpy (and PyTorch where numpy has no such form)."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

rng = np.random.default_rng(2)
NORMS = [None, 'ortho', 'forward']


def z(*shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def close(t, want):
    assert t.shape == want.shape
    np.testing.assert_allclose(t.asnumpy(), want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize('n', [1, 2, 3, 4, 6, 8, 15, 16, 31, 37, 60, 74, 101, 128, 1000])
def test_lengths(n):
    x = z(2, n)
    close(ops.fft(Tensor(x)), np.fft.fft(x))
    close(ops.ifft(Tensor(x)), np.fft.ifft(x))
    close(ops.fft(Tensor(x), dim=0), np.fft.fft(x, axis=0))


@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.parametrize('n', [None, 3, 8, 9])
def test_one_axis(n, norm):
    x = z(3, 6)
    for name in ('fft', 'ifft', 'irfft', 'hfft'):
        for axis in (0, -1):
            close(getattr(ops, name)(Tensor(x), n, axis, norm), getattr(np.fft, name)(x, n, axis, norm))
    for name in ('rfft', 'ihfft'):
        close(getattr(ops, name)(Tensor(x.real.copy()), n, -1, norm), getattr(np.fft, name)(x.real, n, -1, norm))


@pytest.mark.parametrize('norm', NORMS)
def test_several_axes(norm):
    x = z(2, 4, 5)
    for s, axes in ((None, (-2, -1)), ((3, 6), (0, 2)), ((4, 4), (1, 0))):
        for name in ('fft2', 'ifft2', 'fftn', 'ifftn', 'irfft2', 'irfftn'):
            close(getattr(ops, name)(Tensor(x), s, axes, norm), getattr(np.fft, name)(x, s, axes, norm))
        for name in ('rfft2', 'rfftn'):
            close(getattr(ops, name)(Tensor(x.real.copy()), s, axes, norm), getattr(np.fft, name)(x.real, s, axes, norm))
    close(ops.fftn(Tensor(x)), np.fft.fftn(x))
    torch = pytest.importorskip('torch')
    close(ops.hfftn(Tensor(x), norm=norm), torch.fft.hfftn(torch.tensor(x), norm=norm).numpy())


def test_hermitian_of_several_axes():
    x = z(4, 5)
    # by scipy's definition: hfftn = irfftn of the conjugate with the other norm
    close(ops.hfft2(Tensor(x)), np.fft.irfft2(x.conj(), norm='forward'))
    close(ops.ihfft2(Tensor(x.real.copy())), np.fft.rfft2(x.real, norm='forward').conj())


def test_order_and_frequencies():
    x = rng.standard_normal((4, 5))
    for axes in (None, 0, (0, 1)):
        close(ops.fftshift(Tensor(x), axes), np.fft.fftshift(x, axes))
        close(ops.ifftshift(Tensor(x), axes), np.fft.ifftshift(x, axes))
    for n in (1, 4, 5):
        close(ops.fftfreq(n, 0.5, ms.float64), np.fft.fftfreq(n, 0.5))
        close(ops.rfftfreq(n, 2.0, ms.float64), np.fft.rfftfreq(n, 2.0))


def test_gradient_and_types():
    x = Tensor(rng.standard_normal(7))
    f = lambda t: ops.square(ops.abs(ops.rfft(t))).sum()
    g = ms.grad(f)(x).asnumpy()
    for k in range(7):
        h = np.zeros(7)
        h[k] = 1e-6
        assert abs((f(x + Tensor(h)) - f(x - Tensor(h))).asnumpy() / 2e-6 - g[k]) < 1e-6
    assert ops.fft(Tensor([1, 2, 3])).dtype == ms.complex64
    assert ops.irfft(Tensor([1., 2, 3])).dtype == ms.float32
    with pytest.raises(ValueError, match='norm'):
        ops.fft(x, norm='x')
    with pytest.raises(TypeError, match='real'):
        ops.rfft(ops.fft(x))
