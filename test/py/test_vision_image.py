"""Decoding, resizing, warping and colours: against Pillow where it defines the answer, else by what must hold."""
import io

import numpy as np
import pytest

import mindspore.dataset.transforms as T
import mindspore.dataset.vision as V

Image = pytest.importorskip('PIL.Image')


def photo(h=60, w=80, seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:h, 0:w]
    planes = [128 + 80 * np.sin(x / 17 + k) + 40 * np.cos(y / 13 - k) + 5 * rng.standard_normal((h, w)) for k in range(3)]
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)


def encode(image, fmt, **options):
    b = io.BytesIO()
    Image.fromarray(image).save(b, fmt, **options) if isinstance(image, np.ndarray) else image.save(b, fmt, **options)
    return np.frombuffer(b.getvalue(), np.uint8)


@pytest.mark.parametrize('fmt,options', [('PNG', {}), ('BMP', {}), ('WEBP', {'lossless': True})])
def test_lossless_formats(fmt, options):
    a = photo()
    assert (V.Decode()(encode(a, fmt, **options)) == a).all()


@pytest.mark.parametrize('options', [{}, {'subsampling': 0}, {'progressive': True}])
def test_jpeg_is_what_pillow_decodes(options):
    data = encode(photo(), 'JPEG', **options)
    want = np.array(Image.open(io.BytesIO(data.tobytes())))
    assert abs(V.Decode()(data).astype(int) - want).max() <= 2


def test_colour_spaces_become_rgb():
    grey, a = photo()[:, :, 0], photo()
    for fmt in ('JPEG', 'PNG', 'BMP'):
        y = V.Decode()(encode(grey, fmt))
        assert y.shape == (60, 80, 3) and (y[..., 0] == y[..., 2]).all()
    palette = Image.fromarray(a).quantize(16)
    for fmt in ('PNG', 'BMP'):
        assert (V.Decode()(encode(palette, fmt)) == np.array(palette.convert('RGB'))).all()
    assert V.Decode()(encode(Image.fromarray(a).convert('CMYK'), 'JPEG')).shape == (60, 80, 3)
    rgba = Image.fromarray(a).convert('RGBA')
    assert (V.Decode()(encode(rgba, 'PNG')) == a).all()
    wide = Image.fromarray(grey.astype(np.uint16) * 257)
    assert (V.Decode()(encode(wide, 'PNG'))[..., 0] == grey).all()


@pytest.mark.parametrize('fmt', ['JPEG', 'PNG', 'BMP', 'WEBP'])
def test_damaged_images_are_errors(fmt):
    data = encode(photo(), fmt)
    for n in (1, 4, 20, 60, len(data) // 2):
        with pytest.raises(RuntimeError, match='Decode'):
            V.Decode()(data[:n].copy())
    rng = np.random.default_rng(1)
    for _ in range(60):
        bad = data.copy()
        bad[rng.integers(0, len(bad), 8)] = rng.integers(0, 256, 8)
        try:
            V.Decode()(bad)
        except RuntimeError as e:
            assert 'Decode' in str(e)


def test_bytes_that_are_no_image():
    with pytest.raises(RuntimeError, match='not an image'):
        V.Decode()(np.arange(200, dtype=np.uint8))
    with pytest.raises(TypeError):
        V.Decode()(photo())


def test_write_and_read(tmp_path):
    a = photo()
    V.write_png(str(tmp_path / 'a.png'), a)
    assert (V.read_image(str(tmp_path / 'a.png')) == a).all()
    V.write_jpeg(str(tmp_path / 'a.jpg'), a, 95)
    assert abs(V.read_image(str(tmp_path / 'a.jpg')).astype(int) - a).mean() < 4
    with pytest.raises(RuntimeError):
        V.write_png(str(tmp_path / 'none' / 'a.png'), a)
    with pytest.raises(RuntimeError, match='UINT8'):
        V.write_png(str(tmp_path / 'b.png'), a.astype(np.float32))


@pytest.mark.parametrize('inter', list(V.Inter))
@pytest.mark.parametrize('size', [(30, 41), (90, 100), 33])
def test_resize_keeps_a_linear_ramp(inter, size):
    ramp = np.repeat(np.linspace(0, 250, 80).astype(np.uint8)[None, :, None], 60, 0).repeat(3, 2)
    y = V.Resize(size, inter)(ramp)
    assert (np.diff(y[:, 4:-4, 0].astype(int), axis=1) >= 0).all()
    assert abs(y.mean() - ramp.mean()) < 5
    flat = V.Resize(size, inter)(np.full((60, 80, 3), 77, np.uint8))
    assert (flat == 77).all()


@pytest.mark.parametrize('inter,ours', [(3, V.Inter.PILCUBIC), (1, V.Inter.ANTIALIAS)])
def test_resize_as_pillow(inter, ours):
    a = photo()
    for size in ((20, 30), (100, 90)):
        want = np.array(Image.fromarray(a).resize(size[::-1], inter))
        assert abs(V.Resize(size, ours)(a).astype(int) - want).max() <= 1


def test_resize_of_floats_and_one_channel():
    x = photo().astype(np.float32)
    assert V.Resize((30, 40))(x).dtype == np.float32
    assert V.Resize((30, 40))(x[:, :, 0]).shape == (30, 40)
    assert V.Resize((30, 40), V.Inter.AREA)(x)[0, 0, 0] == pytest.approx(x[:2, :2, 0].mean(), rel=1e-5)


def test_colours_as_pillow():
    from PIL import ImageEnhance, ImageOps
    a = photo()
    im = Image.fromarray(a)
    for ours, theirs in ((V.AdjustBrightness(1.4), ImageEnhance.Brightness(im).enhance(1.4)),
                         (V.AdjustContrast(0.6), ImageEnhance.Contrast(im).enhance(0.6)),
                         (V.AdjustSaturation(1.7), ImageEnhance.Color(im).enhance(1.7)),
                         (V.AdjustSharpness(1.9), ImageEnhance.Sharpness(im).enhance(1.9)),
                         (V.Invert(), ImageOps.invert(im)),
                         (V.AutoContrast(5.0), ImageOps.autocontrast(im, 5)), (V.Posterize(3), ImageOps.posterize(im, 3)),
                         (V.Solarize((100, 255)), ImageOps.solarize(im, 100))):
        assert abs(ours(a).astype(int) - np.array(theirs)).max() <= 2, type(ours)
    assert (np.array(V.Equalize()(im)) == np.array(ImageOps.equalize(im))).all()


def test_hue_turns_and_returns():
    red = np.zeros((2, 2, 3), np.uint8)
    red[..., 0] = 200
    assert (V.AdjustHue(1 / 3)(red)[0, 0] == [0, 200, 0]).all()
    assert abs(V.AdjustHue(0.0)(photo()).astype(int) - photo()).max() <= 6  # through hue and saturation of 8 bits


def test_rotations():
    a = photo(41, 41)
    assert (V.Rotate(90)(a) == np.rot90(a)).all()
    assert V.Rotate(90, expand=True)(photo(20, 40)).shape == (40, 20, 3)
    assert (V.Affine(0, [0, 0], 1.0, 0)(a) == a).all()
    moved = V.RandomAffine(0, translate=(0.5, 0.5, 0, 0), fill_value=9)(photo(40, 40))
    assert (moved[:, :20] == 9).all() and (moved[:, 20:] == photo(40, 40)[:, :20]).all()
    corners = [[0, 0], [40, 0], [40, 40], [0, 40]]
    assert (V.Perspective(corners, corners)(a) == a).all()
    with pytest.raises(RuntimeError, match='line'):
        V.Perspective(corners, [[0, 0]] * 4)(a)


def test_erasing():
    x = np.ones((3, 32, 32), np.float32)
    y = V.RandomErasing(1.0, value=7)(x)
    assert (x == 1).all() and (y == 7).any()
    noise = V.RandomErasing(1.0, value='random')(x)
    assert len(np.unique(noise)) > 20
    assert (V.CutOut(8, 2)(photo()) == 0).all(-1).any()


@pytest.mark.parametrize('op', [V.RandAugment(), V.AutoAugment(), V.AutoAugment(V.AutoAugmentPolicy.CIFAR10),
                                V.AutoAugment(V.AutoAugmentPolicy.SVHN), V.TrivialAugmentWide(),
                                V.UniformAugment([V.Invert(), V.Equalize(), V.RandomColor()]),
                                V.RandomSelectSubpolicy([[(V.Invert(), 0.5), (V.Equalize(), 1)], [(V.AutoContrast(), 1)]]),
                                V.RandomColorAdjust(0.4, 0.4, 0.4, 0.1), V.RandomPerspective(prob=1.0), V.RandomLighting(),
                                V.GaussianBlur(5), V.RandomRotation(20), V.RandomGrayscale(0.5)],
                         ids=lambda op: type(op).__name__)
def test_policies_give_images(op):
    for _ in range(5):
        y = op(photo())
        assert y.shape == (60, 80, 3) and y.dtype == np.uint8
    stays = isinstance(op, (V.UniformAugment, V.RandomColorAdjust, V.RandomPerspective, V.RandomLighting, V.RandomRotation,
                            V.RandomGrayscale))
    assert isinstance(op(Image.fromarray(photo())), Image.Image if stays else np.ndarray)


@pytest.mark.parametrize('dtype', ['int8', 'uint16', 'int16', 'int32', 'float16', 'float32', 'float64', 'bool'])
def test_every_type_of_image(dtype):
    x = (photo() % 100).astype(dtype)
    for op in (V.AdjustBrightness(2), V.HorizontalFlip(), V.CenterCrop(9), V.Pad(1), V.Rotate(90)):
        assert op(x).dtype == dtype
    y = V.AdjustBrightness(2)(x)
    want = x if dtype == 'bool' else np.minimum(x.astype(float) * 2, 127 if dtype == 'int8' else np.inf).astype(dtype)
    assert (y == want).all()


def test_batches_of_images():
    x = np.stack([photo(seed=k) for k in range(3)])
    for op in (V.HorizontalFlip(), V.VerticalFlip(), V.CenterCrop(20), V.Resize((10, 12)), V.Rotate(30.0),
               V.Normalize([1., 2., 3.], [4., 5., 6.])):
        assert (op(x) == np.stack([op(frame) for frame in x])).all()
    same = np.stack([photo()] * 4)[None]
    y = V.RandomCrop(20)(same)
    assert y.shape == (1, 4, 20, 20, 3) and (y == y[:, :1]).all()  # one place for all


@pytest.mark.parametrize('call,text', [
    (lambda: V.AdjustContrast(2)(photo().astype(np.int16)), 'AdjustContrast: the data type of image tensor does not match the '
     'requirement of operator. Expecting tensor in type of (uint8, uint16, float32). But got type int16.'),
    (lambda: V.Solarize(5)(photo()[0, 0]), 'Solarize: the dimension of image tensor does not match the requirement of operator. '
     'Expecting tensor in dimension of (2, 3), in shape of <H, W> or <H, W, C>. But got dimension 1. You may need to perform '
     'Decode first.'),
    (lambda: V.RandomCrop(5)(np.zeros((9, 9, 5), np.uint8)), 'RandomCrop: the channel of image tensor does not match the '
     'requirement of operator. Expecting tensor in channel of (1, 3). But got channel 5.'),
    (lambda: V.HorizontalFlip()(np.zeros(3)), 'HorizontalFlip: the image tensor should have at least two dimensions. You may '
     'need to perform Decode first.'),
    (lambda: V.ToTensor()(np.zeros((3, 3), np.int64)), 'ToTensor: Input includes unsupported data type in [uint32, int64, '
     'uint64, string, bytes].'),
    (lambda: V.GaussianBlur(3)(np.zeros((1, 1, 2, 2))), 'GaussianBlur: input tensor is not in shape of <H,W> or <H,W,C>, but '
     'got rank: 4'),
])
def test_what_is_no_image(call, text):
    with pytest.raises(RuntimeError) as e:
        call()
    assert str(e.value) == text


def test_wrong_arguments():
    for make in (lambda: V.AdjustHue(2), lambda: V.RandomRotation(-1), lambda: V.GaussianBlur(4), lambda: V.Posterize(9),
                 lambda: V.RandomErasing(scale=(0.5, 0.1)), lambda: V.RandomResizedCrop(0), lambda: V.RandAugment(2, 40)):
        with pytest.raises(ValueError):
            make()
    for make in (lambda: V.RandomColorAdjust('a'), lambda: V.Decode(1), lambda: V.AutoAugment('imagenet')):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(RuntimeError, match='AdjustContrast'):
        V.AdjustContrast(1.5)(np.zeros((4, 4), np.uint8))


def test_compose_of_arrays_and_of_images_of_pil():
    """An image of PIL, or a transform that makes one, gives a tuple; a function between others gets arrays."""
    steps = T.Compose([V.Resize((20, 30)), V.CenterCrop(12)])
    image, = steps(Image.fromarray(photo()))
    assert isinstance(image, Image.Image) and image.size == (12, 12) and steps(photo()).shape == (12, 12, 3)
    tensor, = T.Compose([V.ToPIL(), V.Resize(16), V.ToTensor()])(photo())
    assert tensor.shape == (3, 16, 21)
    seen = []
    T.Compose([lambda x: Image.fromarray(x), lambda x: seen.append(type(x)) or x])(photo())
    assert seen == [np.ndarray]
    always = T.RandomApply([V.Resize((5, 6))], 1.0)(Image.fromarray(photo()))
    assert (np.asarray(always) == np.asarray(V.Resize((5, 6))(Image.fromarray(photo())))).all()


def linear_taps(n, m):
    at = ((np.arange(m) + 0.5) * (n / m) - 0.5).astype(np.float32)
    first = np.floor(at).astype(int)
    t = np.where((first < 0) | (first >= n - 1), np.float32(0), at - first.astype(np.float32))
    first = first.clip(0, n - 1)
    weights = [np.rint(v * np.float32(2048)).astype(int) for v in (np.float32(1) - t, t)]
    return first, (first + 1).clip(0, n - 1), *weights


@pytest.mark.parametrize('size', [(1, 1, 4, 3), (2, 1, 5, 3), (3, 2, 8, 9), (5, 7, 3, 4), (20, 30, 41, 37), (50, 41, 33, 27)])
@pytest.mark.parametrize('channels', [1, 3, 4])
def test_linear_resizing_is_11_bit_fixed_point(size, channels):
    h, w, out_h, out_w = size
    x = np.random.default_rng(h).integers(0, 256, (h, w, channels)).astype(np.uint8)
    left, right, p, q = linear_taps(w, out_w)
    lines = (x[:, left] * p[:, None] + x[:, right] * q[:, None]) >> 4
    up, down, p, q = linear_taps(h, out_h)
    expected = ((lines[up] * p[:, None, None] >> 16) + (lines[down] * q[:, None, None] >> 16) + 2) >> 2
    np.testing.assert_array_equal(V.Resize((out_h, out_w), V.Inter.LINEAR)(x), expected)


@pytest.mark.parametrize('call, kind, text', [
    (lambda: V.RandomCrop([70, 41])(Image.fromarray(photo())), ValueError, r'Crop size \[70, 41\] is larger than'),
    (lambda: V.PadToSize((5, 5))(photo()), RuntimeError, 'target size to pad should be no less than the original image size'),
    (lambda: V.PadToSize((70, 90), 20)(photo()), RuntimeError, 'sum of offset and original image size should be no more than'),
    (lambda: V.TrivialAugmentWide()(photo()[:, :, :1]), RuntimeError, 'the channel of image tensor does not match'),
    (lambda: V.TrivialAugmentWide()(photo()[:, :, 0]), RuntimeError, 'the dimension of image tensor does not match'),
    (lambda: V.Resize((0, 5)), ValueError, r'Input size at dim 0 is not within the required interval of \[1, 2147483647\]'),
    (lambda: V.PadToSize(100)(np.zeros((9, 9, 4))), RuntimeError, r'Expecting tensor in channel of \(1, 3\)'),
    (lambda: V.PadToSize(100)(np.zeros(9)), RuntimeError, r'Expecting tensor in dimension of \(2, 3\)'),
    (lambda: V.RandomPosterize((1, 1, 1)), TypeError, 'Size of bits should be a single integer'),
    (lambda: V.RandomPosterize((8, 1)), ValueError, r'Input is not within the required interval of \[1, 8\]'),
    (lambda: V.ResizeWithBBox((5, 5), None), KeyError, 'Interpolation should not be None'),
    (lambda: T.Concatenate(0)(photo()), RuntimeError, 'only 1D input supported')])
def test_texts_of_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_a_grey_image_of_pil_stays_grey():
    grey = Image.fromarray(photo()[:, :, 0])
    assert V.RandomGrayscale(1.0)(grey) is grey


def test_rescale_rounds_once():
    x = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    scale, shift = np.float32(1 / 255), np.float32(-0.5)
    once = (x * np.float64(scale) + np.float64(shift)).astype(np.float32)
    np.testing.assert_array_equal(V.Rescale(1 / 255, -0.5)(x), once)
    np.testing.assert_array_equal(V.Rescale(1 / 255, -0.5)(x.astype(np.float32)), once)


def test_to_tensor_of_an_image_of_pil_divides():
    x = photo()
    for image, planes in ((x, x.transpose(2, 0, 1)), (x[:, :, 0], x[None, :, :, 0])):
        np.testing.assert_array_equal(V.ToTensor()(Image.fromarray(image)), planes.astype(np.float32) / np.float32(255))
    assert V.ToTensor(np.int32)(Image.fromarray(x)).dtype == np.int32


def test_calls_that_no_image_answers():
    image = np.zeros((20, 30, 3), np.uint8)
    for op in (V.CenterCrop(4), V.Crop((0, 0), 4), V.HorizontalFlip(), V.Resize(4), V.TrivialAugmentWide(), V.RandomCrop(4)):
        with pytest.raises(RuntimeError, match='Input Tensor is not valid'):
            op()
    for op in (V.ConvertColor(V.ConvertMode.COLOR_RGB2BGR), V.SlicePatches(), V.PadToSize(40), V.RgbToHsv(), V.MixUpBatch(),
               V.LinearTransformation(np.eye(3), np.zeros(3))):
        with pytest.raises(TypeError, match='NumPy .*[gG]ot .*list'):
            op([1, 2], [3, 4]) if isinstance(op, V.MixUpBatch) else op([1, 2])
    for bad, says in ((image[:, :, 0], 'rank: 2'), (image[:, :, :1], 'channel'), (image[:2], 'too large')):
        with pytest.raises(RuntimeError, match=f'Erase.*{says}'):
            V.Erase(0, 0, 3, 4)(bad)
    with pytest.raises(RuntimeError, match='CutOut: shape is invalid'):
        V.CutOut(3)(image[:, :, 0])
    for bad, says in (('x', 'numpy.ndarray'), (np.array(['x']), 'str_'), (image, 'array dimensions')):
        with pytest.raises(TypeError, match=f'{says}'):
            V.Decode()(bad)
    with pytest.raises(ValueError, match='Failed to decode'):
        V.Decode(to_pil=True)(np.zeros(9, np.uint8))
    for call in (lambda: V.encode_jpeg(image, 0), lambda: V.encode_png(image, 10), lambda: V.encode_png(image[:, :, :2])):
        with pytest.raises(RuntimeError, match='Encode(Jpeg|Png): '):
            call()


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path):
    resource = pytest.importorskip('resource')
    image, limits = np.random.RandomState(1).randint(0, 256, (200, 200, 3)).astype(np.uint8), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, limits[1]))
    try:
        for write in (V.write_jpeg, V.write_png, lambda name, x: V.write_file(name, x.ravel())):
            with pytest.raises(RuntimeError, match='(?i)write'):
                write(str(tmp_path / 'x'), image)
            assert not list(tmp_path.iterdir())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    for write in (V.write_jpeg, V.write_png, lambda name, x: V.write_file(name, x.ravel())):
        with pytest.raises(RuntimeError, match='not a regular file'):
            write('/dev/null', image)


def test_what_the_original_refuses_of_pil_images_and_points():
    for inter in (V.Inter.AREA, V.Inter.PILCUBIC):
        with pytest.raises(TypeError, match='not supported with PIL'):
            V.Resize(5, inter)(Image.new('RGB', (9, 9)))
    with pytest.raises(TypeError, match=r'start_points\[0\] with value 2'):
        V.Perspective([2, 1, 3], [1, 2, 3])


def test_colours_at_random_need_colours():
    op = V.RandomColorAdjust(contrast=(0.5, 0.6))
    with pytest.raises(RuntimeError, match=r'channel of \(3\)'):
        op(np.zeros((9, 9, 1), np.uint8))
    with pytest.raises(RuntimeError, match=r'AdjustContrast.*\(uint8, uint16, float32\)'):
        op(np.zeros((9, 9, 3)))
    assert op(Image.new('L', (9, 9))).mode == 'L'
    with pytest.raises(RuntimeError, match='HorizontalFlip: the data type of image tensor'):
        V.HorizontalFlip()(np.array(['a']))
    with pytest.raises(ValueError, match=r'ratio\[1\] .* \(0, 16777216\]'):
        V.RandomCropDecodeResize(9, (1, 1), (0.5, -1))
    assert [x.shape for x in V.RandomResize(5)(np.zeros((9, 9), np.uint8), np.ones((9, 9), np.uint8))] == [(5, 5)] * 2
