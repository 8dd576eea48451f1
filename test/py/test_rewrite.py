"""mindspore.rewrite: the nodes of a Cell, changes of them, and the Cell that comes out: values and gradients beside the old one."""
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.rewrite import Node, NodeType, ScopedValue, SymbolTree, ValueType

name = ScopedValue.create_naming_value
value = ScopedValue.create_variable_value


def outer(x):
    return ops.tanh(x) * 2


class Base(nn.Cell):
    def __init__(self):
        super().__init__()
        self.base = nn.Dense(3, 3)
        self.__hidden = 3

    def construct(self, x):
        return self.base(x) + self.__hidden


class Inner(Base):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def construct(self, x):
        x = super().construct(x)
        return self.relu(x) * self.scale(x)

    def scale(self, x):
        return x.mean()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.relu, self.add, self.sub = nn.Dense(3, 3), nn.ReLU(), ops.Add(), Inner()
        self.seq = nn.SequentialCell(nn.Sigmoid(), Inner(), nn.SequentialCell(Inner(), nn.Tanh()))
        self.k = 2

    def construct(self, x, y=None, *rest, z=2):
        """Every kind of statement."""
        x = self.dense(x)
        x = self.relu(self.add(x, other=1.0))
        x, y = self.sub(x), x[0]
        x += self.k
        x = ops.tanh(x) + ops.exp(-x) * (x - 1)
        a = {'a': x, 'b': (1, [x])}
        b = c = outer(a['a'])
        x = self.seq(b) + c
        for f in (self.relu, self.dense):
            x = f(x)
        while z > 0:
            x = self.helper(x)
            z -= 1
        if self.k > 1 and x.ndim == 2:
            x = ops.sin(x)
        else:
            x = self.relu(x)
        w = [x * q for q in range(1, 3)]
        return self.add(x, w[1]), x.reshape(-1, 3).sum(axis=0) if y is not None else y

    def helper(self, x):
        return self.relu(x) - 0.25 * x


def data():
    return Tensor(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))


def same(a, b):
    for p, q in zip(a, b):
        np.testing.assert_allclose(p.asnumpy(), q.asnumpy(), 1e-6, 1e-6)


@pytest.fixture
def tree():
    ms.set_seed(1)
    net = Net()
    return net, SymbolTree.create(net)


@pytest.mark.parametrize('mode', [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_unchanged_network(tree, mode):
    net, stree = tree
    names = [p.name for p in net.get_parameters()]
    new = stree.get_network()
    assert type(new).__name__ == 'NetOpt' and isinstance(new, Net) and new is not net
    assert new.dense.weight is net.dense.weight and new.seq[2][0].base.weight is net.seq[2][0].base.weight
    assert [p.name for p in new.get_parameters()] == [p.name for p in net.get_parameters()] == names
    assert type(net.sub) is type(net.seq[1]) is type(net.seq[2][0]) is Inner
    assert type(new.sub).__name__ == type(new.seq[2][0]).__name__ == 'InnerOpt'
    ms.set_context(mode=mode)
    try:
        same(new(data()), net(data()))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    weights = net.trainable_params()
    same(*(ms.grad(lambda x: n(x)[0], None, weights=weights)(data()) for n in (new, net)))


def test_nodes(tree):
    _, stree = tree
    kinds = {n.get_name(): n.get_node_type() for n in stree.nodes()}
    assert kinds['input_x'] is NodeType.Input and kinds['dense'] is NodeType.CallCell and kinds['add'] is NodeType.CallPrimitive
    assert kinds['sub'] is NodeType.Tree and kinds['seq'] is NodeType.CellContainer and kinds['outer'] is NodeType.CallFunction
    assert kinds['binop_mult'] is NodeType.MathOps and kinds['AugAssign'] is NodeType.Python and kinds['tuple'] is NodeType.CallMethod
    assert kinds['if_node'] is kinds['else_node'] is kinds['while_node'] is NodeType.ControlFlow
    assert stree.nodes()[-1].get_node_type() is NodeType.Output
    add = stree.get_node('add')
    assert add.get_args() == [name('x')] and add.get_kwargs() == {'other': value(1.0)}
    assert [n.get_name() for n in add.get_inputs()] == ['dense'] and [n.get_name() for n in add.get_users()] == ['relu']
    assert add.get_instance_type() is ops.Add and stree.get_node('outer').get_instance_type() is outer
    assert str(add.get_targets()[0]) == 'add_var' and add.get_symbol_tree() is stree
    assert [str(t) for t in stree.get_node('tuple').get_targets()] == ['x', 'y']
    sub = stree.get_node('sub').get_sub_tree()
    assert [n.get_name() for n in sub.nodes()][:2] == ['input_x', 'super']
    assert len(stree.nodes(True)) > len(stree.nodes()) + len(sub.nodes())
    assert stree.get_node('nothing') is None and stree.unique_name('x') == 'x_1' and stree.unique_name('fresh') == 'fresh'
    with pytest.raises(TypeError, match='NodeType.Tree'):
        add.get_sub_tree()


def test_order_of_evaluation_is_kept():
    calls = []

    def f(n, *x, k=None):
        calls.append(n)
        return n

    class Order(nn.Cell):
        def construct(self, x):
            y = f(1) and f(0) and f(9)
            return f(2, f(3) if x is None else f(4, f(5)), *[f(6), f(7)], k=f(8)) + y if f(10) else f(11, f(12))
    net = Order()
    net(data())
    want = calls[:]
    calls.clear()
    SymbolTree.create(net).get_network()(data())
    assert calls == want and 9 not in want and 11 not in want


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.relu = nn.Dense(3, 3), nn.ReLU()

    def construct(self, x):
        x = self.dense(x)
        x = self.relu(x)
        return x


def test_insert_replace_erase():
    net = Small()
    stree = SymbolTree.create(net)
    more = nn.Dense(3, 3)
    node = stree.insert(stree.after('dense'), Node.create_call_cell(more, ['x'], [name('x')], name='more'))
    call = stree.insert(stree.after(node), Node.create_call_function(ops.clamp, ['y'], [name('x')], {'min': value(-.5)}))
    assert call.get_name() == 'clamp' and call.get_inputs() == [node] and node.get_users()[0] is call
    stree.get_node('relu').set_arg_by_node(0, call)
    last = Node.create_call_cell(nn.Sigmoid(), ['x'], [name('y')])
    assert stree.replace(stree.get_node('relu'), [Node.create_call_cell(nn.Tanh(), ['y'], [name('y')]), last]) is last
    new = stree.get_network()
    code = stree.get_code()
    assert 'self.more = obj.more' in code and 'x = self.more(x)' in code and 'relu(' not in code
    want = ops.sigmoid(ops.tanh(ops.clamp(more(net.dense(data())), -.5)))
    same([new(data()), ms.jit(new)(data())], [want, want])
    assert [p.name for p in new.get_parameters()] == ['dense.weight', 'dense.bias', 'more.weight', 'more.bias']
    assert not hasattr(net, 'more') and len(net.trainable_params()) == 2
    assert len(ms.grad(new, None, weights=new.trainable_params())(data())) == 4
    stree.erase(node)
    same([stree.get_network()(data())], [ops.sigmoid(ops.tanh(ops.clamp(net.dense(data()), -.5)))])
    assert len(stree.get_network().trainable_params()) == 2


def test_changes_inside(tree):
    net, stree = tree
    sub = stree.get_node('sub').get_sub_tree()
    sub.get_node('relu').set_arg(0, 'x')
    sub.replace(sub.get_node('relu'), [Node.create_call_cell(nn.Sigmoid(), ['relu_var'], [name('x')])])
    f = stree.get_node('outer')
    tree_of_f = {n.get_name(): n for n in f.nodes()}
    stree.insert(stree.after(tree_of_f['tanh_1']), Node.create_call_function(ops.neg, ['tanh_var'], [name('tanh_var')]))
    loop = stree.get_node('while_node')
    stree.insert(stree.after(loop.nodes()[0]), Node.create_call_function(abs, ['x'], [name('x')]))
    stree.erase('else_node')
    code = stree.get_code()
    assert code.count('class InnerOpt') == 2 and 'tanh_var = neg(tanh_var)' in code and 'x = abs(x)' in code and 'else:' not in code
    got, plain = stree.get_network(), Net()
    for p, q in zip(plain.get_parameters(), net.get_parameters()):
        p.set_data(q)
    plain.sub.relu = nn.Sigmoid()
    plain.helper = lambda x: ops.abs(Net.helper(plain, x))
    used = globals()['outer']
    try:
        globals()['outer'] = lambda x: -ops.tanh(x) * 2
        want = plain(data())
    finally:
        globals()['outer'] = used
    same(got(data()), want)


def test_inputs_and_values():
    stree = SymbolTree.create(Small())
    stree.insert(stree.after('input_x'), Node.create_input('z'))
    stree.insert(stree.after('input_z'), Node.create_input('w', value(2.)))
    assert 'def construct(self, x, z=None, w=2.0):' in stree.get_code()
    bias = Tensor([1., 2., 3.])
    stree.insert(stree.after('relu'), Node.create_call_cell(ops.AddN(), ['x'], [name('xs')], name='sum'))
    stree.get_node('sum').set_arg(0, value([1, 2]))
    stree.replace(stree.get_node('sum'), [Node.create_call_function(ops.add, ['x'], [name('x'), name('z')]),
                                          Node.create_call_function(ops.mul, ['x'], [name('x'), value(bias)])])
    new = stree.get_network()
    same([new(data(), 3.)], [(ops.relu(new.dense(data())) + 3.) * bias])
    with pytest.raises(RuntimeError, match='between parameters'):
        stree.insert(stree.before('input_x'), Node.create_call_function(ops.add, ['x'], [name('x')]))
    with pytest.raises(RuntimeError, match='default'):
        stree.insert(stree.before('input_x'), Node.create_input('v'))


def test_sub_network():
    class Part(nn.Cell):
        def construct(self, x):
            return ops.exp(x) + 1
    stree = SymbolTree.create(Small())
    node = stree.insert(stree.after('relu'), Node.create_call_cell(Part(), ['x'], [name('x')], name='part', is_sub_net=True))
    assert node.get_node_type() is NodeType.Tree
    part = node.get_sub_tree()
    part.erase(part.get_node('exp'))
    part.get_node('binop_add').set_arg(0, 'x')
    new = stree.get_network()
    same([new(data())], [ops.relu(new.dense(data())) + 1])


def test_scoped_values():
    assert str(name('a', 'self')) == 'self.a' and name('a') == name('a') != name('a', 'self')
    assert ScopedValue.create_name_values(['a', 'b'], ['self', '']) == [name('a', 'self'), name('b')]
    assert [value(v).type for v in (1, 'a', None, (1,), [1], {'a': 1}, Tensor(1))] == [
        ValueType.ConstantValue] * 3 + [ValueType.TupleValue, ValueType.ListValue, ValueType.DictValue, ValueType.CustomObjValue]
    assert str(value((1, 'a'))) == "(1, 'a')" and str(value({'k': [name('v')]})) == "{'k': [v]}"


def test_table(capsys):
    SymbolTree.create(Small()).print_node_tabulate()
    out = capsys.readouterr().out
    assert 'x = self.dense(x)' in out and "['input_x']" in out and 'NodeType.Output' in out


@pytest.mark.parametrize('call, kind', [
    (lambda s: SymbolTree.create(3), TypeError), (lambda s: SymbolTree.create(type('Made', (nn.Cell,), {'construct': eval('lambda self, x: x')})()), RuntimeError),
    (lambda s: s.get_node(3), TypeError), (lambda s: s.before('zz'), RuntimeError), (lambda s: s.after(3), TypeError),
    (lambda s: s.erase('zz'), RuntimeError), (lambda s: s.erase('input_x'), RuntimeError), (lambda s: s.insert(1, 2), TypeError),
    (lambda s: s.replace('relu', []), ValueError), (lambda s: s.insert(s.after('relu'), s.get_node('dense')), RuntimeError),
    (lambda s: s.get_node('relu').set_arg(5, 'x'), ValueError), (lambda s: s.get_node('relu').set_arg(0, 3), TypeError),
    (lambda s: s.get_node('relu').set_arg_by_node(0, 3), TypeError),
    (lambda s: s.get_node('relu').set_arg_by_node(0, s.get_node('dense'), 4), ValueError),
    (lambda s: Node.create_call_cell(3, ['x']), TypeError), (lambda s: Node.create_call_cell(nn.ReLU(), 'x'), TypeError),
    (lambda s: Node.create_call_cell(nn.ReLU(), ['x'], ['x']), TypeError), (lambda s: Node.create_call_function(3, ['x']), TypeError),
    (lambda s: Node.create_input(3), TypeError), (lambda s: s.nodes(3), TypeError)])
def test_errors(call, kind):
    with pytest.raises(kind):
        call(SymbolTree.create(Small()))


@pytest.mark.parametrize('model', ['resnet18', 'mobilenet_v2_100', 'shufflenet_v2_x0_5', 'ghostnet_100', 'poolformer_s12'])
def test_models_of_mindcv(model):
    mindcv = pytest.importorskip('mindcv', exc_type=ImportError)
    net = mindcv.create_model(model)
    net.set_train(False)
    new = SymbolTree.create(net).get_network()
    x = Tensor(np.random.default_rng(1).normal(size=(1, 3, 64, 64)).astype(np.float32))
    same([new(x)], [net(x)])
    assert [p.name for p in new.get_parameters()] == [p.name for p in net.get_parameters()]
