"""Transforms without chance against results that were recorded from the original: dtype, shape and, where both agree to the
bit, a checksum of the values. data/vision.json maps an expression to them; record() is how it was made."""
import json
import os
import zlib

import numpy as np
import pytest

import mindspore as ms  # noqa: F401 - for the expressions
import mindspore.dataset.transforms as T  # noqa: F401
import mindspore.dataset.vision as V  # noqa: F401
from mindspore.dataset.transforms import Relational as R  # noqa: F401
from mindspore.dataset.vision import Border as B, Inter as I  # noqa: F401

FILE = os.path.join(os.path.dirname(__file__), 'data', 'vision.json')


def inputs():
    y, x = np.mgrid[0:23, 0:31]
    rgb = np.stack([(x * 37 + y * 11) % 256, (x * x + y * 29) % 256, (x * 4 + y * 3) % 256], -1).astype(np.uint8)
    return {'rgb': rgb, 'grey': rgb[:, :, 0].copy(), 'chw': rgb.transpose(2, 0, 1).copy(),
            'float': (rgb / 255).astype(np.float32), 'line': np.arange(6), 'table': np.arange(12).reshape(3, 4)}


def result(expression, value):
    y = eval(expression)(value)
    return [[str(a.dtype), list(a.shape), zlib.crc32(np.ascontiguousarray(a).tobytes())]
            for a in map(np.asarray, y if isinstance(y, (tuple, list)) else (y,))]


def record(cases):
    """{expression: input} to what the file holds; run with the original in place of this package."""
    return {e: [name, result(e, inputs()[name])] for e, name in cases.items()}


with open(FILE, encoding='utf-8') as f:
    RECORDED = json.load(f)


@pytest.mark.parametrize('expression', RECORDED)
def test_recorded(expression):
    name, expected = RECORDED[expression]
    for got, want in zip(result(expression, inputs()[name]), expected, strict=True):
        assert got[:2] == want[:2]
        if want[2] is not None:
            assert got[2] == want[2]
