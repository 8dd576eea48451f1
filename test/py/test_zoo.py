"""Models of mindcv, unmodified: built, run forward, trained for one step with finite gradients."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

mindcv = pytest.importorskip("mindcv", exc_type=ImportError)

NAMES = ["mobilenet_v2_035_128", "shufflenet_v2_x0_5", "squeezenet1_1", "resnet18", "mobilenet_v3_small_075", "mnasnet_050",
         "ghostnet_050", "regnet_x_200mf", "rexnet_09", "repvgg_a0", "skresnet18", "efficientnet_b0", "poolformer_s12",
         "xcit_tiny_12_p16_224", "mobilevit_xx_small"]


@pytest.mark.parametrize("name", [n for n in NAMES if n in mindcv.list_models()])
def test_model(name):
    ms.set_seed(1)
    net = mindcv.create_model(name, num_classes=10)
    size = 224 if name.startswith(("pvt", "xcit")) else 256 if name.startswith("mobilevit") else 64
    x, label = Tensor(np.random.rand(2, 3, size, size).astype(np.float32)), Tensor(np.array([1, 3], np.int32))
    net.set_train(False)
    y = net(x)
    assert y.shape == (2, 10) and np.isfinite(y.asnumpy()).all()
    net.set_train(True)
    opt = nn.Momentum(net.trainable_params(), 1e-3, 0.9)
    loss, grads = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, opt.parameters)(x, label)
    assert np.isfinite(float(loss)) and all(np.isfinite(g.asnumpy()).all() for g in grads)
    assert opt(grads) == (True,) * len(grads)
