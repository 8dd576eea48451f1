"""Single operators of the benchmarks: name -> (MindSpore, PyTorch), expressions over a namespace that both sides fill.

small_*: 8 x 16 float32, the cost of a call. big_*: 16 million elements, the speed of memory. sized_*: indexing, order
and sums at three sizes. layer_*: convolutions, pooling and normalisation at three sizes; F is torch.nn.functional or
mint.nn.functional.
"""

SMALL = {
    'add': ('a + b', 'a + b'), 'sub': ('a - b', 'a - b'), 'mul': ('a * b', 'a * b'), 'div': ('a / b', 'a / b'),
    'pow': ('a ** 2', 'a ** 2'), 'neg': ('-a', '-a'), 'add_scalar': ('a + 1.5', 'a + 1.5'),
    'mul_scalar': ('a * 2.0', 'a * 2.0'), 'exp': ('ops.exp(a)', 'torch.exp(a)'), 'log': ('ops.log(p)', 'torch.log(p)'),
    'sqrt': ('ops.sqrt(p)', 'torch.sqrt(p)'), 'rsqrt': ('ops.rsqrt(p)', 'torch.rsqrt(p)'),
    'sin': ('ops.sin(a)', 'torch.sin(a)'), 'tanh': ('ops.tanh(a)', 'torch.tanh(a)'),
    'sigmoid': ('ops.sigmoid(a)', 'torch.sigmoid(a)'), 'relu': ('ops.relu(a)', 'torch.relu(a)'),
    'gelu': ('ops.gelu(a)', 'F.gelu(a)'), 'silu': ('ops.silu(a)', 'F.silu(a)'), 'abs': ('ops.abs(a)', 'torch.abs(a)'),
    'square': ('ops.square(a)', 'torch.square(a)'), 'maximum': ('ops.maximum(a, b)', 'torch.maximum(a, b)'),
    'minimum': ('ops.minimum(a, b)', 'torch.minimum(a, b)'), 'clamp': ('ops.clamp(a, -1, 1)', 'torch.clamp(a, -1, 1)'),
    'where': ('ops.where(c, a, b)', 'torch.where(c, a, b)'), 'gt': ('a > b', 'a > b'), 'eq': ('a == b', 'a == b'),
    'logical_not': ('ops.logical_not(c)', 'torch.logical_not(c)'),
    'cast': ('a.astype(ms.float16)', 'a.to(torch.float16)'), 'sum': ('a.sum()', 'a.sum()'),
    'sum_axis': ('a.sum(axis=1)', 'a.sum(dim=1)'), 'mean': ('a.mean()', 'a.mean()'), 'max': ('a.max()', 'a.max()'),
    'argmax': ('a.argmax(axis=1)', 'a.argmax(dim=1)'), 'softmax': ('ops.softmax(a, -1)', 'F.softmax(a, -1)'),
    'log_softmax': ('ops.log_softmax(a, -1)', 'F.log_softmax(a, -1)'), 'reshape': ('a.reshape(16, 8)', 'a.reshape(16, 8)'),
    'transpose': ('a.transpose(1, 0)', 'a.permute(1, 0)'), 'slice': ('a[1:4]', 'a[1:4]'), 'index': ('a[2, 3]', 'a[2, 3]'),
    'unsqueeze': ('a.expand_dims(0)', 'a.unsqueeze(0)'), 'concat': ('ops.cat((a, b))', 'torch.cat((a, b))'),
    'stack': ('ops.stack((a, b))', 'torch.stack((a, b))'), 'split': ('ops.split(a, 4)', 'torch.split(a, 4)'),
    'gather': ('ops.index_select(a, 0, i)', 'torch.index_select(a, 0, i)'), 'matmul': ('ops.matmul(a, t)', 'torch.matmul(a, t)'),
    'cumsum': ('ops.cumsum(a, 1)', 'torch.cumsum(a, 1)'), 'zeros': ('ops.zeros((8, 16))', 'torch.zeros((8, 16))'),
    'zeros_like': ('ops.zeros_like(a)', 'torch.zeros_like(a)'), 'topk': ('ops.topk(a, 3)', 'torch.topk(a, 3)'),
    'layer_norm': ('ops.layer_norm(a, (16,), g, g)', 'F.layer_norm(a, (16,), g, g)'),
}

DTYPES = ('float32', 'float64', 'float16', 'bfloat16', 'int8', 'int32', 'int64', 'uint8', 'bool')
BIG = {
    'add': ('x + y', 'x + y'), 'strided': ('x[:, ::2] + y[:, ::2]', 'x[:, ::2] + y[:, ::2]'),
    'broadcast': ('x + y[:1]', 'x + y[:1]'), 'column': ('x + y[:, :1]', 'x + y[:, :1]'),
    'transposed': ('x + y.T', 'x + y.T'), 'sum': ('x.sum()', 'x.sum()'), 'sum0': ('x.sum(axis=0)', 'x.sum(dim=0)'),
    'sum1': ('x.sum(axis=1)', 'x.sum(dim=1)'), 'copy': ('x.T.contiguous()', 'x.T.contiguous()'),
    'max1': ('ops.amax(x, 1)', 'torch.amax(x, 1)'),
}

SIZES = {'s': (64, 128), 'm': (512, 1024), 'l': (2048, 4096)}
SIZED = {
    'sort': ('ops.sort(x, 1)', 'torch.sort(x, 1)'), 'topk': ('ops.topk(x, 10)', 'torch.topk(x, 10)'),
    'gather': ('ops.gather_elements(x, 1, j)', 'torch.gather(x, 1, j)'),
    'rows': ('ops.index_select(x, 0, i)', 'torch.index_select(x, 0, i)'),
    'scatter_add': ('ops.tensor_scatter_elements(x, j, x, 1, "add")', 'torch.scatter_add(x, 1, j, x)'),
    'cumsum': ('ops.cumsum(x, 1)', 'torch.cumsum(x, 1)'), 'cumsum0': ('ops.cumsum(x, 0)', 'torch.cumsum(x, 0)'),
    'embedding_grad': ('embedding_grad(x, i)', 'embedding_grad(x, i)'),
    'softmax': ('ops.softmax(x, -1)', 'torch.softmax(x, -1)'), 'argmax': ('x.argmax(axis=1)', 'x.argmax(dim=1)'),
}

LAYER_SIZES = {'s': (2, 16, 16), 'm': (8, 32, 32), 'l': (8, 64, 56)}  # batch, channels, side
LAYERS = {
    'conv1d': 'F.conv1d(x1, w1, padding=1)', 'conv2d': 'F.conv2d(x2, w2, padding=1)',
    'conv3d': 'F.conv3d(x3, w3, padding=1)', 'depthwise': 'F.conv2d(x2, d3, padding=1, groups=C)',
    'depthwise5': 'F.conv2d(x2, d5, padding=2, groups=C)', 'depthwise_stride': 'F.conv2d(x2, d3, stride=2, padding=1, groups=C)',
    'grouped': 'F.conv2d(x2, g4, padding=1, groups=4)', 'transposed': 'F.conv_transpose2d(x2, w2, padding=1)',
    'max_pool1d': 'F.max_pool1d(x1, 2, 2)', 'max_pool2d': 'F.max_pool2d(x2, 2, 2)', 'max_pool2d_3': 'F.max_pool2d(x2, 3, 2, 1)',
    'max_pool3d': 'F.max_pool3d(x3, 2, 2)', 'avg_pool1d': 'F.avg_pool1d(x1, 2, 2)', 'avg_pool2d': 'F.avg_pool2d(x2, 2, 2)',
    'avg_pool2d_3': 'F.avg_pool2d(x2, 3, 2, 1)', 'avg_pool3d': 'F.avg_pool3d(x3, 2, 2)',
    'global_pool': 'F.adaptive_avg_pool2d(x2, 1)', 'adaptive_pool': 'F.adaptive_avg_pool2d(x2, 5)',
    'batch_norm': 'F.batch_norm(x2, v, p, p, v, True)', 'batch_norm_infer': 'F.batch_norm(x2, v, p, p, v)',
    'group_norm': 'F.group_norm(x2, 8, p, v)', 'layer_norm': 'F.layer_norm(x2, (S,), q, q)',
}


def layer_arrays(random, detail):
    """The operands of LAYERS as numpy arrays."""
    n, c, side = LAYER_SIZES[detail]
    shapes = {'x1': (n, c, side * side), 'x2': (n, c, side, side), 'x3': (n, c, side // 4, side // 2, side // 2),
              'w1': (c, c, 3), 'w2': (c, c, 3, 3), 'w3': (c, c, 3, 3, 3), 'd3': (c, 1, 3, 3), 'd5': (c, 1, 5, 5),
              'g4': (c, c // 4, 3, 3), 'v': (c,), 'p': (c,), 'q': (side,)}
    return {k: random.rand(*s).astype('float32') for k, s in shapes.items()}


def problems():
    """name -> (kind, expressions, detail)"""
    table = {f'small_{n}': ('small', e, None) for n, e in SMALL.items()}
    for n, e in BIG.items():
        for d in DTYPES:
            if not (d == 'bool' and n not in ('copy', 'add')):
                table[f'big_{n}_{d}'] = ('big', e, d)
    for n, e in SIZED.items():
        for s in SIZES:
            table[f'sized_{n}_{s}'] = ('sized', e, s)
    for n, e in LAYERS.items():
        for s in LAYER_SIZES:
            table[f'layer_{n}_{s}'] = ('layer', (e, e), s)
    return table
