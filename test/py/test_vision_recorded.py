"""Transforms without chance against results that were recorded from the original: dtype, shape and a checksum of the values.
data/vision.json maps an expression to them; record() is how it was made. Where a rounding differs data/vision.npz has the
values themselves, and 1 of 255 or 1e-6 is allowed."""
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
VALUES = np.load(FILE.replace('.json', '.npz'))
DEFECT = 'V.NormalizePad([120.0, 110.0, 100.0], [50.0, 60.0, 70.0], "float16")'  # the original pads the shape alone


def inputs():
    y, x = np.mgrid[0:23, 0:31]
    rgb = np.stack([(x * 37 + y * 11) % 256, (x * x + y * 29) % 256, (x * 4 + y * 3) % 256], -1).astype(np.uint8)
    return {'rgb': rgb, 'grey': rgb[:, :, 0].copy(), 'chw': rgb.transpose(2, 0, 1).copy(),
            'float': (rgb / 255).astype(np.float32), 'line': np.arange(6), 'table': np.arange(12).reshape(3, 4)}


def arrays(expression, value):
    y = eval(expression)(value)
    return list(map(np.asarray, y if isinstance(y, (tuple, list)) else (y,)))


def described(a):
    return [str(a.dtype), list(a.shape), zlib.crc32(np.ascontiguousarray(a).tobytes())]


def record(cases):
    """{expression: input} to what the file holds; run with the original in place of this package."""
    return {e: [name, [described(a) for a in arrays(e, inputs()[name])]] for e, name in cases.items()}


with open(FILE, encoding='utf-8') as f:
    RECORDED = json.load(f)


@pytest.mark.parametrize('expression', RECORDED)
def test_recorded(expression):
    name, expected = RECORDED[expression]
    for got, want in zip(arrays(expression, inputs()[name]), expected, strict=True):
        assert described(got)[:2] == want[:2]
        if want[2] is not None:
            assert described(got)[2] == want[2]
        elif expression != DEFECT:
            np.testing.assert_allclose(got.astype(float), VALUES[expression].astype(float), 0,
                                       1 if got.dtype == np.uint8 else 1e-6)
