"""Models of mindcv, unmodified: names of parameters, outputs and gradients as the original gives them, a step of training.

A fast part; `./dev check zoo` takes every registered model."""
import pytest

import mindspore as ms
import zoo_reference as zoo

mindcv = pytest.importorskip("mindcv", exc_type=ImportError)

NAMES = ["squeezenet1_1", "resnet18", "mobilenet_v1_025", "mobilenet_v2_035_96", "mobilenet_v3_small_075", "shufflenet_v2_x0_5",
         "regnet_x_200mf", "efficientnet_b0", "mnasnet_050", "convnextv2_atto", "ghostnet_050", "pvt_v2_b0", "seresnet18"]


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    assert zoo.differences(name) == []


@pytest.mark.parametrize("name", ["squeezenet1_1", "mobilenet_v2_035_96", "regnet_x_200mf"])
def test_values_graph(name):
    assert zoo.differences(name, ms.jit) == []


@pytest.mark.parametrize("name", NAMES + ["crossvit_9", "edgenext_xx_small"])
def test_parameter_names(name):
    assert zoo.names(name)[0] == zoo.np.load(zoo.DATA)[name + "/names"]


@pytest.mark.parametrize("name", ["shufflenet_v2_x0_5", "mnasnet_050"])
def test_step(name):
    assert zoo.step(name) == []
