"""ResNet-50 and MobileNetV2, and their training steps, in PyTorch; ours_vision.py has the same in MindSpore. As a script:
prints one JSON object, name -> seconds per step."""
import json
import sys

import numpy as np
import torch
from timing import per_call
from torch import nn


def conv(n_in, n_out, size, stride=1, groups=1):
    return nn.Conv2d(n_in, n_out, size, stride, size // 2, groups=groups, bias=False)


class Bottleneck(nn.Module):
    def __init__(self, n_in, width, stride):
        super().__init__()
        n_out = 4 * width
        self.conv1, self.bn1 = conv(n_in, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = conv(width, n_out, 1), nn.BatchNorm2d(n_out)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or n_in != n_out:
            self.down = nn.Sequential(conv(n_in, n_out, 1, stride), nn.BatchNorm2d(n_out))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        if self.down is not None:
            x = self.down(x)
        return self.relu(y + x)


class ResNet50(nn.Module):
    def __init__(self, n_class=1000):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 64, 7, 2), nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(3, 2, 1)
        blocks, n_in = [], 64
        for width, n, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for k in range(n):
                blocks.append(Bottleneck(n_in, width, stride if k == 0 else 1))
                n_in = 4 * width
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(n_in, n_class)

    def forward(self, x):
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        x = self.blocks(x)
        return self.fc(x.mean((2, 3)))


class InvertedResidual(nn.Module):
    def __init__(self, n_in, n_out, stride, expand):
        super().__init__()
        width = n_in * expand
        layers = []
        if expand != 1:
            layers += [conv(n_in, width, 1), nn.BatchNorm2d(width), nn.ReLU6(inplace=True)]
        layers += [conv(width, width, 3, stride, width), nn.BatchNorm2d(width), nn.ReLU6(inplace=True),
                   conv(width, n_out, 1), nn.BatchNorm2d(n_out)]
        self.body = nn.Sequential(*layers)
        self.residual = stride == 1 and n_in == n_out

    def forward(self, x):
        y = self.body(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    def __init__(self, n_class=1000):
        super().__init__()
        layers, n_in = [conv(3, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU6(inplace=True)], 32
        for expand, n_out, n, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                         (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for k in range(n):
                layers.append(InvertedResidual(n_in, n_out, stride if k == 0 else 1, expand))
                n_in = n_out
        layers += [conv(n_in, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6(inplace=True)]
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(1280, n_class)

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))


NETS = {'resnet': ResNet50, 'mobilenet': MobileNetV2}


def train_step(kind, batch=16, bf16=False, size=224, last=False):
    net, loss_fn = NETS[kind](), nn.CrossEntropyLoss()
    if last:
        net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    net.train()

    def step(x, y):
        optimizer.zero_grad()
        with torch.autocast('cpu', torch.bfloat16, enabled=bf16):
            loss = loss_fn(net(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.standard_normal((batch, 3, size, size), np.float32))
    y = torch.from_numpy(rng.integers(0, 1000, batch))
    return net, step, x.contiguous(memory_format=torch.channels_last) if last else x, y


def infer_step(kind):
    net = NETS[kind]().eval().to(memory_format=torch.channels_last)
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((1, 3, 224, 224), np.float32))
    return net, x.contiguous(memory_format=torch.channels_last)


def main(names):
    result = {}
    for name in names:
        kind, dtype, how = name.split('_')[:3]
        if how == 'infer':
            f, x = infer_step(kind)
            with torch.no_grad():
                result[name] = per_call(lambda: f(x), 1)
            continue
        _, step, x, y = train_step(kind, bf16=dtype == 'bf16', last=name != f'{kind}_f32_eager')
        if how == 'compile':
            step = torch.compile(step)
        result[name] = per_call(lambda: step(x, y).item(), 1)
    print(json.dumps(result))


if __name__ == '__main__':
    main(sys.argv[1:])
