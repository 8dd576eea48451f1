"""Checkpoint files: those of other writers, damage, kills, and loading into networks."""
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

import mindspore as ms
from mindspore import nn

DATA = pathlib.Path(__file__).parents[1] / "data" / "ckpt"


def net():
    return nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1))


@pytest.mark.parametrize("name,format", [("lenet_tiny.ckpt", "ckpt"), ("lenet_tiny.safetensors", "safetensors")])
def test_sample(name, format):
    want = np.load(DATA / "lenet_tiny.ckpt.npz")
    got = ms.load_checkpoint(str(DATA / name), format=format)
    assert set(got) == set(want.files)
    for key, value in got.items():
        assert isinstance(value, ms.Parameter)
        np.testing.assert_array_equal(value.asnumpy(), want[key])


def test_all_dtypes():
    got = ms.load_checkpoint(str(DATA / "dtypes.ckpt"))
    for key, dtype in dict(f32=ms.float32, f16=ms.float16, f64=ms.float64, i8=ms.int8, i16=ms.int16, i32=ms.int32, i64=ms.int64,
                           u8=ms.uint8, u16=ms.uint16, u32=ms.uint32, u64=ms.uint64, b=ms.bool_, bf16=ms.bfloat16).items():
        assert got[key].dtype == dtype and got[key].shape == (2, 3)
        want = np.arange(6) != 0 if key == "b" else np.arange(6)
        np.testing.assert_array_equal(np.array(got[key].tolist()).ravel(), want)
    assert got["scalar"].shape == () and got["scalar"].item() == 3.5
    assert got["epoch"].item() == 3 and got["flag"].item() is True and got["note"] == "hello"
    assert got["lr"].item() == pytest.approx(0.1)


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_round_trip(tmp_path, format):
    a, b = net(), net()
    path = str(tmp_path / "net")
    ms.save_checkpoint(a, path, format=format)
    file = path + "." + format
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o400
    assert os.listdir(tmp_path) == ["net." + format]
    loaded = ms.load_checkpoint(file, net=b, format=format)
    assert list(loaded) == (sorted if format == "safetensors" else list)([p.name for p in a.get_parameters()])
    for p, q in zip(a.get_parameters(), b.get_parameters()):
        np.testing.assert_array_equal(p.asnumpy(), q.asnumpy())


def test_kinds_of_entries(tmp_path):
    path = str(tmp_path / "a.ckpt")
    values = {"z": ms.Tensor(np.zeros((0, 3), np.float32)), "e": ms.Tensor(np.zeros(0, np.int64)), "t": ms.Tensor(2.5),
              "s": ms.Tensor(np.arange(12).reshape(3, 4))[::-1, 1::2]}
    ms.save_checkpoint(values, path, append_dict={"epoch": 3, "lr": 0.1, "flag": True, "note": "h\u00e9llo \U0001f600"})
    got = ms.load_checkpoint(path)
    assert got["z"].shape == (0, 3) and got["e"].shape == (0,) and got["t"].shape == ()
    np.testing.assert_array_equal(got["s"].asnumpy(), [[9, 11], [5, 7], [1, 3]])
    assert got["epoch"].dtype == ms.int64 and got["lr"].dtype == ms.float32 and got["flag"].dtype == ms.bool_
    assert got["note"] == "h\u00e9llo \U0001f600"
    ms.save_checkpoint([{"name": "w", "data": values["t"]}], path)
    assert list(ms.load_checkpoint(path)) == ["w"]


def test_selection(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint({"a.w": ms.Tensor(1.), "a.b": ms.Tensor(2.), "c": ms.Tensor(3.)}, path, choice_func=lambda n: n != "a.b")
    assert list(ms.load_checkpoint(path)) == ["a.w", "c"]
    assert list(ms.load_checkpoint(path, filter_prefix="a")) == ["c"]
    assert list(ms.load_checkpoint(path, specify_prefix=["a", "x"])) == ["a.w"]
    assert list(ms.load_checkpoint(path, choice_func=lambda n: n == "c")) == ["c"]
    with pytest.raises(ValueError, match="empty after filter"):
        ms.load_checkpoint(path, specify_prefix="x")


def test_damage(tmp_path):
    path = tmp_path / "a.ckpt"
    ms.save_checkpoint(net(), str(path))
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        bad = tmp_path / "bad.ckpt"
        bad.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1:])
        with pytest.raises(ValueError, match="bad.ckpt"):
            ms.load_checkpoint(str(bad))
        bad.write_bytes(data[:at])
        with pytest.raises(ValueError):
            ms.load_checkpoint(str(bad))
    whole = tmp_path / "nocrc.ckpt"
    whole.write_bytes(data[:-17])
    assert len(ms.load_checkpoint(str(whole))) == 4


def test_foreign(tmp_path):
    path = tmp_path / "a.ckpt"
    for text in (b"hello world" * 10, b"\x89PNG\r\n\x1a\n" + bytes(50), b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x0a\x02\x12\x00"):
        path.write_bytes(text)
        with pytest.raises(ValueError, match="byte [0-9]+: "):
            ms.load_checkpoint(str(path))
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(DATA / "enc_AES-GCM.ckpt"))
    with pytest.raises(ValueError, match="does not exist"):
        ms.load_checkpoint(str(tmp_path / "none.ckpt"))
    with pytest.raises(ValueError, match="format must same"):
        ms.load_checkpoint("a.txt")
    with pytest.raises(TypeError, match="must be string"):
        ms.load_checkpoint(3)
    with pytest.raises(TypeError, match="nn.Cell, list or dict"):
        ms.save_checkpoint(3, str(path))
    with pytest.raises(TypeError, match="'data' of 'p'"):
        ms.save_checkpoint([{"name": "p", "data": 12}], str(path))
    with pytest.raises(ValueError, match="does not exist or is not a directory"):
        ms.save_checkpoint(net(), str(tmp_path / "no" / "a"))


def test_kill_while_saving(tmp_path):
    """Whenever the process dies, the file is the old one or the new one."""
    path = tmp_path / "a.ckpt"
    ms.save_checkpoint({"w": ms.Tensor(np.zeros(1 << 20, np.float32))}, str(path))
    code = ("import mindspore as ms, numpy as np\n"
            "for k in range(1, 1000):\n"
            f"    ms.save_checkpoint({{'w': ms.Tensor(np.full(1 << 20, k, np.float32))}}, {str(path)!r}); print(k, flush=True)\n")
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    child.stdout.readline()
    time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    values = np.unique(ms.load_checkpoint(str(path))["w"].asnumpy())
    assert len(values) == 1 and values[0] >= 1


def test_async(tmp_path):
    path = str(tmp_path / "a.ckpt")
    w = ms.Tensor(np.ones(4, np.float32))
    ms.save_checkpoint({"w": w}, path, async_save=True)
    w[:] = 7
    for _ in range(200):
        if os.path.exists(path):
            break
        time.sleep(0.01)
    assert ms.load_checkpoint_async(path).result()["w"].tolist() == [1, 1, 1, 1]


def test_load_into_net(caplog):
    a = nn.Dense(2, 3)
    w = np.arange(6, dtype=np.float64).reshape(3, 2)
    missing, unused = ms.load_param_into_net(a, {"weight": ms.Parameter(w), "bais": ms.Parameter(np.ones(3, np.float32))})
    assert missing == ["bias"] and unused == ["bais"]
    assert "'bias' (nearest: 'bais')" in caplog.text
    assert a.weight.dtype == ms.float32
    np.testing.assert_array_equal(a.weight.asnumpy(), w)
    with pytest.raises(RuntimeError, match="same shape"):
        ms.load_param_into_net(a, {"weight": ms.Parameter(np.ones((3, 3), np.float32))})
    with pytest.raises(RuntimeError, match="same type"):
        ms.load_param_into_net(a, {"weight": ms.Parameter(np.ones((3, 2), np.int32))})
    with pytest.raises(RuntimeError, match="same type"):
        ms.load_param_into_net(a, {"weight": ms.Parameter(w)}, strict_load=True)
    with pytest.raises(TypeError, match="should be a Cell"):
        ms.load_param_into_net(3, {})
    with pytest.raises(TypeError, match="should be a dict"):
        ms.load_param_into_net(a, 3)
    with pytest.raises(TypeError, match="'str' and 'Parameter'"):
        ms.load_param_into_net(a, {"weight": 3})
    before = a.bias.asnumpy().copy()
    with pytest.raises(RuntimeError):  # nothing is written when anything does not fit
        ms.load_param_into_net(a, {"bias": ms.Parameter(before + 1), "weight": ms.Parameter(np.ones((1, 1), np.float32))})
    np.testing.assert_array_equal(a.bias.asnumpy(), before)


def test_list_of_parameters(tmp_path):
    p = [ms.Parameter(ms.Tensor([1., 2.], ms.bfloat16), name='a'), ms.Parameter(ms.Tensor([3.]), name='b')]
    ms.save_checkpoint(p, str(tmp_path / 'x.ckpt'))
    got = ms.load_checkpoint(str(tmp_path / 'x.ckpt'))
    assert list(got) == ['a', 'b'] and got['a'].dtype is ms.bfloat16 and got['b'].tolist() == [3]


def test_names_in_another_network(tmp_path):
    def load(values, **kw):
        n = net()
        lists = ms.load_param_into_net(n, {k: ms.Tensor(np.full(s, v, np.float32)) for k, (s, v) in values.items()}, **kw)
        return lists, [float(p.asnumpy().ravel()[0]) for p in n.get_parameters()][1]

    values = {"x.y.0.bias": ((3,), 5), "z.0.bias": ((3,), 6), "10.bias": ((3,), 7)}
    missing = ["0.weight", "2.weight", "2.bias"]
    assert load(values) == ((missing, list(values)), 5)
    assert load({**values, "0.bias": ((3,), 8)}) == ((missing, list(values)), 8)
    assert load(values, strict_load=True)[0] == (["0.weight", "0.bias", "2.weight", "2.bias"], list(values))
    assert load({"10.bias": ((3,), 7)})[0][0] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    with pytest.raises(RuntimeError, match="same shape"):
        load({"x.0.bias": ((4,), 5)})


def test_arguments(tmp_path):
    path, value = str(tmp_path / "a.ckpt"), {"w": np.ones(2, np.float16)}
    for kw, error in [(dict(crc_check=1), ValueError), (dict(async_save="x"), ValueError), (dict(async_save=1), TypeError)]:
        with pytest.raises(error, match=list(kw)[0]):
            ms.save_checkpoint(value, path, **kw)
    ms.save_checkpoint(value, path, append_dict={"w": 3, "epoch": 1})
    got = ms.load_checkpoint(path)
    assert got["w"].item() == 3 and list(got) == ["w", "epoch"]
    for kw, error in [(dict(filter_prefix=""), ValueError), (dict(specify_prefix=[]), ValueError), (dict(filter_prefix=3), TypeError),
                      (dict(specify_prefix=[3]), TypeError), (dict(remove_redundancy=3), ValueError), (dict(crc_check=3), ValueError)]:
        with pytest.raises(error, match=list(kw)[0]):
            ms.load_checkpoint(path, **kw)


KEY = b"0123456789abcdef"
SEALED = {  # {"w": 0..5} as the original encrypts it
    "AES-GCM": "d85e3a7f381fd0a6d3dad30deba137b89c01583c4400000010000000ed10b9ecc2c48963dc3276420399128e2c000000c5604cd937eee12df4f06e428c"
               "3259145ffc36b89561403ffa8822c4df3814131d35ce509fabcd761dd8c0c6",
    "AES-CBC": "d95e3a7f4800000010000000de957d0aee0b269c6ddb04a5c42cf2fe30000000ed5610cdc2675e830c33f0c5f1d4f9c01a0b0f64003f99cb028e9a2d48"
               "e286898b4e309ca861955e1d2d28e4ace25f07",
    "SM4-CBC": "da5e3a7f480000001000000024a6160bb2acf96e2bfa26b16805e80730000000ba9dffc4f37931bcae7edb54397fe556ec4ba5a16f5573aa7c92193776"
               "8bfc4991396c8156521366465eab57b2f6cddb"}


@pytest.mark.parametrize("mode", SEALED)
def test_encrypted(tmp_path, mode):
    path = tmp_path / "a.ckpt"
    path.write_bytes(bytes.fromhex(SEALED[mode]))
    assert ms.load_checkpoint(str(path), dec_key=KEY, dec_mode=mode)["w"].tolist() == [0, 1, 2, 3, 4, 5]
    w = np.arange(30000, dtype=np.float32)  # several blocks of the cipher, an end that is not whole
    for key in (KEY, KEY + KEY[:8], KEY + KEY)[:1 if mode == "SM4-CBC" else 3]:
        ms.save_checkpoint({"secret": ms.Tensor(w)}, str(path), enc_key=key, enc_mode=mode, append_dict={"epoch": 3})
        content = path.read_bytes()
        assert b"secret" not in content and w.tobytes()[400:440] not in content
        got = ms.load_checkpoint(str(path), dec_key=key, dec_mode=mode)
        np.testing.assert_array_equal(got["secret"].asnumpy(), w)
        assert got["epoch"].item() == 3
    for kw in (dict(), dict(dec_key=b"1" * len(key), dec_mode=mode),
               dict(dec_key=KEY, dec_mode="AES-CBC" if mode == "AES-GCM" else "AES-GCM")):
        with pytest.raises(ValueError, match="Failed to read"):
            ms.load_checkpoint(str(path), **kw)


@pytest.mark.parametrize("mode", SEALED)
def test_encrypted_damage(tmp_path, mode):
    path = tmp_path / "a.ckpt"
    ms.save_checkpoint({"w": ms.Tensor([1., 2.])}, str(path), enc_key=KEY, enc_mode=mode)
    whole = path.read_bytes()
    path.chmod(0o600)
    damaged = [whole[:k] for k in range(len(whole))] + [whole + b"x", whole + whole]
    damaged += [whole[:k] + bytes([whole[k] ^ 1 << k % 8]) + whole[k + 1:] for k in range(len(whole)) if not (mode == "AES-GCM" and 40 <= k < 44)]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(ValueError, match="Failed to read"):
            ms.load_checkpoint(str(path), dec_key=KEY, dec_mode=mode)


def test_encryption_arguments(tmp_path):
    path, value = str(tmp_path / "a.ckpt"), {"w": ms.Tensor(1.)}
    for kw, text in [(dict(enc_key="0" * 16), "enc_key"), (dict(enc_key=KEY, enc_mode="DES"), "DES"), (dict(enc_key=b"0" * 5), "16, 24 or 32"),
                     (dict(enc_key=KEY * 2, enc_mode="SM4-CBC"), "must have 16 bytes"), (dict(enc_key=KEY, enc_mode=max), "enc_mode"),
                     (dict(enc_key=KEY, format="safetensors"), "safetensors")]:
        with pytest.raises(ValueError, match=text):
            ms.save_checkpoint(value, path, **kw)
    assert os.listdir(tmp_path) == []
    ms.save_checkpoint(value, path, enc_key=KEY, async_save=True)
    from mindspore.train.serialization import wait_async
    wait_async()
    assert ms.load_checkpoint_async(path, dec_key=KEY).result()["w"].item() == 1
