"""What transforms of images and sound say about arguments they refuse: kinds and texts as the original gives them."""
import numpy as np
import pytest

import mindspore.dataset as ds
import mindspore.dataset.audio as A
import mindspore.dataset.transforms as T
import mindspore.dataset.vision as V
from mindspore.dataset.vision import Border, Inter

FLOATS = "[<class 'float'>, <class 'int'>]"
INTS = "[<class 'int'>, <class 'float'>]"


@pytest.mark.parametrize('call,kind,text', [
    (lambda: V.AdjustBrightness('a'), TypeError,
     f"Argument brightness_factor with value a is not of type {FLOATS}, but got <class 'str'>."),
    (lambda: V.AdjustBrightness(True), TypeError, 'Argument brightness_factor with value True is not of type '
     "(<class 'float'>, <class 'int'>), but got <class 'bool'>."),
    (lambda: A.Magphase('a'), TypeError, f"Argument power with value a is not of type {INTS}, but got <class 'str'>."),
    (lambda: A.Spectrogram(n_fft=False), TypeError,
     "Argument n_fft with value False is not of type (<class 'int'>,), but got <class 'bool'>."),
    (lambda: V.CenterCrop((0, 3)), ValueError, 'Input is not within the required interval of [1, 16777216].'),
    (lambda: V.Resize('a'), TypeError, 'Size should be a single integer or a list/tuple (h, w) of length 2.'),
    (lambda: V.Pad(1, (1, 2)), TypeError, 'fill_value should be a single integer or a 3-tuple.'),
    (lambda: V.PadToSize(()), ValueError, 'The size must be a sequence of length 2.'),
    (lambda: V.PadToSize(3, (-1, 1)), ValueError, 'Input offset0 is not within the required interval of [0, 2147483647].'),
    (lambda: V.RandomSolarize((9, 1)), ValueError, 'threshold must be in min max format numbers.'),
    (lambda: V.Solarize([9, 1]), ValueError, 'threshold must be in order of (min, max).'),
    (lambda: V.RandomColorAdjust(hue=(1,)), TypeError, 'If hue is a sequence, the length must be 2.'),
    (lambda: V.Rotate(1, center=[1, 2]), ValueError, 'Value center needs to be a 2-tuple.'),
    (lambda: V.RandAugment(magnitude=-1), ValueError, 'Input magnitude is not within the required interval of [0, 31).'),
    (lambda: V.Erase(0, 0, 1, 1, (1, 2)), TypeError, 'value should be a single integer/float or a 3-tuple.'),
    (lambda: V.NormalizePad([1.], [1.], 1), TypeError, 'dtype should be string.'),
    (lambda: V.RandomPerspective(1), TypeError,
     "Argument distortion_scale with value 1 is not of type [<class 'float'>], but got <class 'int'>."),
    (lambda: T.RandomApply(3), TypeError,
     "Argument transforms list with value 3 is not of type [<class 'list'>], but got <class 'int'>."),
    (lambda: T.OneHot(0), ValueError, 'Input must be greater than 0.'),
    (lambda: T.PadEnd([1.5]), TypeError, 'a value in the list is not an integer.'),
])
def test_texts(call, kind, text):
    with pytest.raises(kind) as e:
        call()
    assert str(e.value) == text


def test_none_is_the_default():
    image = np.arange(75, dtype=np.uint8).reshape(5, 5, 3)
    assert (V.RandomCrop(5, fill_value=None, padding_mode=None)(image) == image).all()
    assert V.RandomResizedCrop(3, max_attempts=None)(image).shape == (3, 3, 3)
    assert (V.AdjustGamma(1.0, None)(image) == image).all()
    assert V.Pad(1, 0, Border.EDGE)(image).shape == (7, 7, 3) and V.Rotate(90, Inter.NEAREST)(image).shape == (5, 5, 3)


def test_arguments_that_only_worker_processes_use_are_checked():
    d = ds.NumpySlicesDataset({'x': np.arange(4)})
    for make in (lambda v: d.map(abs, 'x', max_rowsize=v), lambda v: d.batch(2, max_rowsize=v),
                 lambda v: ds.GeneratorDataset([1, 2], ['x'], max_rowsize=v)):
        make(-1)
        for bad, error in ((-2, ValueError), (2 ** 40, ValueError), (1.5, TypeError), ('x', TypeError), ([1], TypeError), (True, TypeError)):
            with pytest.raises(error, match='max_rowsize'):
                make(bad)
    d.map(abs, 'x', max_rowsize=[1, 2])
    for call in (lambda: d.map(abs, 'x', python_multiprocessing=0), lambda: d.batch(2, python_multiprocessing=None),
                 lambda: d.map(abs, 'x', offload='x')):
        with pytest.raises(TypeError, match='bool'):
            call()
    with pytest.raises(ValueError, match='only when per_batch_map'):
        d.batch(2, input_columns=['x'])
    with pytest.raises(ValueError, match='missing parentheses'):
        d.map(T.Unique, 'x')
    with pytest.raises(ValueError, match='should be callable'):
        d.map([abs, 3], 'x')
    with pytest.raises(ValueError, match='null'):
        d.rename('x', 'a\0b')
    with pytest.raises(RuntimeError, match='num_parallel_workers exceeds'):
        ds.config.set_num_parallel_workers(2 ** 30)
