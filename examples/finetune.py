"""Training a model of mindcv on an image folder: checkpoints, resuming to the bit, validation, curves, a sheet of predictions.

    python examples/finetune.py [--data FOLDER] [--model mobilenet_v2_035_96] [--weights FILE.ckpt] [--epochs 8] [--graph]
                                [--resume] [--out out/finetune]

FOLDER holds train/ and val/, each with one folder of images per class; without it, shapes are drawn into OUT/shapes. Training
starts from the weights in FILE that fit (all but those of the last layer, usually) or from random ones. Each epoch begins
from a seed of its own and ends with a checkpoint of weights, optimizer and epoch, so that a run which is stopped and called
again with --resume gives the same bits as one that was not.
Needs pip install --no-deps mindcv==0.3.0, and tqdm pyyaml pillow matplotlib.
"""
import argparse
import os
import time

import mindcv
import numpy as np

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.dataset import transforms, vision

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
SHAPES = ('circle', 'square', 'triangle', 'ring')


def draw_shapes(root, n_train=60, n_val=15, seed=0):
    """An image folder of shapes in random places, sizes and colours on noise."""
    from PIL import Image, ImageDraw
    random = np.random.default_rng(seed)
    for split, n in (('train', n_train), ('val', n_val)):
        for name in SHAPES:
            os.makedirs(f'{root}/{split}/{name}', exist_ok=True)
            for k in range(n):
                image = Image.fromarray(random.integers(60, 130, (80, 80, 3), np.uint8))
                r = int(random.integers(14, 26))
                x, y = (int(v) for v in random.integers(r + 2, 78 - r, 2))
                colour = tuple(int(v) for v in random.integers(150, 256, 3))
                draw, box = ImageDraw.Draw(image), (x - r, y - r, x + r, y + r)
                if name == 'circle':
                    draw.ellipse(box, fill=colour)
                elif name == 'square':
                    draw.rectangle(box, fill=colour)
                elif name == 'triangle':
                    draw.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], fill=colour)
                else:
                    draw.ellipse(box, outline=colour, width=r // 3)
                image.save(f'{root}/{split}/{name}/{k:03d}.jpg', quality=92)


def pipeline(folder, size, batch, train):
    data = ds.ImageFolderDataset(folder, shuffle=train, decode=False)
    if train:
        steps = [vision.RandomCropDecodeResize(size, (0.6, 1.0)), vision.RandomHorizontalFlip()]
    else:
        steps = [vision.Decode(), vision.Resize((size, size))]
    data = data.map(steps + [vision.Normalize(MEAN, STD), vision.HWC2CHW()], 'image')
    return data.map(transforms.TypeCast(ms.int32), 'label').batch(batch, drop_remainder=train)


def evaluate(net, data):
    """Images, predictions and labels of the validation set."""
    net.set_train(False)
    rows = [(x.asnumpy(), net(x).asnumpy().argmax(1), y.asnumpy()) for x, y in data.create_tuple_iterator(num_epochs=1)]
    return [np.concatenate(column) for column in zip(*rows)]


def train(args, classes):
    """Trains from the start or the checkpoint; gives the network and a row (loss, accuracy) per epoch."""
    ms.set_context(mode=ms.GRAPH_MODE if args.graph else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    steps = pipeline(f'{args.data}/train', args.size, args.batch, True).get_dataset_size()
    net = mindcv.create_model(args.model, num_classes=classes)
    if args.weights:
        own = net.parameters_dict()
        fitting = {k: p for k, p in ms.load_checkpoint(args.weights).items() if k in own and own[k].shape == p.shape}
        ms.load_param_into_net(net, fitting)
        print(f'{len(fitting)} of {len(own)} parameters from {args.weights}')
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), nn.CosineDecayLR(1e-5, 3e-3, args.epochs * steps), weight_decay=1e-2)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, grads = grad_fn(x, y)
        optimizer(grads)
        return loss

    if args.graph:
        step = ms.jit(step)
    history, path = [], f'{args.out}/last.ckpt'
    if args.resume:
        found = ms.load_checkpoint(path)
        history = found.pop('history').asnumpy().reshape(-1, 2).tolist()
        for cell in (net, optimizer):
            missing, _ = ms.load_param_into_net(cell, found, strict_load=True)
            assert not missing, missing
        print(f'resumed from {path} after epoch {len(history)}')
    val = pipeline(f'{args.data}/val', args.size, args.batch, False)
    for epoch in range(len(history), args.stop or args.epochs):
        ms.set_seed(args.seed + 1 + epoch)  # shuffling, augmentation and dropout of this epoch
        data = pipeline(f'{args.data}/train', args.size, args.batch, True)
        net.set_train()
        begin = time.perf_counter()
        losses = [float(step(x, y)) for x, y in data.create_tuple_iterator(num_epochs=1)]
        seconds = time.perf_counter() - begin
        _, predicted, labels = evaluate(net, val)
        history.append([np.mean(losses), (predicted == labels).mean()])
        print(f'epoch {epoch + 1}/{args.epochs}  loss {history[-1][0]:.4f}  accuracy {history[-1][1]:.4f}  '
              f'{len(losses) * args.batch / seconds:.0f} images/s', flush=True)
        state = {**net.parameters_dict(), **optimizer.parameters_dict()}
        ms.save_checkpoint(state, path, append_dict={'history': ms.Tensor(np.array(history))})
    return net, history


def draw(args, net, history, classes):
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    epochs = range(1, len(history) + 1)
    left.plot(epochs, [loss for loss, _ in history], 'o-')
    left.set(title='Training loss', xlabel='epoch', ylabel='cross entropy')
    right.plot(epochs, [accuracy for _, accuracy in history], 'o-')
    right.set(title='Validation accuracy', xlabel='epoch', ylim=(0, 1.02))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(f'{args.out}/curves.png', dpi=110)
    images, predicted, labels = evaluate(net, pipeline(f'{args.data}/val', args.size, args.batch, False))
    chosen = np.random.default_rng(0).permutation(len(labels))[:32]
    figure, axes = plt.subplots(4, 8, figsize=(13, 7.4), constrained_layout=True)
    for a in axes.flat:
        a.axis('off')
    for a, k in zip(axes.flat, chosen):
        pixels = images[k].transpose(1, 2, 0) * STD + MEAN
        right = predicted[k] == labels[k]
        a.imshow(pixels.clip(0, 255).astype(np.uint8))
        a.set_title(classes[predicted[k]] + ('' if right else f' (is {classes[labels[k]]})'), fontsize=9,
                    color='black' if right else 'red')
    figure.suptitle(f'{args.model}: validation images with predictions; wrong ones in red')
    figure.savefig(f'{args.out}/predictions.png', dpi=110)
    plt.close('all')
    print(f'pictures: {args.out}/curves.png, predictions.png')


def main(words=None):
    parser = argparse.ArgumentParser(description='Trains a model of mindcv on an image folder.')
    parser.add_argument('--data', help='folder with train/ and val/')
    parser.add_argument('--model', default='mobilenet_v2_035_96')
    parser.add_argument('--weights', help='checkpoint to start from')
    parser.add_argument('--epochs', type=int, default=8)
    parser.add_argument('--stop', type=int, help='stop after this epoch, as if interrupted')
    parser.add_argument('--batch', type=int, default=16)
    parser.add_argument('--size', type=int, default=64)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--graph', action='store_true')
    parser.add_argument('--resume', action='store_true')
    parser.add_argument('--out', default='out/finetune')
    args = parser.parse_args(words)
    os.makedirs(args.out, exist_ok=True)
    if args.data is None:
        args.data = f'{args.out}/shapes'
        if not os.path.isdir(args.data):
            draw_shapes(args.data)
    classes = sorted(os.listdir(f'{args.data}/train'))
    net, history = train(args, len(classes))
    if len(history) == args.epochs:
        draw(args, net, history, classes)


if __name__ == '__main__':
    main()
