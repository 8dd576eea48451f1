"""Products of matrices and vectors."""
import numpy as np

from .table import F, G, c, f, i, row

V, M, N = f(3), f(2, 3), f(3, 4)
B1, B2 = f(2, 3, 4), f(2, 4, 5)

row('ops.matmul mint.matmul', np.matmul, c(M, N), c(M, V), c(V, N), c(V, f(3)), c(B1, f(4, 5)), c(f(2, 1, 3, 4), f(5, 4, 2)),
    c(input=M, other=N), c(i(2, 3), i(3, 2)))
row('Tensor.matmul', np.matmul, c(M, N), c(M, tensor2=V), c(B1, B2))
row('Tensor.__matmul__', np.matmul, c(M, N), c(B1, B2))
row('Tensor.__rmatmul__', lambda x, y: np.matmul(y, x), c(N, M))
row('ops.mm mint.mm Tensor.mm', np.matmul, c(M, N), c(M, mat2=N))
row('ops.bmm', np.matmul, c(B1, B2), c(input_x=B1, mat2=B2))
row('mint.bmm Tensor.bmm', np.matmul, c(B1, B2), c(B1, mat2=B2))
row('ops.mv', np.matmul, c(M, V), c(mat=M, vec=V))
row('mint.mv Tensor.mv', np.matmul, c(M, V), c(M, vec=V))


def add(x, a, b, beta=1, alpha=1):
    return beta * x + alpha * np.matmul(a, b)


row('ops.addmm mint.addmm Tensor.addmm', add, c(f(2, 4), M, N), c(f(4), M, N, beta=0.5, alpha=2),
    c(f(2, 4), mat1=M, mat2=N, beta=2.5, alpha=-1))
row('ops.addmv mint.addmv Tensor.addmv', add, c(f(2), M, V), c(f(2), mat=M, vec=V, beta=0.5, alpha=2.5))
row('ops.baddbmm', add, c(f(2, 3, 5), B1, B2), c(f(5), B1, B2, 0.5, 2.5), c(f(2, 3, 5), batch1=B1, batch2=B2, beta=2, alpha=3))
row('mint.baddbmm ops.baddbmm_ext Tensor.baddbmm', add, c(f(2, 3, 5), B1, B2), c(f(2, 3, 5), batch1=B1, batch2=B2, beta=2, alpha=3))
row('ops.addbmm mint.addbmm Tensor.addbmm', lambda x, a, b, beta=1, alpha=1: beta * x + alpha * np.matmul(a, b).sum(0),
    c(f(3, 5), B1, B2), c(f(3, 5), batch1=B1, batch2=B2, beta=0.5, alpha=2.5))
row('ops.dot', np.dot, c(V, f(3)), c(M, N), c(input=B1, other=f(5, 4, 2)))
row('mint.dot Tensor.dot', np.dot, c(V, f(3)), c(V, other=f(3)))
row('mint.vdot', np.vdot, c(V, f(3)), c(input=V, other=f(3)))
row('ops.inner Tensor.inner', np.inner, c(V, f(3)), c(M, f(4, 3)), c(M, other=f(4, 3)), c(M, np.array(2.5)))
row('ops.outer mint.outer Tensor.outer ops.ger Tensor.ger', np.outer, c(V, f(4)), c(V, vec2=f(2)))
row('ops.dense mint.nn.functional.linear', lambda x, w, b=None: x @ w.T + (0 if b is None else b), c(M, f(4, 3)),
    c(B1, f(5, 4), f(5)), c(input=M, weight=f(4, 3), bias=f(4)))
row('ops.matrix_power Tensor.matrix_power mint.linalg.matrix_power', np.linalg.matrix_power, c(f(3, 3), 3), c(f(2, 3, 3), 2),
    c(f(3, 3), n=0))


row('ops.einsum mint.einsum ops.einsum_ext', lambda equation, *operands: np.einsum(equation, *operands), *(
    c(equation, *(f(*s) for s in shapes)) for equation, *shapes in (
        ('ij,jk->ik', (2, 3), (3, 4)), ('ij,jk', (2, 3), (3, 4)), ('ii', (3, 3)), ('ii->i', (3, 3)), ('iij->j', (3, 3, 2)), ('ij->', (2, 3)),
        ('...ij,...jk->...ik', (2, 1, 2, 3), (5, 3, 4)), ('bn,anm,bm->ba', (2, 3), (4, 3, 5), (2, 5)), ('i...->...', (2, 3, 4)),
        ('b...,b...->b...', (2, 3, 4), (2, 1, 4)), (' i , i -> ', (3,), (3,)), ('ij,kl->', (2, 3), (4, 2)), ('ba,ac', (2, 3), (3, 4)),
        ('ij,j->i', (2, 0), (0,)), ('Ab,bA->A', (2, 3), (3, 2)))), c('i,ij', i(3), i(3, 2)))
