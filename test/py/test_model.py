"""Model: train, eval, fit, predict, and the callbacks."""
import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore import train as T
from mindspore.train import Model


def data(n=4, batch=8, seed=0):
    rng = np.random.RandomState(seed)
    x = rng.randn(n * batch, 4).astype(np.float32)
    y = (x.sum(1) > 0).astype(np.int32) + (x[:, 0] > 1)
    return ds.NumpySlicesDataset({'x': x, 'y': y.astype(np.int32)}, shuffle=False).batch(batch)


def model(metrics=None, lr=0.1, **kwargs):
    ms.set_seed(1)
    net = nn.Dense(4, 3)
    return Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), lr, 0.9), metrics, **kwargs)


class Spy(T.Callback):
    def __init__(self):
        self.seen = []

    def __getattribute__(self, name):
        if name.startswith('on_') or name == '__enter__':
            return lambda rc, *a: object.__getattribute__(self, 'seen').append(name)
        return object.__getattribute__(self, name)


@pytest.mark.parametrize('mode', [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_trains(mode):
    ms.set_context(mode=mode)
    try:
        m = model({'acc', 'loss'})
        before = m.eval(data())
        m.train(20, data())
        after = m.eval(data())
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert after['loss'] < before['loss'] / 2 and after['acc'] > 0.8
    assert m.predict(ms.Tensor(np.ones((2, 4), np.float32))).shape == (2, 3)


def test_same_as_by_hand():
    m = model()
    m.train(2, data())
    ms.set_seed(1)
    net = nn.Dense(4, 3)
    opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    loss = nn.CrossEntropyLoss()
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, opt.parameters)
    for _ in range(2):
        for x, y in data():
            opt(step(x, y)[1])
    np.testing.assert_array_equal(net.weight.asnumpy(), m.train_network.network.backbone_network.weight.asnumpy())


def test_order_of_stages():
    spy = Spy()
    m = model({'acc'})
    m.fit(2, data(2), data(1), valid_frequency=2, callbacks=spy)
    step = ['on_train_step_begin', 'on_train_step_end']
    check = ['on_eval_begin', 'on_eval_epoch_begin', 'on_eval_step_begin', 'on_eval_step_end', 'on_eval_epoch_end', 'on_eval_end']
    assert spy.seen == ['on_train_begin', 'on_train_epoch_begin', *step, *step, 'on_train_epoch_end',
                        'on_train_epoch_begin', *step, *step, *check, 'on_train_epoch_end', 'on_train_end']


def test_facts_of_the_run():
    seen = []
    def look(rc):
        p = rc.original_args()
        seen.append((p.cur_epoch_num, p.cur_step_num, p.batch_num, p.epoch_num, p.net_outputs.shape))
    model().train(3, data(2), callbacks=[T.LambdaCallback(on_train_step_end=look)], initial_epoch=1)
    assert seen == [(2, 3, 2, 3, ()), (2, 4, 2, 3, ()), (3, 5, 2, 3, ()), (3, 6, 2, 3, ())]


def test_sink_size_is_the_epoch():
    seen = []
    model().train(2, data(2), T.LambdaCallback(on_train_step_end=lambda rc: seen.append(rc.original_args().cur_epoch_num)),
                  dataset_sink_mode=True, sink_size=3)
    assert seen == [1, 1, 1, 2, 2, 2]


def test_loss_and_time_monitor(capsys):
    model({'acc'}).fit(1, data(4), data(1), callbacks=[T.LossMonitor(2), T.TimeMonitor(data_time=True)])
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith('epoch: 1 step: 2, loss is ') and out[1].startswith('epoch: 1 step: 4, loss is ')
    assert any(line.startswith('Train epoch time: ') and 'per step time' in line for line in out)
    assert any(line.startswith("Eval result: epoch 1, metrics: {'acc':") for line in out)


def test_loss_monitor_stops_at_nan():
    m = model()
    m.predict_network.bias.set_data(ms.Tensor([np.nan] * 3, ms.float32))
    with pytest.raises(ValueError, match='NAN or INF'):
        m.train(5, data(), callbacks=T.LossMonitor(0))


def test_history():
    h = T.History()
    model({'acc'}).fit(3, data(), data(), callbacks=h)
    assert h.epoch == {'epoch': [1, 2, 3]} and len(h.history['acc']) == len(h.history['net_output']) == 3


def test_request_stop():
    m, seen = model(), []
    m.train(5, data(), callbacks=T.LambdaCallback(on_train_step_end=lambda rc: (seen.append(1), rc.request_stop())))
    assert seen == [1]


def test_early_stopping():
    h = T.History()
    stop = T.EarlyStopping('loss', patience=2, min_delta=100.0, restore_best_weights=True)
    model().train(9, data(), callbacks=[stop, h])
    assert stop.stopped_epoch == 3 and h.epoch['epoch'] == [1, 2, 3]


def test_loss_of_the_evaluation():
    """The default monitor is the loss of the evaluation's last batch; without an evaluation there is none."""
    m, seen = model({'acc'}), []

    def note(context):
        p = context.original_args()
        m._network.set_train(False)
        x, y = list(data().create_tuple_iterator())[-1]
        seen.append((p.eval_results['eval_loss'], float(nn.SoftmaxCrossEntropyWithLogits(True, 'mean')(m._network(x), y))))
    m.fit(2, data(), data(), callbacks=[T.LambdaCallback(on_train_epoch_end=note), T.EarlyStopping(patience=9)])
    got, expected = zip(*seen)
    assert got == pytest.approx(expected)
    h = T.History()
    model().train(3, data(), callbacks=[T.EarlyStopping(patience=0, min_delta=100.0), h])
    assert h.epoch['epoch'] == [1, 2, 3]


def test_learning_rate_callbacks():
    m = model()
    m.train(4, data(), callbacks=T.ReduceLROnPlateau('loss', factor=0.5, patience=1, min_delta=100.0, min_lr=0.02))
    assert float(m.train_network.optimizer.learning_rate) == pytest.approx(0.02)
    m = model()
    m.train(1, data(3), callbacks=T.LearningRateScheduler(lambda lr, step: lr / 2))
    assert float(m.train_network.optimizer.learning_rate) == pytest.approx(0.0125)
    with pytest.raises(ValueError, match='schedule'):
        model(lr=nn.ExponentialDecayLR(0.1, 0.9, 2)).train(1, data(), callbacks=T.LearningRateScheduler(lambda lr, step: lr / 2))


def test_checkpoints(tmp_path):
    config = T.CheckpointConfig(save_checkpoint_steps=3, keep_checkpoint_max=2, append_info=['epoch_num', 'step_num', 'lr', {'mine': 7}])
    saver = T.ModelCheckpoint('q', str(tmp_path), config)
    m = model()
    m.train(2, data(), callbacks=saver)
    assert sorted(p.name for p in tmp_path.iterdir()) == ['q-2_2.ckpt', 'q-2_4.ckpt']
    assert saver.latest_ckpt_file_name == str(tmp_path / 'q-2_4.ckpt')
    found = ms.load_checkpoint(saver.latest_ckpt_file_name)
    assert int(found['epoch_num']) == 2 and int(found['step_num']) == 8 and int(found['mine']) == 7
    assert float(found['lr']) == pytest.approx(0.1)
    np.testing.assert_array_equal(found['weight'].asnumpy(), m.predict_network.weight.asnumpy())
    model().train(1, data(), callbacks=T.ModelCheckpoint('q', str(tmp_path), T.CheckpointConfig(4, async_save=True)))
    assert (tmp_path / 'q_1-1_4.ckpt').exists()


def test_checkpoint_at_a_failure(tmp_path):
    def fail(rc):
        if rc.original_args().cur_step_num == 3:
            raise KeyError('x')
    saver = T.ModelCheckpoint('q', str(tmp_path), T.CheckpointConfig(100, exception_save=True))
    with pytest.raises(KeyError):
        model().train(1, data(), callbacks=[saver, T.LambdaCallback(on_train_step_end=fail)])
    assert [p.name for p in tmp_path.iterdir()] == ['q-1_3_breakpoint.ckpt']


def test_backup_resumes_to_the_bit(tmp_path):
    whole = model()
    whole.train(4, data())
    def fail(rc):
        if rc.original_args().cur_step_num == 10:
            raise KeyError('power')
    with pytest.raises(KeyError):
        model().train(4, data(), callbacks=[T.BackupAndRestore(str(tmp_path)), T.LambdaCallback(on_train_step_end=fail)])
    again = model()
    again.train(4, data(), callbacks=T.BackupAndRestore(str(tmp_path)))
    np.testing.assert_array_equal(again.predict_network.weight.asnumpy(), whole.predict_network.weight.asnumpy())
    assert not list(tmp_path.iterdir())


def test_eval_network_and_indexes():
    class Eval(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def construct(self, x, y):
            return y, self.net(x)
    net = nn.Dense(4, 3)
    m = Model(net, eval_network=Eval(net), metrics={'acc': T.Accuracy().set_indexes([1, 0])})
    assert 0 <= m.eval(data())['acc'] <= 1


def test_dataset_helper_and_sink():
    helper = ms.DatasetHelper(data(3), dataset_sink_mode=False)
    assert len(list(helper)) == 3 and all(len(row) == 2 for row in helper)
    calls = []
    run = ms.data_sink(lambda x, y: calls.append(x.shape) or y, data(3), sink_size=2)
    assert [run().shape for _ in range(3)] == [(8,)] * 3 and len(calls) == 6


def test_convert_checkpoints(tmp_path):
    net = nn.Dense(2, 3)
    ms.save_checkpoint(net, str(tmp_path / 'a.ckpt'))
    ms.ckpt_to_safetensors(str(tmp_path), str(tmp_path / 'out'), {'weight': 'w'})
    back = ms.load_checkpoint(str(tmp_path / 'out' / 'a.safetensors'), format='safetensors')
    np.testing.assert_array_equal(back['w'].asnumpy(), net.weight.asnumpy())
    ms.safetensors_to_ckpt(str(tmp_path / 'out' / 'a.safetensors'))
    assert (tmp_path / 'out' / 'a.ckpt').exists()
    with pytest.raises(ValueError, match='file_path'):
        ms.ckpt_to_safetensors(str(tmp_path / 'none'))


@pytest.mark.parametrize('call,error', [
    (lambda: Model(3), TypeError), (lambda: Model(nn.Dense(4, 3), metrics={'acc'}), ValueError), (lambda: model('zz'), TypeError),
    (lambda: model(foo=1), ValueError), (lambda: model(amp_level='O9'), ValueError), (lambda: model().train(-1, data()), ValueError),
    (lambda: model().train(1, 5), TypeError), (lambda: model().train(1, data(), callbacks=3), TypeError),
    (lambda: model().train(1, data(), initial_epoch=3), ValueError), (lambda: model().train(1, data(), sink_size=0), ValueError),
    (lambda: model().eval(data()), ValueError), (lambda: model({'acc'}).eval(data(), dataset_sink_mode=3), TypeError),
    (lambda: model().fit(1, data(), data()), ValueError), (lambda: T.LossMonitor(-1), ValueError),
    (lambda: T.ModelCheckpoint(3), ValueError), (lambda: T.ModelCheckpoint('a/b'), ValueError), (lambda: T.CheckpointConfig(-1), ValueError),
    (lambda: T.CheckpointConfig(append_info=['zz']), TypeError), (lambda: T.EarlyStopping(patience=-1), ValueError),
    (lambda: T.LambdaCallback(on_train_begin=3), TypeError), (lambda: T.RunContext(3), TypeError),
    (lambda: T.FixedLossScaleManager(0), ValueError), (lambda: T.DynamicLossScaleManager(scale_factor=0), ValueError),
])
def test_errors(call, error):
    with pytest.raises(error):
        call()


def test_dynamic_loss_scale_manager():
    m = T.DynamicLossScaleManager(16, 2, 2)
    m.update_loss_scale(True)
    assert m.get_loss_scale() == 8
    for _ in range(4):
        m.update_loss_scale(False)
    assert m.get_loss_scale() == 32


@pytest.mark.parametrize('mode', [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_model_checkpoint_resumes_to_the_bit(tmp_path, mode):
    """Weights, statistics, moments, step, the generator behind Dropout, and the place in a shuffled, augmented pipeline."""
    from mindspore.dataset import config, vision
    x, y = np.random.RandomState(0).randint(0, 255, (32, 8, 8, 3)).astype(np.uint8), np.arange(32, dtype=np.int32) % 4
    states = {}

    def parts():
        net = nn.SequentialCell(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(p=0.3), nn.Dense(256, 4))
        opt = nn.Momentum(net.trainable_params(), nn.CosineDecayLR(1e-4, 0.05, 16), 0.9)
        images = ds.NumpySlicesDataset((x, y), ['image', 'label'], shuffle=True)
        images = images.map([vision.RandomColorAdjust(0.4), vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()], 'image').batch(8)
        return Model(net, nn.CrossEntropyLoss(), opt), {**net.parameters_dict(), **opt.parameters_dict()}, images

    ms.set_context(mode=mode)
    try:
        ms.set_seed(3)
        m, whole, images = parts()
        keep = T.LambdaCallback(on_train_epoch_end=lambda rc: states.update({rc.original_args().cur_epoch_num: ms.get_rng_state()}))
        m.train(4, images, [T.ModelCheckpoint('m', str(tmp_path), T.CheckpointConfig(4, append_info=['epoch_num'])), keep])
        ms.set_seed(99)
        m, again, images = parts()
        found = ms.load_checkpoint(str(tmp_path / 'm-2_4.ckpt'))
        for name, p in again.items():
            p.set_data(found[name])
        epoch = int(found['epoch_num'])
        config.set_seed(3)
        images.set_init_step(epoch * 4)
        ms.set_rng_state(states[epoch])
        m.train(4, images, initial_epoch=epoch)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    for name, p in again.items():
        np.testing.assert_array_equal(p.asnumpy(), whole[name].asnumpy(), err_msg=name)


def test_operations_are_counted(capsys):
    net = nn.SequentialCell(nn.Conv2d(2, 4, 3, pad_mode='valid'), nn.ReLU(), nn.Flatten(), nn.Dense(64, 4))
    rng = np.random.RandomState(0)
    rows = ds.NumpySlicesDataset((rng.rand(32, 2, 6, 6).astype(np.float32), rng.rand(32, 4).astype(np.float32))).batch(16)
    watch = T.FlopsUtilizationCollector(2, computility=1e9)
    T.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)).train(1, rows, [watch])
    convolution, product = 2 * (16 * 4 * 4 * 4) * 18, 2 * 16 * 64 * 4
    assert watch.full_model_flops == 2 * convolution + 3 * product  # the images need no gradient
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f'Full model flops is {watch.full_model_flops}') and len(lines) == 3
    assert all(line.startswith('Train per step time: ') and ' mfu:' in line for line in lines[1:])
    for arguments in ((0,), (2, 0), (2, 1, 3), (True,)):
        with pytest.raises((ValueError, TypeError)):
            T.FlopsUtilizationCollector(*arguments)
