"""ResNet-50 and MobileNetV2, and their training steps, in MindSpore; peer_vision.py has the same in PyTorch. As a script:
prints one JSON object, name -> seconds per step."""
import json
import sys

import numpy as np

import mindspore as ms
from mindspore import nn, ops
from timing import per_call


def conv(n_in, n_out, size, stride=1, groups=1):
    return nn.Conv2d(n_in, n_out, size, stride, pad_mode='pad', padding=size // 2, group=groups)


class Bottleneck(nn.Cell):
    def __init__(self, n_in, width, stride):
        super().__init__()
        n_out = 4 * width
        self.conv1, self.bn1 = conv(n_in, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = conv(width, n_out, 1), nn.BatchNorm2d(n_out)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or n_in != n_out:
            self.down = nn.SequentialCell(conv(n_in, n_out, 1, stride), nn.BatchNorm2d(n_out))

    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        if self.down is not None:
            x = self.down(x)
        return self.relu(y + x)


class ResNet50(nn.Cell):
    def __init__(self, n_class=1000):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 64, 7, 2), nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(3, 2, pad_mode='pad', padding=1)
        blocks, n_in = [], 64
        for width, n, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for k in range(n):
                blocks.append(Bottleneck(n_in, width, stride if k == 0 else 1))
                n_in = 4 * width
        self.blocks = nn.SequentialCell(*blocks)
        self.fc = nn.Dense(n_in, n_class)

    def construct(self, x):
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        x = self.blocks(x)
        return self.fc(ops.mean(x, (2, 3)))


class InvertedResidual(nn.Cell):
    def __init__(self, n_in, n_out, stride, expand):
        super().__init__()
        width = n_in * expand
        layers = []
        if expand != 1:
            layers += [conv(n_in, width, 1), nn.BatchNorm2d(width), nn.ReLU6()]
        layers += [conv(width, width, 3, stride, width), nn.BatchNorm2d(width), nn.ReLU6(),
                   conv(width, n_out, 1), nn.BatchNorm2d(n_out)]
        self.body = nn.SequentialCell(*layers)
        self.residual = stride == 1 and n_in == n_out

    def construct(self, x):
        y = self.body(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Cell):
    def __init__(self, n_class=1000):
        super().__init__()
        layers, n_in = [conv(3, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU6()], 32
        for expand, n_out, n, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                         (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for k in range(n):
                layers.append(InvertedResidual(n_in, n_out, stride if k == 0 else 1, expand))
                n_in = n_out
        layers += [conv(n_in, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6()]
        self.features = nn.SequentialCell(*layers)
        self.fc = nn.Dense(1280, n_class)

    def construct(self, x):
        return self.fc(ops.mean(self.features(x), (2, 3)))


NETS = {'resnet': ResNet50, 'mobilenet': MobileNetV2}


def train_step(kind, batch=16, bf16=False, size=224):
    """A step of SGD with momentum: (network, step(x, y) -> loss, x, y)."""
    net, loss_fn = NETS[kind](), nn.CrossEntropyLoss()
    if bf16:
        net = ms.amp.auto_mixed_precision(net, 'O2', ms.bfloat16)
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    net.set_train()
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x).astype(ms.float32), y), None, optimizer.parameters)

    def step(x, y):
        loss, grads = grad_fn(x, y)
        optimizer(grads)
        return loss

    rng = np.random.default_rng(0)
    x = ms.Tensor(rng.standard_normal((batch, 3, size, size), np.float32))
    return net, step, x, ms.Tensor(rng.integers(0, 1000, batch).astype(np.int32))


def infer_step(kind):
    """The network on one image."""
    net = NETS[kind]()
    net.set_train(False)
    x = ms.Tensor(np.random.default_rng(0).standard_normal((1, 3, 224, 224), np.float32))
    return ms.jit(net.construct, jit_level='O1'), x


def main(names):
    result = {}
    for name in names:
        kind, dtype, how = name.split('_')[:3]
        if how == 'infer':
            f, x = infer_step(kind)
            result[name] = per_call(lambda: f(x).asnumpy(), 1)
            continue
        _, step, x, y = train_step(kind, bf16=dtype == 'bf16')
        if how != 'eager':
            step = ms.jit(step, jit_level='O1')
        result[name] = per_call(lambda: step(x, y).asnumpy(), 1)
    print(json.dumps(result))


if __name__ == '__main__':
    main(sys.argv[1:])
