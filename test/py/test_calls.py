"""Calling functions of the registry: binding of arguments, overloads, messages, signatures, pickles, threads."""
import inspect
import pickle
import signal
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops

ROWS = [(group, name) for group in ms._c.rows(None) for name in ms._c.rows(group)]


def x():
    return Tensor([1., 2., 3., 4.])


@pytest.mark.parametrize('group, name', ROWS)
def test_signature_parses(group, name):
    row = ms._c.row(f'{group}.{name}')
    assert row.__name__ == name and row.__doc__.startswith(name + '(')
    assert isinstance(inspect.signature(row), inspect.Signature)
    assert pickle.loads(pickle.dumps(row)) is row


def test_binding():
    a = x()
    for got in (ops.add(a, a), ops.add(a, other=a), ops.add(input=a, other=a), ops.add(other=a, input=a)):
        assert got.tolist() == [2, 4, 6, 8]
    assert a.reshape(2, 2).shape == a.reshape((2, 2)).shape == a.reshape([2, -1]).shape == (2, 2)
    assert a.sum(0, True).shape == (1,) and a.sum(axis=0, keepdims=True).shape == (1,) and a.sum().shape == ()
    assert Tensor.sum(a).item() == 10
    assert a.sum(np.int64(0)).item() == 10 and a.sum(Tensor(0)).item() == 10


@pytest.mark.parametrize('call, words', [
    (lambda: ops.add(x()), ['Failed calling add with "add(Tensor)"', 'missing required argument: other']),
    (lambda: ops.add(x(), 'a'), ['"add(Tensor, string)"', 'The valid calling should be:', 'invalid types']),
    (lambda: x().sum('a'), ['"sum(string)"', '"Tensor.sum(', 'invalid types: (string)']),
    (lambda: x().add(x(), foo=3), ['"add(Tensor, foo=int)"', 'incorrect keyword name: foo']),
    (lambda: x().sum(axis=1, dim=1), ['incorrect keyword name']),
    (lambda: ops.add(x(), x(), input=x()), ['Failed calling add']),
    (lambda: ops.add(x(), x(), x(), x(), x(), x()), ['too many arguments']),
    (lambda: ops.relu([x(), None, ms.float32]), ['list<Tensor, None, mstype>']),
    (lambda: x().abs(1), ['abs() takes 0 positional arguments but 1 was given.', 'Failed calling abs']),
    (lambda: x().less(), ["less() missing 1 required positional argument: 'other'"]),
    (lambda: x().less(foo=1), ["less() got an unexpected keyword argument 'foo'"]),
    (lambda: x().max(1, 1, initial=None), ["max(): argument 'keepdims' (position 2) must be bool, not int."]),
    (lambda: x().max(1, True, initial='a'), ["max(): argument 'initial' must be Number but got string."]),
    (lambda: x().reshape(1, 2.0), ["reshape(): argument 'shape' (position 2) must be tuple of int, not float."]),
    (lambda: x().reshape((1, 'a')), ["reshape(): argument 'shape' (position 2) must be tuple of int, not string."]),
])
def test_messages(call, words):
    with pytest.raises(TypeError) as e:
        call()
    for word in words:
        assert word in str(e.value)


def test_operators():
    a = x()
    same = [2., 3., 4., 5.]
    for b in (a + 1, 1 + a, a + 1.0, a + True, a + np.float64(1), a + Tensor(1), a + [1, 1, 1, 1], [1, 1, 1, 1] + a,
              a - -1, a - Tensor([-1.])):
        assert isinstance(b, Tensor) and b.dtype is ms.float32 and b.tolist() == same
    assert (2 - a).tolist() == [1, 0, -1, -2] and (a * 2).tolist() == [2, 4, 6, 8] and (a / 2).tolist() == [.5, 1, 1.5, 2]
    assert (a ** 2).tolist() == [1, 4, 9, 16] and (2 ** a).tolist() == [2, 4, 8, 16] and (-a).tolist() == [-1, -2, -3, -4]
    assert (7 // Tensor([2, -2])).tolist() == [3, -4] and (Tensor([7, -7]) % 4).tolist() == [3, 1]
    assert (+a).tolist() == abs(-a).tolist() == a.tolist()
    assert (a > 2).tolist() == [False, False, True, True] and (2 >= a).tolist() == [True, True, False, False]
    assert (a == a).tolist() == [True] * 4 and (a != 1).tolist() == [False, True, True, True]
    assert (Tensor([True]) & Tensor([False])).tolist() == [False] and (Tensor([6]) | 1).tolist() == [7]
    assert (Tensor([[1., 2.]]) @ Tensor([[3.], [4.]])).tolist() == [[11.]]
    assert 3. in a and 7. not in a
    b = a
    b += 1
    assert a.tolist() == [1, 2, 3, 4] and b.tolist() == same


def test_operands_of_numpy():
    a = x()
    with pytest.raises(TypeError):
        a + np.ones(4)
    assert type(np.ones(4) + a) is np.ndarray and type(np.float64(2) * a) is np.ndarray
    assert (np.ones(4) + a).tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize('other', [None, 'a', {}, 1 + 2j, object()])
def test_foreign_operands(other):
    with pytest.raises(TypeError):
        x() + other
    with pytest.raises(TypeError):
        other * x()
    assert (x() == other) is False


def test_in_place_returns_itself():
    a = x()
    view = a[1:]
    assert a.add_(1) is a and a.tolist() == [2, 3, 4, 5] and view.tolist() == [3, 4, 5]


def test_errors_at_the_call():
    with pytest.raises(ValueError, match='broadcast'):
        x() + Tensor([1., 2.])
    with pytest.raises(IndexError, match='out of bounds'):
        x()[7]
    with pytest.raises(ZeroDivisionError):
        Tensor([1]) // 0
    assert (x() + 1).tolist() == [2, 3, 4, 5]


def test_methods_bind_as_attributes():
    class Holder:
        act = ops.relu
    assert mint.add(x(), x()).tolist() == [2, 4, 6, 8]
    bound = x().sum
    assert bound().item() == 10 and bound.__name__ == 'sum'
    assert Tensor.sum.__qualname__ == 'Tensor.sum' and ops.add.__module__ == 'mindspore.ops'
    assert list(inspect.signature(ops.add).parameters) == ['input', 'other']


def test_unknown_names():
    with pytest.raises(AttributeError):
        ops.no_such_function
    with pytest.raises(AttributeError):
        ms.no_such_name
    with pytest.raises(KeyError):
        ms._c.row('ops.no_such_function')


def test_threads():
    results, errors = {}, []

    def work(k):
        try:
            a = Tensor(np.full(20000, k, np.float32))
            for _ in range(20):
                a = a + 1
                ms.grad(lambda t: t * t)(a)
            results[k] = a[0].item()
        except Exception as e:
            errors.append(e)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and results == {k: k + 20.0 for k in range(4)}


def test_interrupt():
    def stop(*_):
        raise KeyboardInterrupt
    old = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        a = Tensor(np.ones(200000, np.float32))
        with pytest.raises(KeyboardInterrupt):
            while True:
                a = a + 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert (x() + 1).tolist() == [2, 3, 4, 5]


def test_refused_allocations():
    a, b = x(), x()

    def f():
        y = (a + b).reshape(2, 2)
        return ms.grad(lambda t: (t * t).sum())(y)
    for n in range(1, 200):
        try:
            ms._c.memory_fail_after(n)
            f()
        except MemoryError:
            continue
        else:
            break
        finally:
            ms._c.memory_fail_after(0)
    else:
        pytest.fail('never succeeded')
    assert f().tolist() == [[4, 8], [12, 16]]


def test_context():
    assert ms.get_context('mode') == ms.PYNATIVE_MODE == 1 and ms.GRAPH_MODE == 0
    with pytest.raises(ValueError, match="'mode' should be context.GRAPH_MODE"):
        ms.set_context(mode=5)
    with pytest.raises(ValueError):
        ms.set_context(no_such_option=1)
    with pytest.raises(ValueError):
        ms.get_context('no_such_option')
    with pytest.raises(ValueError):
        ms.set_context(device_target='TPU')


def test_seeds():
    ms.set_seed(3)
    a = np.random.rand()
    assert ms.get_seed() == 3 and ms.initial_seed() == 3
    np.random.seed(3)
    assert np.random.rand() == a
    state = ms.get_rng_state()
    first = ops.rand(3).tolist()
    ms.set_rng_state(state)
    assert ops.rand(3).tolist() == first
    with pytest.raises(TypeError):
        ms.set_seed('a')
    with pytest.raises(ValueError):
        ms.set_seed(-1)
