"""OnRequestExit: training and evaluation end after the step in which they are asked to, and leave files that load."""
import os
import signal

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.train import Callback, Model, OnRequestExit

X = np.arange(12, dtype=np.float32).reshape(6, 2) / 10


def parts():
    net = nn.Dense(2, 1)
    data = ms.dataset.NumpySlicesDataset({'x': X, 'y': X[:, :1]}, shuffle=False).batch(2)
    return net, data, Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), .1), metrics={'loss'})


class Ask(Callback):
    """In step 2 asks by a signal, or by a file; keeps the steps that ended."""

    def __init__(self, by):
        super().__init__()
        self.by, self.ended = by, []

    def on_train_step_begin(self, run_context):
        if run_context.original_args().cur_step_num == 2:
            if isinstance(self.by, int):
                os.kill(os.getpid(), self.by)
            else:
                self.by.write_text('{"GracefulExit": 1}')

    on_eval_step_begin = on_train_step_begin

    def on_train_step_end(self, run_context):
        self.ended.append(run_context.original_args().cur_step_num)

    on_eval_step_end = on_train_step_end


@pytest.mark.parametrize('by', [signal.SIGTERM, signal.SIGUSR1, 'file'])
def test_training_ends(tmp_path, by):
    net, data, model = parts()
    former = signal.getsignal(signal.SIGTERM)
    config = tmp_path / 'exit.json'
    ask = Ask(config if by == 'file' else int(by))
    more = {'config_file': str(config)} if by == 'file' else {'sig': by}
    model.train(3, data, callbacks=[ask, OnRequestExit(file_name='N', directory=str(tmp_path), **more)], dataset_sink_mode=False)
    assert ask.ended == [1, 2] and signal.getsignal(signal.SIGTERM) == former
    saved = ms.load_checkpoint(str(tmp_path / 'rank_0' / 'N_train.ckpt'))
    np.testing.assert_array_equal(saved['weight'].asnumpy(), net.weight.asnumpy())
    loss = nn.GraphCell(ms.load(str(tmp_path / 'rank_0' / 'N_train.mindir')))(Tensor(X[:2]), Tensor(X[:2, :1]))
    np.testing.assert_allclose(loss.asnumpy(), nn.MSELoss()(net(Tensor(X[:2])), Tensor(X[:2, :1])).asnumpy(), rtol=1e-5)


def test_evaluation_ends(tmp_path):
    _, data, model = parts()
    ask = Ask(int(signal.SIGTERM))
    model.eval(data, callbacks=[ask, OnRequestExit(save_mindir=False, directory=str(tmp_path))])
    assert ask.ended == [1, 2] and os.listdir(tmp_path / 'rank_0') == ['Net_eval.ckpt']


def test_nothing_happens_unasked(tmp_path):
    _, data, model = parts()
    model.train(1, data, callbacks=[OnRequestExit(directory=str(tmp_path), config_file=str(tmp_path / 'none.json'))])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize('args', [{'save_ckpt': 1}, {'save_mindir': 'x'}, {'sig': 'a'}, {'sig': signal.SIGKILL}, {'sig': 9999},
                                  {'file_name': 1}, {'directory': 3}, {'config_file': 1}])
def test_refusals(args):
    with pytest.raises(ValueError):
        OnRequestExit(**args)
