"""Columns of text: from numpy and Python through every kind of operation and back, padded only inside a batch."""
import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import transforms, vision

WORDS = ['a', 'größe', '', '日本語']


def words(**kw):
    return ds.NumpySlicesDataset({'s': WORDS, 'b': [b'x', b'y\x00z', b'', b'1234']}, shuffle=False, **kw)


def rows(d, numpy=True):
    return list(d.create_tuple_iterator(num_epochs=1, output_numpy=numpy))


@pytest.mark.parametrize('numpy', [True, False])
def test_single_texts_are_arrays_of_str_and_bytes(numpy):
    got = rows(words(), numpy)
    assert [r[0].item() for r in got] == WORDS
    assert [r[1].item() for r in got] == [b'x', b'y\x00z', b'', b'1234']
    assert got[1][0].shape == () and got[0][0].dtype.kind == 'U' and got[0][1].dtype.kind == 'S'
    assert words().output_types() == [np.dtype('U'), np.dtype('S')] and words().output_shapes() == [[], []]


def test_a_batch_is_as_wide_as_its_widest_text():
    (s, b), = rows(words().batch(4))
    assert s.tolist() == WORDS and b.tolist() == [b'x', b'y\x00z', b'', b'1234'] and s.dtype == '<U5'
    for order in ('repeat', 'skip'):
        assert rows(getattr(words(), order)(1).batch(2))[0][0].shape == (2,)
    (s, _), = rows(words().padded_batch(4, pad_info={}))
    assert s.tolist() == WORDS


def test_functions_get_and_give_text():
    got = rows(words().map(lambda s: np.array([str(s) + '!', 'ü']), 's').filter(lambda s: s[0] != '!', 's'))
    assert [r[0].tolist() for r in got] == [[w + '!', 'ü'] for w in WORDS if w]
    assert [r[0].item() for r in rows(words().map(lambda s: 'x' * len(str(s)), 's'))] == ['x' * len(w) for w in WORDS]


def test_arrays_of_text_pad_and_join():
    source = [(np.array(['a', 'bc']),), (np.array(['d']),)]
    d = ds.GeneratorDataset(source, ['s'], shuffle=False).padded_batch(2, pad_info={'s': ([3], '')})
    assert rows(d)[0][0].tolist() == [['a', 'bc', ''], ['d', '', '']]


def test_transforms_of_numbers_refuse_text():
    for op in (transforms.TypeCast(np.int32), transforms.Fill(1), vision.HorizontalFlip()):
        with pytest.raises(RuntimeError, match=type(op).__name__ + ': .*(text|string)'):
            rows(words().map(op, 's'))
    assert rows(words().map(transforms.Duplicate(), 's', ['s', 't']))[0][1].item() == 'a'
