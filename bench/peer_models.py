"""Networks and training steps of the model benchmarks, in PyTorch; ours_models.py has the same in MindSpore. As a script:
prints one JSON object, name -> seconds per step."""
import json
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from timing import per_step


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.causal = heads, causal

    def forward(self, x):
        b, s, w = x.shape
        q, k, v = [t.view(b, s, self.heads, w // self.heads).transpose(1, 2) for t in self.qkv(x).split(w, -1)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, s, w))


class Block(nn.Module):
    def __init__(self, width, heads, causal, approximate, eps):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)
        self.attention = Attention(width, heads, causal)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.gelu = nn.GELU('tanh' if approximate else 'none')

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.down(self.gelu(self.up(self.ln2(x))))


class GPT2(nn.Module):
    def __init__(self, vocab=50257, length=1024, width=768, heads=12, layers=12, context=256):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, heads, True, True, 1e-5) for _ in range(layers)])
        self.ln = nn.LayerNorm(width, 1e-5)
        self.register_buffer('order', torch.arange(context))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(self.order)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.ln(x), self.tokens.weight)


class ViT(nn.Module):
    def __init__(self, size=224, patch=16, width=768, heads=12, layers=12, classes=1000):
        super().__init__()
        n = (size // patch) ** 2
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(0.02 * torch.randn(1, n + 1, width))
        self.blocks = nn.ModuleList([Block(width, heads, False, False, 1e-6) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(width, 1e-6), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x[:, 0]))


class Words(nn.Module):
    def __init__(self, vocab=10000, width=512, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.head(self.lstm(self.tokens(tokens))[0])


def problem(kind, small=False):
    r = np.random.RandomState(1)
    if kind == 'gpt2':
        net = GPT2(layers=2 if small else 12)
        return net, r.randint(0, 50257, (4, 256)), r.randint(0, 50257, (4, 256))
    if kind == 'vit':
        net = ViT(layers=2 if small else 12)
        return net, r.rand(8, 3, 224, 224).astype(np.float32), r.randint(0, 1000, 8)
    return Words(), r.randint(0, 10000, (32, 64)), r.randint(0, 10000, (32, 64))


def loss_of(net, bf16):
    def loss(x, y):
        with torch.autocast('cpu', torch.bfloat16, enabled=bf16):
            logits = net(x)
            return F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))
    return loss


def train_step(kind, bf16, small=False):
    net, x, y = problem(kind, small)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-4, weight_decay=0.01)
    loss_fn = loss_of(net, bf16)

    def step(a, b):
        optimizer.zero_grad()
        loss = loss_fn(a, b)
        loss.backward()
        optimizer.step()
        return loss
    return net, step, torch.from_numpy(x), torch.from_numpy(y)


def main(names):
    result = {}
    for name in names:
        kind, dtype = name.split('_')[:2]
        _, step, x, y = train_step(kind, dtype == 'bf16')
        if name.endswith('_compile'):
            step = torch.compile(step)
        result[name.replace('_compile', '')] = per_step(lambda: step(x, y).item())
    print(json.dumps(result))


if __name__ == '__main__':
    main(sys.argv[1:])
