"""Images per second of input pipelines, ours and torchvision's, in the same way: whole epochs, two workers.

    python bench/images.py make DIR          300 photograph-like JPEGs of about 500x375 in five classes
    python bench/images.py ours train DIR    decode, random resized crop to 224, flip, normalise, batches of 64
    python bench/images.py torch val DIR     decode, resize to 256, centre crop to 224, normalise; peer: torchvision v2
    python bench/images.py ours cifar        50,000 arrays of 32x32 in memory, padded crop, flip, normalise, batches of 128
"""
import os
import sys
import time

import numpy as np

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def make(folder):
    from PIL import Image
    rng = np.random.default_rng(0)
    sizes = [(375, 500), (333, 500), (500, 375), (400, 500), (375, 500), (480, 640)]
    for k in range(300):
        h, w = sizes[k % 6]
        y, x = np.mgrid[0:h, 0:w]
        im = np.stack([110 + 60 * np.sin(x / (20 + k % 30) + c) + 40 * np.cos(y / (13 + k % 17) - c) for c in range(3)], -1)
        coarse = rng.standard_normal((h // 4 + 1, w // 4 + 1, 3)).repeat(4, 0).repeat(4, 1)[:h, :w]
        im = Image.fromarray(np.clip(im + coarse * 18 + rng.standard_normal((h, w, 3)) * 6, 0, 255).astype(np.uint8))
        im = im.convert('L') if k % 25 == 7 else im.convert('CMYK') if k % 50 == 11 else im
        os.makedirs(f'{folder}/{k % 5}', exist_ok=True)
        im.save(f'{folder}/{k % 5}/{k:03}.jpg', quality=90)


def cifar():
    return np.random.default_rng(0).integers(0, 256, (50000, 32, 32, 3), dtype=np.uint8)


def ours(what, folder, epochs):
    import mindspore.dataset as ds
    from mindspore.dataset import vision as V
    scaled = [[255 * v for v in values] for values in (MEAN, STD)]
    if what == 'cifar':
        d = ds.NumpySlicesDataset({'image': cifar(), 'label': np.zeros(50000, np.int32)}, shuffle=True)
        first = [V.RandomCrop(32, 4), V.RandomHorizontalFlip()]
    else:
        d = ds.ImageFolderDataset(folder, shuffle=what == 'train')
        first = ([V.RandomCropDecodeResize(224), V.RandomHorizontalFlip()] if what == 'train' else
                 [V.Decode(), V.Resize(256), V.CenterCrop(224)])
    d = d.map(first + [V.Normalize(*scaled), V.HWC2CHW()], 'image', num_parallel_workers=2)
    d = d.batch(128 if what == 'cifar' else 64, True)
    it = d.create_tuple_iterator(num_epochs=epochs)
    for _ in range(epochs):
        yield sum(len(batch[0]) for batch in it)


def torch(what, folder, epochs):
    import torch as pt
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2
    last = [v2.ToDtype(pt.float32, scale=True), v2.Normalize(MEAN, STD)]
    if what == 'cifar':
        images, transform = cifar(), v2.Compose([v2.ToImage(), v2.RandomCrop(32, 4), v2.RandomHorizontalFlip()] + last)

        class Memory(pt.utils.data.Dataset):
            def __len__(self):
                return len(images)

            def __getitem__(self, i):
                return transform(images[i]), 0
        d = Memory()
    else:
        first = ([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip()] if what == 'train' else
                 [v2.Resize(256), v2.CenterCrop(224)])
        d = ImageFolder(folder, v2.Compose(first + [v2.ToImage()] + last))
    loader = pt.utils.data.DataLoader(d, 128 if what == 'cifar' else 64, what != 'val', num_workers=2, drop_last=True,
                                      persistent_workers=True)
    for _ in range(epochs):
        yield sum(len(batch[0]) for batch in loader)


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        make(sys.argv[2])
    else:
        run = {'ours': ours, 'torch': torch}[sys.argv[1]]
        epochs = {('ours', 'cifar'): 5, ('torch', 'cifar'): 2}.get(tuple(sys.argv[1:3]), 16 if sys.argv[1] == 'ours' else 6)
        start, n = None, 0
        for count in run(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None, epochs):
            n, start = (n + count, start) if start else (0, time.perf_counter())  # the first epoch warms up
        print(f'{sys.argv[1]} {sys.argv[2]}: {n / (time.perf_counter() - start):.0f} images/s')
