"""Networks and training steps of the model benchmarks, in MindSpore. peer_models.py has the same in PyTorch. As a script: prints one JSON object,
name -> seconds per step."""
import json
import sys

import numpy as np

import mindspore as ms
from mindspore import nn, ops
from timing import per_step


class Attention(nn.Cell):
    """Multi-head self-attention in the plain formulation; the compiler finds it."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.heads, self.scale, self.causal = heads, (width // heads) ** -0.5, causal

    def construct(self, x, mask):
        b, s, w = x.shape
        q, k, v = [t.reshape(b, s, self.heads, w // self.heads).transpose(0, 2, 1, 3)
                   for t in ops.split(self.qkv(x), w, axis=-1)]
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) * self.scale
        if self.causal:
            scores = scores + mask.astype(scores.dtype)
        y = ops.matmul(ops.softmax(scores, -1), v)
        return self.out(y.transpose(0, 2, 1, 3).reshape(b, s, w))


class Block(nn.Cell):
    def __init__(self, width, heads, causal, approximate, eps):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm([width], epsilon=eps), nn.LayerNorm([width], epsilon=eps)
        self.attention = Attention(width, heads, causal)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.gelu = nn.GELU(approximate=approximate)

    def construct(self, x, mask):
        x = x + self.attention(self.ln1(x), mask)
        return x + self.down(self.gelu(self.up(self.ln2(x))))


class GPT2(nn.Cell):
    def __init__(self, vocab=50257, length=1024, width=768, heads=12, layers=12, context=256):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.CellList([Block(width, heads, True, True, 1e-5) for _ in range(layers)])
        self.ln = nn.LayerNorm([width], epsilon=1e-5)
        self.order = ms.Tensor(np.arange(context), ms.int32)
        self.mask = ms.Tensor(np.triu(np.full((context, context), -np.inf, np.float32), 1))

    def construct(self, tokens):
        x = self.tokens(tokens) + self.positions(self.order)
        for block in self.blocks:
            x = block(x, self.mask)
        x = self.ln(x)
        return ops.dense(x, self.tokens.embedding_table.astype(x.dtype))


class ViT(nn.Cell):
    def __init__(self, size=224, patch=16, width=768, heads=12, layers=12, classes=1000):
        super().__init__()
        n = (size // patch) ** 2
        self.patches = nn.Conv2d(3, width, patch, patch, pad_mode='valid', has_bias=True)
        self.token = ms.Parameter(ms.Tensor(np.zeros((1, 1, width), np.float32)), name='token')
        self.position = ms.Parameter(ms.Tensor(0.02 * np.random.randn(1, n + 1, width).astype(np.float32)),
                                     name='position')
        self.blocks = nn.CellList([Block(width, heads, False, False, 1e-6) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm([width], epsilon=1e-6), nn.Dense(width, classes)

    def construct(self, x):
        x = self.patches(x)
        b, c = x.shape[:2]
        x = x.reshape(b, c, -1).transpose(0, 2, 1)
        token = ops.broadcast_to(self.token, (b, 1, c)).astype(x.dtype)
        x = ops.concat((token, x), 1) + self.position.astype(x.dtype)
        for block in self.blocks:
            x = block(x, None)
        return self.head(self.ln(x[:, 0]))


class Words(nn.Cell):
    """LSTM language model of two layers."""

    def __init__(self, vocab=10000, width=512, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Dense(width, vocab)

    def construct(self, tokens):
        return self.head(self.lstm(self.tokens(tokens))[0])


def problem(kind, small=False):
    """(network, input, labels) as numpy, equal on both sides by the seed."""
    r = np.random.RandomState(1)
    if kind == 'gpt2':
        net = GPT2(layers=2 if small else 12)
        return net, r.randint(0, 50257, (4, 256)).astype(np.int32), r.randint(0, 50257, (4, 256)).astype(np.int32)
    if kind == 'vit':
        net = ViT(layers=2 if small else 12)
        return net, r.rand(8, 3, 224, 224).astype(np.float32), r.randint(0, 1000, 8).astype(np.int32)
    net = Words()
    return net, r.randint(0, 10000, (32, 64)).astype(np.int32), r.randint(0, 10000, (32, 64)).astype(np.int32)


def loss_of(net, bf16):
    if bf16:
        net = ms.amp.auto_mixed_precision(net, 'O2', ms.bfloat16)

    def loss(x, y):
        logits = net(x)
        return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
    return loss


def train_step(kind, bf16, small=False):
    net, x, y = problem(kind, small)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-4, weight_decay=0.01)
    grad_fn = ms.value_and_grad(loss_of(net, bf16), None, optimizer.parameters)

    def step(a, b):
        loss, grads = grad_fn(a, b)
        optimizer(grads)
        return loss
    return net, step, ms.Tensor(x), ms.Tensor(y)


def main(names):
    result = {}
    for name in names:
        kind, dtype = name.split('_')[:2]
        _, step, x, y = train_step(kind, dtype == 'bf16')
        if name.endswith('_graph'):
            step = ms.jit(step, jit_level='O1')
        result[name] = per_step(lambda: step(x, y).asnumpy())
    print(json.dumps(result))


if __name__ == '__main__':
    main(sys.argv[1:])
