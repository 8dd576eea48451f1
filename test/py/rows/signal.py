"""Short-time Fourier transform, convolution over time-batch-channel, batch normalisation in parts."""
import math

import numpy as np

from .table import c, elementwise, f, row


def stft(x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='REFLECT', normalized=False, onesided=None,
         return_complex=None):
    n, hop = n_fft, hop_length or n_fft // 4
    window = np.ones(win_length or n) if window is None else window
    if center:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], pad_mode.lower())
    window = np.pad(window, ((n - len(window)) // 2, n - len(window) - (n - len(window)) // 2))
    frames = np.stack([x[..., k:k + n] * window for k in range(0, x.shape[-1] - n + 1, hop)], -1)
    y = np.fft.fft(frames, axis=-2)[..., :n if onesided is False else n // 2 + 1, :] / (np.sqrt(n) if normalized else 1)
    return y if return_complex else np.stack([y.real, y.imag], -1)


X, W = f(2, 23), f(6, lo=.5)
STFT = c(X, 8), c(X[0], 8, 3, 5, normalized=True), c(X, 8, window=W, win_length=6, center=False), c(X[0], 7, 2, onesided=False), c(
    X, 8, pad_mode='CONSTANT'), c(X, 8, hop_length=5, pad_mode='symmetric', return_complex=False)
row('ops.stft', stft, *STFT, tol=10)
row('ops.stft', stft, c(X, 8, return_complex=True), tol=10)


def conv_tbc(input, weight, bias, pad=0):
    x = np.pad(input, ((pad, pad), (0, 0), (0, 0)))
    n = x.shape[0] - len(weight) + 1
    return sum(x[k:k + n] @ weight[k] for k in range(len(weight))) + bias


row('mint.conv_tbc', conv_tbc, c(f(7, 2, 3), f(3, 3, 4), f(4)), c(f(5, 1, 2), f(2, 2, 3), f(3), pad=1), tol=10)


def npu_gelu(input, approximate='none'):
    if approximate == 'tanh':
        return input / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)))
    return input / 2 * (1 + elementwise(math.erf)(input / math.sqrt(2)))


row('mint.npu_gelu', npu_gelu, c(X), c(input=X, approximate='tanh'))


def stats(input, eps):
    axes = (0, *range(2, input.ndim))
    return input.mean(axes), 1 / np.sqrt(input.var(axes) + eps)


def beside(v, x):
    return v.reshape(-1, *[1] * (x.ndim - 2))


def elemt(input, weight=None, bias=None, mean=None, invstd=None, eps=1e-5):
    own = stats(input, eps)
    mean, invstd = own[0] if mean is None else mean, own[1] if invstd is None else invstd
    y = (input - beside(mean, input)) * beside(invstd, input)
    y = y if weight is None else y * beside(weight, input)
    return y if bias is None else y + beside(bias, input)


def gather(input, mean, invstd, running_mean=None, running_var=None, momentum=0.1, eps=1e-5, counts=None):
    n = np.ones(len(mean)) if counts is None else counts
    m = n @ mean / n.sum()
    var = n @ (1 / invstd**2 - eps + (mean - m)**2) / n.sum()
    return m, 1 / np.sqrt(var + eps)


B = f(6, 3, 2)
row('mint.batch_norm_stats', stats, c(B, 1e-3), c(input=f(5, 2), eps=0.1), tol=10)
row('mint.batch_norm_elemt', elemt, c(B), c(B, f(3), f(3), f(3), f(3, lo=.5)), c(input=B, weight=f(3), bias=f(3), mean=f(3)), c(
    B, invstd=f(3, lo=.5), eps=0.1), tol=10)
row('mint.batch_norm_gather_stats_with_counts', gather, c(B, f(2, 3), f(2, 3, lo=.5, hi=.9)), c(
    B, f(2, 3), f(2, 3, lo=.5, hi=.9), f(3), f(3, lo=.5), 0.25, 1e-3, np.array([8., 4.])), tol=10)
