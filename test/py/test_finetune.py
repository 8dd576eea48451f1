"""The recipe examples/finetune.py: stopped and resumed it gives the bits of a run that was not."""
import importlib.util
import pathlib

import numpy as np
import pytest

import mindspore as ms

pytest.importorskip("mindcv", exc_type=ImportError)
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def recipe():
    path = pathlib.Path(__file__).parents[2] / "examples" / "finetune.py"
    spec = importlib.util.spec_from_file_location("finetune", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", [[], ["--graph"]])
def test_resume(recipe, tmp_path, mode):
    def run(out, *more):
        recipe.main(["--data", str(tmp_path / "data"), "--out", str(tmp_path / out), "--epochs", "2", "--size", "32",
                     "--batch", "8", *mode, *more])

    recipe.draw_shapes(str(tmp_path / "data"), 4, 2)
    run("whole")
    run("parts", "--stop", "1")
    run("parts", "--resume")
    whole, parts = (ms.load_checkpoint(str(tmp_path / out / "last.ckpt")) for out in ("whole", "parts"))
    assert list(whole) == list(parts) and len(whole) > 300  # weights, statistics, moments, the step
    for name, value in whole.items():
        np.testing.assert_array_equal(value.asnumpy(), parts[name].asnumpy(), name)
    assert (tmp_path / "parts" / "predictions.png").stat().st_size > 10000
