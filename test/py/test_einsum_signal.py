"""einsum by lists; errors of stft; statistics of parts of a batch; products with CSRTensors. Values are in rows/signal.py too."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import CSRTensor, Tensor, mint, ops

rng = np.random.default_rng(5)
A, B = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))


def close(got, want, tol=1e-6):
    np.testing.assert_allclose(got.asnumpy(), want, tol, tol)
    assert got.shape == np.shape(want)


def test_einsum_by_lists():
    a, b = Tensor(A), Tensor(B)
    close(mint.einsum(a, [0, 1], b, [1, 2], [0, 2]), A @ B)
    close(mint.einsum(a, [0, 51], b, [51, 2]), A @ B)
    close(mint.einsum(a, [1, 0]), A.T), close(mint.einsum(a, [..., 0], [0, ...]), A.T), close(ops.einsum('ij,jk', [a, b]), A @ B)
    close(ops.Einsum('ij,jk->ki')((a, b)), (A @ B).T)
    close(ms.vmap(lambda x: ops.einsum('ij,jk->ik', x, b))(Tensor(np.stack([A, -A]))), np.stack([A @ B, -A @ B]))
    x = A.copy()
    x[0, 1] = np.nan
    close(ops.einsum('ij,ij->j', Tensor(x), a), np.einsum('ij,ij->j', x, A))
    square = Tensor(np.array([[1, np.inf], [np.nan, 2]]))
    assert ops.einsum('ii->i', square).tolist() == [1, 2]
    assert ops.einsum('ij,jk', Tensor(A.astype(np.float16)), Tensor(B.astype(np.float32))).dtype is ms.float32


def test_einsum_list_longer_than_a_rank():
    one = Tensor(np.ones(1))
    with pytest.raises(ValueError, match="at most 8 numbers"):
        mint.einsum(one, [0] * 503, *[one, []] * 31)


@pytest.mark.parametrize('equation, n', [('ij,jk', 1), ('ij', 2), ('i', 1), ('ij->k', 1), ('ij->ii', 1), ('ij,ik', 2), ('i1', 1),
                                         ('ij->ij->i', 1), ('ijk', 1), ('ii', 1), ('ij-', 1), ('ij,', 1)])
def test_einsum_refuses(equation, n):
    with pytest.raises(ValueError, match='einsum'):
        ops.einsum(equation, *[Tensor(A), Tensor(B)][:n])


def test_einsum_list_errors():
    for args, kind in (((), TypeError), ((Tensor(A),), ValueError), (([77, 1],), ValueError), (([0],), ValueError)):
        with pytest.raises(kind):
            mint.einsum(Tensor(A), *args)
    with pytest.raises(TypeError):
        ops.einsum('ij', 3)


def test_stft_primitive():
    x, window = rng.normal(size=(2, 23)), rng.uniform(.5, 1, 6)
    for args in ((False, True, True), (True, False, False)):
        close(ops.STFT(8, 3, 6, *args)(Tensor(x), Tensor(window)),
              ops.stft(Tensor(x), 8, 3, 6, Tensor(window), False, 'REFLECT', *args).asnumpy())


def test_stft_of_complex_and_errors():
    x = rng.normal(size=12) + 1j * rng.normal(size=12)
    close(ops.stft(Tensor(x), 4, center=False, return_complex=True), np.stack([np.fft.fft(x[k:k + 4]) for k in range(9)], 1))
    for x, args in ((x, (4, 1, 4, None, True, 'REFLECT', False, True)), (x.real, (400,)), (x.real, (4, 0)), (x.real, (4, 1, 5)), (x.real, (0,)),
                    (x.real, (4, 1, 4, Tensor([1., 2.]))), (x.real.reshape(1, 1, 12), (4,)), (x.real, (4, 1, 4, None, True, 'edge'))):
        with pytest.raises(ValueError, match='stft'):
            ops.stft(Tensor(x), *args)


@pytest.mark.parametrize('dtype', [np.float32, np.float16])
def test_batch_norm_in_parts(dtype):
    x = rng.normal(size=(6, 3, 2)).astype(dtype)
    halves = [mint.batch_norm_stats(Tensor(h), 1e-3) for h in (x[:4], x[4:])]
    wide = x.astype(np.float64)
    mean, var = wide.mean((0, 2)), wide.var((0, 2))
    running_mean, running_var = Tensor(np.ones(3, np.float32)), Tensor(np.ones(3, np.float32))
    m, inv = mint.batch_norm_gather_stats_with_counts(
        Tensor(x), ops.stack([h[0] for h in halves]), ops.stack([h[1] for h in halves]), running_mean, running_var, 0.25, 1e-3,
        Tensor([8., 4.]))
    close(m, mean, 1e-5), close(inv, 1 / np.sqrt(var + 1e-3), 1e-5)
    close(running_mean, .75 + .25 * mean, 1e-5), close(running_var, .75 + .25 * var * 12 / 11, 1e-5)
    alone = mint.batch_norm_stats(Tensor(x), 1e-3)
    close(mint.batch_norm_gather_stats_with_counts(Tensor(x), alone[0].expand_dims(0), alone[1].expand_dims(0), eps=1e-3)[1], inv, 1e-5)
    w, b = rng.normal(size=(2, 3)).astype(np.float32)
    y = mint.batch_norm_elemt(Tensor(x), Tensor(w), Tensor(b), m, inv)
    want = (wide - mean[:, None]) / np.sqrt(var + 1e-3)[:, None] * w[:, None] + b[:, None]
    close(y, want, 1e-5 if dtype is np.float32 else 2e-3)
    assert y.dtype == Tensor(x).dtype
    close(mint.batch_norm_elemt(Tensor(x), Tensor(w), Tensor(b), eps=1e-3), y.asnumpy(), 1e-5)
    with pytest.raises(ValueError):
        mint.batch_norm_stats(Tensor([1.]), 1e-3)
    with pytest.raises(ValueError):
        mint.batch_norm_gather_stats_with_counts(Tensor(x), m, inv)


def test_gradient_of_normalisation_by_own_statistics():
    x = rng.normal(size=(4, 3))
    r = Tensor(rng.normal(size=(4, 3)))

    def in_parts(t):
        return (mint.batch_norm_elemt(t, None, None, *mint.batch_norm_stats(t, 1e-5)) * r).sum()

    def whole(t):
        return (mint.nn.functional.batch_norm(t, None, None, None, None, True, 0.1, 1e-5) * r).sum()
    close(ms.grad(in_parts)(Tensor(x)), ms.grad(whole)(Tensor(x)).asnumpy(), 1e-6)


def test_conv_tbc_and_gelu_refuse():
    with pytest.raises(ValueError):
        mint.npu_gelu(Tensor(A), 'x')
    with pytest.raises(ValueError):
        mint.conv_tbc(Tensor(A), Tensor(A), Tensor(A))


def test_csr_products():
    c = CSRTensor(Tensor([0, 1, 3], ms.int32), Tensor([0, 1, 3], ms.int32), Tensor([1., 2., 3.]), (2, 4))
    d = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    close(ops.csr_div(c, Tensor(d)), [1, 2 / 6, 3 / 8])
    close(ops.csr_mul(c, Tensor(d)).to_dense(), c.to_dense().asnumpy() * d)
    close(ops.csr_mul(c, Tensor([[2.], [3.]])).values, [2, 6, 9])
