"""Optimizers and learning rates; expected values were recorded from the original (three steps)."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

W0 = np.array([[1., -2., 3.], [0.5, 0.25, -1.]], np.float32)
B0 = np.array([1., -1.], np.float32)
G = [np.array([[0.1, -0.2, 0.3], [1., -1., 0.]], np.float32), np.array([0.5, -0.25], np.float32)]


def make():
    return [Parameter(Tensor(W0), name="w"), Parameter(Tensor(B0), name="gamma")]


def run(opt, n=3):
    for k in range(n):
        done = opt((Tensor(G[0] * (k + 1)), Tensor(G[1])))
    assert done == (True, True) and opt.global_step.tolist() == [n]
    return {p.name: p.asnumpy() for p in opt.get_parameters()}


@pytest.mark.parametrize("text,w,b", [
    ("nn.SGD(ps,0.1)", [[0.94, -1.88, 2.82], [-0.1, 0.85, -1]], [0.85, -0.925]),
    ("nn.SGD(ps,0.1,momentum=0.9)", [[0.9049, -1.8098, 2.7147], [-0.451, 1.201, -1]], [0.7195, -0.85975]),
    ("nn.SGD(ps,0.1,momentum=0.9,dampening=0.5,weight_decay=0.1)",
     [[0.8977545, -1.7955091, 2.6932635], [-0.1292951, 0.8482562, -0.9586148]], [0.792, -0.896]),
    ("nn.SGD(ps,0.1,momentum=0.9,nesterov=True)", [[0.85441, -1.70882, 2.56323], [-0.9559, 1.7059, -1]], [0.59755, -0.798775]),
    ("nn.SGD(ps,0.1,loss_scale=4.0,weight_decay=0.1)",
     [[0.9553987, -1.9107975, 2.8661964], [0.336147, 0.3915773, -0.970299]], [0.9625, -0.98125]),
    ("nn.Momentum(ps,0.1,0.9)", [[0.9049, -1.8098, 2.7147], [-0.451, 1.201, -1]], [0.7195, -0.85975]),
    ("nn.Momentum(ps,0.1,0.9,weight_decay=0.1)",
     [[0.849858, -1.6997161, 2.5495741], [-0.4730205, 1.1813047, -0.944379]], [0.7195, -0.85975]),
    ("nn.Momentum(ps,1,0.9)", [[0.049, -0.098, 0.147], [-9.01, 9.76, -1]], [-1.805, 0.4025]),
    ("nn.Adam(ps,use_lazy=True)", [[0.9970769, -1.9970767, 2.997077], [0.4970768, 0.2529232, -1]], [0.997, -0.997]),
    ("nn.Adam(ps)", [[0.9970769, -1.9970767, 2.997077], [0.4970768, 0.2529232, -1]], [0.997, -0.997]),
    ("nn.Adam(ps,0.1,weight_decay=0.1,loss_scale=4.0)",
     [[0.699506, -1.6995656, 2.6996043], [0.205513, 0.541615, -0.701588]], [0.7000017, -0.7000022]),
    ("nn.Adam(ps,0.1,use_amsgrad=True)", [[0.7076832, -1.7076829, 2.7076829], [0.2076827, 0.5423173, -1]],
     [0.7000012, -0.7000013]),
    ("nn.AdamWeightDecay(ps,0.1,weight_decay=0.1)",
     [[-0.2197428, -0.7504585, 1.7207248], [-0.7050682, 1.4327925, -0.970299]], [-0.2361616, 0.2361045]),
    ("nn.RMSProp(ps,0.1)", [[0.932492, -1.8672265, 2.805975], [0.016074, 0.733926, -1]], [0.8380019, -0.9172163]),
    ("nn.RMSProp(ps,0.1,momentum=0.9,centered=True,weight_decay=0.1)",
     [[0.8351043, -1.6765394, 2.5290718], [-0.3592477, 1.0812597, -0.9392451]], [0.6991161, -0.8473047]),
    ("nn.Adagrad(ps,learning_rate=0.1)", [[0.8569719, -1.7996632, 2.7730968], [0.2361987, 0.5138013, -1]],
     [0.7967022, -0.8386527]),
    ("nn.Adagrad(ps,learning_rate=0.1,weight_decay=0.1)",
     [[0.821472, -1.7749238, 2.7593329], [0.2367038, 0.5137991, -0.9154869]], [0.7967022, -0.8386527]),
    ("nn.Momentum(ps,nn.ExponentialDecayLR(0.1,0.9,2),0.9)",
     [[0.9119982, -1.8239963, 2.7359946], [-0.3800181, 1.1300181, -1]], [0.7379251, -0.8689626]),
    ("nn.Momentum([{'params':ps[:1],'lr':[0.1,0.2,0.3]},{'params':ps[1:],'weight_decay':0.5}],0.1,0.9)",
     [[0.7637, -1.5274, 2.2911], [-1.863, 2.613, -1]], [0.4627499, -0.5970624]),
    ("nn.Adam([{'params':ps[:1],'lr':0.01},{'params':ps[1:]}],0.1)",
     [[0.9707683, -1.9707683, 2.9707682], [0.4707683, 0.2792317, -1]], [0.7000012, -0.7000012]),
    ("nn.Momentum([{'params':ps[:1]},{'params':ps[1:]}],0.1,0.9,weight_decay=0.1)",
     [[0.849858, -1.6997161, 2.5495741], [-0.4730205, 1.1813047, -0.944379]], [0.666274, -0.8053265]),
    ("nn.AdamWeightDecay([{'params':ps[:1],'weight_decay':0.},{'params':ps[1:],'weight_decay':0.3}],0.1,weight_decay=0.1)",
     [[-0.2004338, -0.7994671, 1.7994341], [-0.7006121, 1.4506121, -1]], [-0.2920523, 0.291997]),
])
def test_three_steps(text, w, b):
    ps = make()
    got = run(eval(text))
    tol = 2e-5 if "AdamWeightDecay" in text else 2e-6  # the original rounds 1 - beta2 to float32
    np.testing.assert_allclose(got["w"], w, atol=tol, rtol=tol)
    np.testing.assert_allclose(got["gamma"], b, atol=tol, rtol=tol)


def test_nesterov_momentum():
    ps = make()
    got = run(nn.Momentum(ps, 0.1, 0.9, use_nesterov=True))
    np.testing.assert_allclose(got["gamma"], [0.59755, -0.798775], rtol=1e-6)


@pytest.mark.parametrize("text,names", [
    ("nn.Momentum(ps,0.1,0.9)", ["momentum", "moments.w", "moments.gamma"]),
    ("nn.SGD(ps,0.1)", ["momentum", "accum.w", "accum.gamma", "stat.w", "stat.gamma"]),
    ("nn.Adam(ps)", ["beta1_power", "beta2_power", "moment1.w", "moment1.gamma", "moment2.w", "moment2.gamma"]),
    ("nn.AdamWeightDecay(ps)", ["adam_m.w", "adam_m.gamma", "adam_v.w", "adam_v.gamma"]),
    ("nn.RMSProp(ps)", ["mean_square.w", "mean_square.gamma", "moment.w", "moment.gamma"]),
])
def test_state_names(text, names):
    ps = make()
    opt = eval(text)
    got = [p.name for p in opt.get_parameters()]
    assert got == ["global_step", "learning_rate", "w", "gamma"] + names
    assert opt.global_step.dtype == ms.int32 and opt.global_step.shape == (1,) and opt.learning_rate.shape == ()
    assert repr(opt) == type(opt).__name__ + "()"


def test_learning_rates():
    ps = make()
    opt = nn.Momentum(ps, 0.1, 0.9, weight_decay=0.1)
    assert opt.get_lr() is opt.learning_rate and opt.get_lr_parameter(ps[0]) is opt.learning_rate
    assert opt.get_weight_decay().item() == pytest.approx(0.1)
    with pytest.raises(ValueError, match="zz is not in optimizer"):
        opt.get_lr_parameter(Parameter(1.0, name="zz"))
    opt = nn.Momentum(make(), Tensor([0.1, 0.05]), 0.9)
    assert opt.get_lr().item() == pytest.approx(0.1)
    opt((Tensor(G[0]), Tensor(G[1])))
    assert opt.get_lr().item() == pytest.approx(0.05)
    ps = make()
    opt = nn.Momentum([{"params": ps[:1], "lr": 0.01, "weight_decay": 0.1}, {"params": ps[1:]}, {"order_params": ps[::-1]}], 0.1, 0.9)
    assert [p.name for p in opt.get_parameters()] == ["global_step", "learning_rate", "learning_rate_group_0", "gamma", "w",
                                                      "momentum", "moments.gamma", "moments.w"]
    assert [round(t.item(), 4) for t in opt.get_lr()] == [0.1, 0.01] and opt.decay_flags == (False, True)
    assert [round(t.item(), 4) for t in opt.get_weight_decay()] == [0.0, 0.1]

    class Decay(nn.Cell):
        def construct(self, step):
            return step.astype(ms.float32) * 0.0 + 0.1
    ps, qs = make(), make()
    for maker in (lambda p, d: nn.Momentum(p, 0.1, 0.9, weight_decay=d), lambda p, d: nn.AdamWeightDecay(p, 0.1, weight_decay=d)):
        a, b = run(maker(make(), 0.1)), run(maker(make(), Decay()))
        np.testing.assert_allclose(a["w"], b["w"], rtol=1e-5)


@pytest.mark.parametrize("text,error,match", [
    ("nn.Momentum([],0.1,0.9)", ValueError, "must not be empty"), ("nn.Momentum(3,0.1,0.9)", TypeError, "must be Iterable type"),
    ("nn.Momentum([3],0.1,0.9)", TypeError, "must be 'Parameter' or 'dict'"),
    ("nn.Momentum(ps,-0.1,0.9)", ValueError, "the 'learning rate' must be float and must >= 0, but got '-0.1'"),
    ("nn.Momentum(ps,0.1,-0.9)", ValueError, "'momentum' must be at least 0.0, but got -0.9"),
    ("nn.Momentum(ps,'a',0.9)", ValueError, "could not convert"),
    ("nn.Momentum(ps,0.1,'a')", TypeError, "the type of 'momentum' should be 'float', but got type 'str'"),
    ("nn.Momentum(ps,0.1,0.9,weight_decay=-1)", ValueError, "'weight_decay' must be float and must >= 0, but got '-1.0'"),
    ("nn.Momentum(ps,0.1,0.9,loss_scale=0)", ValueError, "'loss_scale' must be float and must > 0, but got '0.0'"),
    ("nn.Momentum([{'params':ps,'foo':3}],0.1,0.9)", KeyError, "foo"), ("nn.Momentum([{'lr':3}],0.1,0.9)", KeyError, "params"),
    ("nn.Momentum([{'params':[]}],0.1,0.9)", ValueError, "group `params` must not be empty"),
    ("nn.Momentum([{'params':ps[:1]},{'params':ps[:1]}],0.1,0.9)", RuntimeError, "w parameter already exists"),
    ("nn.Momentum([{'params':ps},{'order_params':ps[:1]}],0.1,0.9)", ValueError, "length of order parameters"),
    ("nn.SGD(ps,0.1,nesterov=True)", ValueError, "if 'nesterov' is true"), ("nn.Adam(ps,beta1=1.0)", ValueError, "(0.0, 1.0)"),
    ("nn.Adam(ps,beta1=1)", TypeError, "the type of 'beta1' should be 'float'"), ("nn.Adam(ps,eps=0)", TypeError, "eps"),
    ("nn.Momentum(ps,0.1,0.9)((Tensor(1.),))", ValueError, "2 parameters, but 1 gradients"),
    ("nn.Momentum(ps,0.1,0.9)((Tensor(1.),Tensor(1.)))", ValueError, "shape of gradient 0"),
    ("nn.Momentum(ps,0.1,0.9)(3)", TypeError, "gradients"),
])
def test_errors(text, error, match):
    ps = make()
    with pytest.raises(error) as e:
        eval(text)
    assert match in str(e.value)


@pytest.mark.parametrize("text,want", [
    ("nn.cosine_decay_lr(0.01,0.1,6,2,2)", [0.1, 0.1, 0.055, 0.055, 0.01, 0.01]),
    ("nn.exponential_decay_lr(0.1,0.9,6,2,1)", [0.1, 0.1, 0.09, 0.09, 0.081, 0.081]),
    ("nn.natural_exp_decay_lr(0.1,0.9,6,2,1)", [0.1, 0.1, 0.04065696597, 0.04065696597, 0.01652988882, 0.01652988882]),
    ("nn.natural_exp_decay_lr(0.1,0.9,6,2,2,True)", [0.1, 0.1, 0.1, 0.1, 0.01652988882, 0.01652988882]),
    ("nn.inverse_decay_lr(0.1,0.5,6,1,1)", [0.1, 0.0666666667, 0.05, 0.04, 0.0333333333, 0.0285714286]),
    ("nn.piecewise_constant_lr([2,5,6],[0.1,0.05,0.01])", [0.1, 0.1, 0.05, 0.05, 0.05, 0.01]),
    ("nn.polynomial_decay_lr(0.1,0.01,6,2,2,0.5)", [0.1, 0.1, 0.0736396103, 0.0736396103, 0.01, 0.01]),
    ("nn.polynomial_decay_lr(0.1,0.01,6,2,1,0.5,True)", [0.1, 0.1, 0.01, 0.01, 0.01, 0.01]),
    ("nn.warmup_lr(0.1,6,2,2)", [0.0, 0.0, 0.05, 0.05, 0.1, 0.1]),
])
def test_lists(text, want):
    np.testing.assert_allclose(eval(text), want, rtol=1e-8)


@pytest.mark.parametrize("text,want", [
    ("nn.CosineDecayLR(0.01,0.1,4)", [0.1, 0.0868198052, 0.055, 0.0231801905, 0.01, 0.01, 0.01]),
    ("nn.ExponentialDecayLR(0.1,0.9,4)", [0.1, 0.0974003747, 0.0948683247, 0.092402108, 0.09, 0.087660335, 0.0788943022]),
    ("nn.ExponentialDecayLR(0.1,0.9,4,True)", [0.1, 0.1, 0.1, 0.1, 0.09, 0.09, 0.081]),
    ("nn.NaturalExpDecayLR(0.1,0.9,4)", [0.1, 0.040656969, 0.0165298916, 0.00672055362, 0.00273237284, 0.00111089984, 3.03539400e-05]),
    ("nn.NaturalExpDecayLR(0.1,0.9,4,True)", [0.1, 0.1, 0.1, 0.1, 0.00273237284, 0.00273237284, 7.46586156e-05]),
    ("nn.InverseDecayLR(0.1,0.9,4,True)", [0.1, 0.1, 0.1, 0.1, 0.0526315831, 0.0526315831, 0.0357142873]),
    ("nn.PolynomialDecayLR(0.1,0.01,4,0.5)", [0.1, 0.0879422873, 0.0736396089, 0.055, 0.01, 0.01, 0.01]),
    ("nn.PolynomialDecayLR(0.1,0.01,4,0.5,True)", [0.1, 0.0879422873, 0.0736396089, 0.055, 0.01, 0.0651135221, 0.055]),
    ("nn.WarmUpLR(0.1,2)", [0, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1]),
])
def test_schedules(text, want):
    schedule = eval(text)
    got = [schedule(Tensor(k, ms.int32)).item() for k in (0, 1, 2, 3, 4, 5, 9)]
    np.testing.assert_allclose(got, want, rtol=2e-6)


def test_train_one_step():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    step.set_train()
    assert [p.name for p in step.get_parameters()] == ["weight", "bias", "global_step", "learning_rate", "momentum",
                                                       "moments.weight", "moments.bias"]
    x, y = Tensor([[1., 2.]]), Tensor([[0.]])
    assert step(x, y).item() == 9
    np.testing.assert_allclose(net.weight.asnumpy(), [[0.4, -0.2]], rtol=1e-5)
    losses = [step(x, y).item() for _ in range(60)]
    assert losses[-1] < 0.05


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_an_optimizer_of_ones_own(mode):
    """What optimizers written outside use of the base class."""
    update = ops.MultitypeFuncGraph("update")

    @update.register("Tensor", "Tensor", "Tensor", "Bool", "Bool")
    def apply(lr, param, gradient, decayed, wanted):
        return ops.assign(param, param - lr * gradient) if wanted else gradient

    class Plain(nn.Optimizer):
        def construct(self, gradients):
            gradients = self._grad_sparse_indices_deduplicate(self.flatten_gradients(gradients))
            lr = self.get_lr()
            if self._is_dynamic_lr_or_weight_decay():
                self.assignadd(self.global_step, self.global_step_increase_tensor)
            return self.map_(ops.partial(update, lr), self.parameters, gradients, self.decay_flags, self.optim_filter)

    ms.set_context(mode=mode)
    try:
        net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
        optimizer = Plain([0.5, 0.25], net.trainable_params())
        for _ in range(2):
            optimizer((Tensor([[1., 2.]]),))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    np.testing.assert_array_equal(net.weight.asnumpy(), [[0.25, -0.5]])
    assert optimizer.global_step.asnumpy() == [2]
    assert [optimizer.learning_rate(Tensor(k)).shape for k in (1, [1])] == [(), (1,)]


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.pool = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2, 2)
        self.flat, self.drop, self.fc = nn.Flatten(), nn.Dropout(p=0.3), nn.Dense(64, 3)

    def construct(self, x):
        return self.fc(self.drop(self.flat(self.pool(ops.relu(self.bn(self.conv(x)))))))


def losses_of(make, mode, n=4):
    ms.set_seed(1)
    rs = np.random.RandomState(0)
    x, y = Tensor(rs.randn(8, 1, 8, 8).astype(np.float32)), Tensor(rs.randint(0, 3, 8).astype(np.int32))
    net, loss = Small(), nn.CrossEntropyLoss()
    opt = make(net.trainable_params())
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), opt).set_train()
    if mode == "jit":
        grad = ms.value_and_grad(lambda a, b: loss(net(a), b), None, opt.parameters)

        @ms.jit
        def step(a, b):
            value, grads = grad(a, b)
            return ops.depend(value, opt(grads))
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    try:
        losses = [step(x, y).item() for _ in range(n)]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    return losses, opt.global_step.item(), [p.asnumpy().tolist() for p in net.get_parameters()]


@pytest.mark.parametrize("make", [
    lambda ps: nn.Momentum(ps, 0.1, 0.9, weight_decay=1e-3), lambda ps: nn.SGD(ps, 0.1), lambda ps: nn.Adam(ps, 1e-2),
    lambda ps: nn.AdamWeightDecay([{"params": ps[:2], "lr": 0.01}, {"params": ps[2:]}], 1e-3, weight_decay=0.1),
    lambda ps: nn.Momentum(ps, nn.cosine_decay_lr(0.01, 0.1, 10, 2, 3), 0.9),
    lambda ps: nn.Momentum(ps, nn.CosineDecayLR(0.01, 0.1, 5), 0.9), lambda ps: nn.RMSProp(ps, 1e-2),
    lambda ps: nn.Adagrad(ps, learning_rate=1e-2)])
def test_modes_agree(make):
    """A whole step with batch norm and dropout gives the same bits eagerly, jitted and in Graph mode."""
    want = losses_of(make, "eager")
    assert want[1] == 4 and want[0][-1] < want[0][0]
    assert losses_of(make, "jit") == want and losses_of(make, "graph") == want
