"""LeNet-5 on Fashion-MNIST: trained in PyNative mode and in Graph mode, with the same result; pictures in out/.

    python examples/lenet.py [--epochs 5] [--data /usr/share/datasets/fashion-mnist] [--out out]

With --eval FILE it only loads that checkpoint and prints the test accuracy.
"""
import argparse
import os
import subprocess
import sys
import time

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.dataset import transforms, vision

CLASSES = ['T-shirt', 'Trouser', 'Pullover', 'Dress', 'Coat', 'Sandal', 'Shirt', 'Sneaker', 'Bag', 'Boot']
MEAN, STD = 0.2860, 0.3530
BATCH = 64


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode='pad', padding=2, has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode='valid', has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def pipeline(folder, usage, batch, shuffle):
    data = ds.FashionMnistDataset(folder, usage, shuffle=shuffle)
    data = data.map([vision.Rescale(1 / 255, 0), vision.Normalize([MEAN], [STD]), vision.HWC2CHW()], 'image')
    data = data.map(transforms.TypeCast(ms.int32), 'label')
    return data.batch(batch, drop_remainder=shuffle)


def show(epoch, step, steps, loss, rate):
    full = 30 * step // steps
    print(f'\r  epoch {epoch + 1} [{"#" * full}{"." * (30 - full)}] loss {loss:.4f}  {rate:7.0f} images/s ', end='',
          flush=True)


def evaluate(net, test):
    """Predictions and labels of the test images."""
    net.set_train(False)
    predicted, labels = [], []
    for images, label in test.create_tuple_iterator(num_epochs=1):
        predicted.append(net(images).asnumpy().argmax(1))
        labels.append(label.asnumpy())
    return np.concatenate(predicted), np.concatenate(labels)


def train(args, graph):
    """Trains a new network; gives it with the loss of each step and the accuracy after each epoch."""
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    data = pipeline(args.data, 'train', BATCH, True)
    test = pipeline(args.data, 'test', 1000, False)
    steps = data.get_dataset_size()
    net, loss_fn = LeNet5(), nn.CrossEntropyLoss()
    rate = nn.CosineDecayLR(0.0, 0.05, steps * args.epochs)
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)

    def forward(images, labels):
        return loss_fn(net(images), labels)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(images, labels):
        loss, grads = grad_fn(images, labels)
        optimizer(grads)
        return loss

    if graph:
        step = ms.jit(step)
    losses, accuracy = [], []
    rows = data.create_tuple_iterator(num_epochs=args.epochs)
    for epoch in range(args.epochs):
        net.set_train()
        begin = time.perf_counter()
        for k, (images, labels) in enumerate(rows, 1):
            losses.append(float(step(images, labels)))
            if k % 50 == 0 or k == steps:
                show(epoch, k, steps, np.mean(losses[-k:]), k * BATCH / (time.perf_counter() - begin))
        predicted, truth = evaluate(net, test)
        accuracy.append((predicted == truth).mean())
        print(f' test accuracy {accuracy[-1]:.4f}')
    return net, losses, accuracy


# ---- pictures ----

def draw_curves(path, runs, steps):
    import matplotlib.pyplot as plt
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), constrained_layout=True)
    for (name, losses, accuracy), style in zip(runs, ('-', '--')):
        smooth = np.convolve(losses, np.ones(50) / 50, 'valid')
        left.plot(np.arange(len(smooth)) / steps, smooth, style, label=name)
        right.plot(np.arange(1, len(accuracy) + 1), accuracy, style + 'o', label=name)
    left.set(title='Training loss (mean of 50 steps)', xlabel='epoch', ylabel='cross entropy', yscale='log')
    right.set(title='Test accuracy', xlabel='epoch', xticks=range(1, len(accuracy) + 1))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_confusion(path, predicted, labels):
    import matplotlib.pyplot as plt
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, predicted), 1)
    figure, axes = plt.subplots(figsize=(7.5, 7), constrained_layout=True)
    axes.imshow(counts / counts.sum(1, keepdims=True), cmap='Blues', vmin=0, vmax=1)
    for i in range(10):
        for j in range(10):
            if counts[i, j]:
                dark = counts[i, j] > 0.5 * counts[i].sum()
                axes.text(j, i, counts[i, j], ha='center', va='center', fontsize=8, color='white' if dark else 'black')
    axes.set(xticks=range(10), yticks=range(10), xticklabels=CLASSES, yticklabels=CLASSES, xlabel='predicted',
             ylabel='true', title=f'Fashion-MNIST, {len(labels)} test images, accuracy {(predicted == labels).mean():.4f}')
    axes.tick_params(axis='x', rotation=45)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_predictions(path, images, predicted, labels, n=60):
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(6, n // 6, figsize=(13, 9.5), constrained_layout=True)
    for k, a in enumerate(axes.flat):
        right = predicted[k] == labels[k]
        a.imshow(images[k, :, :, 0], cmap='gray_r')
        a.set(xticks=[], yticks=[])
        a.set_title(CLASSES[predicted[k]] if right else f'{CLASSES[predicted[k]]}\n(is {CLASSES[labels[k]]})', fontsize=9,
                    color='black' if right else 'red')
        for side in a.spines.values():
            side.set(color='lightgray' if right else 'red', linewidth=1 if right else 3)
    figure.suptitle('Test images with predictions; wrong ones in red')
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw(args, runs, net):
    import matplotlib
    matplotlib.use('Agg')
    predicted, labels = evaluate(net, pipeline(args.data, 'test', 1000, False))
    raw = ds.FashionMnistDataset(args.data, 'test', shuffle=False).batch(60)
    images = next(raw.create_dict_iterator(output_numpy=True))['image']
    draw_curves(f'{args.out}/curves.png', runs, len(runs[0][1]) // args.epochs)
    draw_confusion(f'{args.out}/confusion.png', predicted, labels)
    draw_predictions(f'{args.out}/predictions.png', images, predicted, labels)


# ---- the demonstration ----

def load_and_evaluate(args):
    net = LeNet5()
    missing, unused = ms.load_param_into_net(net, ms.load_checkpoint(args.eval))
    assert not missing and not unused, (missing, unused)
    predicted, labels = evaluate(net, pipeline(args.data, 'test', 1000, False))
    return (predicted == labels).mean()


def main():
    parser = argparse.ArgumentParser(description='LeNet-5 on Fashion-MNIST, in PyNative and in Graph mode.')
    parser.add_argument('--epochs', type=int, default=5)
    parser.add_argument('--data', default='/usr/share/datasets/fashion-mnist')
    parser.add_argument('--out', default='out')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--eval', metavar='FILE', help='only load this checkpoint and print its test accuracy')
    args = parser.parse_args()
    if args.eval:
        print(f'{load_and_evaluate(args):.4f}')
        return 0
    os.makedirs(args.out, exist_ok=True)
    runs = []
    for name, graph in (('PyNative', False), ('Graph', True)):
        print(f'Python, {name} mode')
        net, losses, accuracy = train(args, graph)
        runs.append((name, losses, accuracy))
    failed = []

    def check(what, ok):
        print(f'  {"ok  " if ok else "FAIL"} {what}')
        if not ok:
            failed.append(what)

    check('the loss curves of both modes are identical', runs[0][1] == runs[1][1])
    for name, _, accuracy in runs:
        check(f'{name}: test accuracy {accuracy[-1]:.4f}, at least 0.88', accuracy[-1] >= 0.88 or args.epochs < 5)
    path = f'{args.out}/lenet.ckpt'
    ms.save_checkpoint(net, path)
    again = subprocess.run([sys.executable, __file__, '--eval', path, '--data', args.data], capture_output=True, text=True)
    check(f'{path} loaded by a new process: accuracy {again.stdout.strip() or again.stderr.strip()}',
          again.stdout.strip() == f'{runs[1][2][-1]:.4f}')
    draw(args, runs, net)
    print(f'  pictures: {args.out}/curves.png, confusion.png, predictions.png')
    return len(failed)


if __name__ == '__main__':
    sys.exit(main())
