"""Images with boxes, colour spaces, patches, encoders; values recorded from the original where it has fixed ones."""
import numpy as np
import pytest

import mindspore.dataset as ds
import mindspore.dataset.vision as V

IMAGE = (np.arange(10 * 8 * 3).reshape(10, 8, 3) % 251).astype(np.uint8)
BOXES = np.array([[1, 1, 2, 3, 9]], np.float32)


@pytest.mark.parametrize('op, size, box', [
    (V.RandomHorizontalFlipWithBBox(1.0), (10, 8), [5, 1, 2, 3, 9]), (V.RandomVerticalFlipWithBBox(1.0), (10, 8), [1, 6, 2, 3, 9]),
    (V.RandomHorizontalFlipWithBBox(0.0), (10, 8), [1, 1, 2, 3, 9]), (V.ResizeWithBBox((20, 24)), (20, 24), [3, 2, 6, 6, 9]),
    (V.RandomResizeWithBBox((5, 4)), (5, 4), [.5, .5, 1, 1.5, 9]), (V.RandomCropWithBBox((10, 8)), (10, 8), [1, 1, 2, 3, 9]),
    (V.RandomCropWithBBox((14, 12), padding=2), (14, 12), [3, 3, 2, 3, 9]),
    (V.RandomCropWithBBox((12, 8), pad_if_needed=True), None, None),
    (V.RandomResizedCropWithBBox((5, 4), (1., 1.), (.8, .8)), (5, 4), [.5, .5, 1, 1.5, 9])])
def test_boxes_follow_the_image(op, size, box):
    d = ds.GeneratorDataset([(IMAGE, BOXES)], ['image', 'boxes'], shuffle=False).map(op, ['image', 'boxes'])
    image, boxes = next(d.create_tuple_iterator(output_numpy=True))
    assert boxes.dtype == np.float32 and BOXES.tolist() == [[1, 1, 2, 3, 9]]
    if size:
        assert image.shape == (*size, 3) and boxes.tolist() == [box]
    else:
        x, y, w, h = boxes[0, :4].astype(int)
        assert (image[y:y + h, x:x + w] == IMAGE[1:4, 1:3]).all()


def test_crops_cut_boxes():
    many = np.array([[0, 0, 8, 10], [0, 0, 1, 1]], np.float32)
    np.random.seed(0)
    for _ in range(20):
        image, boxes = V.RandomCropWithBBox((4, 4))(IMAGE, many)
        assert image.shape == (4, 4, 3) and boxes[0].tolist() == [0, 0, 4, 4]
        assert len(boxes) == 1 or (image[0, 0] == IMAGE[0, 0]).all()
    far, gone = V.RandomCropWithBBox((10, 8))(IMAGE, np.array([[2, 2, 0, 0]]))
    assert gone.tolist() == [[0, 0, 0, 0]]
    inside, _ = V.BoundingBoxAugment(V.Invert(), 1.0)(IMAGE, BOXES)
    assert (inside[1:4, 1:3] == 255 - IMAGE[1:4, 1:3]).all() and (inside != IMAGE).any(-1).sum() == 6


@pytest.mark.parametrize('boxes, says', [([[1, 1, 9, 1]], 'out of bounds'), ([[-1, 1, 2, 1]], 'negative value'),
                                         ([1, 1, 2, 2], 'two-dimensional'), ([[1, 1, 2]], 'at least 4 features')])
def test_bad_boxes(boxes, says):
    for op in (V.ResizeWithBBox(4), V.RandomVerticalFlipWithBBox()):
        with pytest.raises(RuntimeError, match=says):
            op(IMAGE, np.array(boxes, np.float32))


def test_colours():
    a = (np.arange(12).reshape(2, 2, 3) * 7).astype(np.uint8)

    def to(mode, image=a):
        y = V.ConvertColor(getattr(V.ConvertMode, 'COLOR_' + mode))(image)
        return y.shape, y.ravel()[:8].tolist()
    assert to('BGR2BGRA') == ((2, 2, 4), [0, 7, 14, 255, 21, 28, 35, 255])
    assert to('RGB2BGRA') == ((2, 2, 4), [14, 7, 0, 255, 35, 28, 21, 255])
    assert to('BGR2RGB') == ((2, 2, 3), [14, 7, 0, 35, 28, 21, 56, 49])
    assert to('BGR2GRAY') == ((2, 2), [8, 29, 50, 71]) and to('RGB2GRAY') == ((2, 2), [6, 27, 48, 69])
    assert to('GRAY2RGBA', a[..., 1]) == ((2, 2, 4), [7, 7, 7, 255, 28, 28, 28, 255])
    four = (np.arange(16).reshape(2, 2, 4) * 7).astype(np.uint8)
    assert to('BGRA2RGBA', four)[1] == [14, 7, 0, 21, 42, 35, 28, 49] and to('RGBA2GRAY', four)[1] == [6, 34, 62, 90]
    with pytest.raises(RuntimeError, match='COLOR_GRAY2BGR does not take an image of 3 channels'):
        to('GRAY2BGR')
    hsv = V.RgbToHsv(is_hwc=True)(np.array([[[9, 12, 15], [3, 3, 3]]], np.uint8))
    np.testing.assert_allclose(hsv, [[[7 / 12, .4, 15], [0, 0, 3]]])
    image = np.random.default_rng(0).random((2, 3, 5, 4))
    np.testing.assert_allclose(V.HsvToRgb()(V.RgbToHsv()(image)), image, atol=1e-12)


def test_patches():
    p = V.SlicePatches(3, 4, V.SliceMode.PAD, 7)(IMAGE)
    assert len(p) == 12 and p[0].shape == (4, 2, 3) and (p[-1][2:] == 7).all() and (p[-1][:2] == IMAGE[8:, 6:]).all()
    assert [x.shape for x in V.SlicePatches(3, 2, V.SliceMode.DROP)(IMAGE)] == [(3, 4, 3)] * 6
    d = ds.GeneratorDataset([IMAGE], ['image'], shuffle=False).map(V.SlicePatches(1, 2), 'image', ['a', 'b'])
    assert [c.shape for c in next(d.create_tuple_iterator(output_numpy=True))] == [(10, 4, 3)] * 2
    with pytest.raises(RuntimeError, match='no 11 x 1 patches'):
        V.SlicePatches(11)(IMAGE)


def test_encoders():
    assert (V.Decode()(V.encode_png(IMAGE, 9)) == IMAGE).all()
    smooth = np.full((16, 16, 3), 100, np.uint8)
    assert abs(V.Decode()(V.encode_jpeg(smooth, 95)).astype(int) - 100).max() <= 2
    for bad in (IMAGE.astype(np.float32), IMAGE[:, :, :2]):
        with pytest.raises(RuntimeError, match='EncodeJpeg'):
            V.encode_jpeg(bad)


def test_no_video():
    for f in (V.read_video, V.DecodeVideo):
        with pytest.raises(NotImplementedError, match='Videos'):
            f('a.mp4')


def test_resized_boxes_are_float32_products():
    image, boxes = np.zeros((9, 13, 3), np.uint8), np.array([[1.7, 2.3, 5.1, 3.9]], np.float32)
    _, y = V.ResizeWithBBox((100, 77))(image, boxes)
    np.testing.assert_array_equal(y, boxes * np.array([77 / 13, 100 / 9] * 2, np.float32))
