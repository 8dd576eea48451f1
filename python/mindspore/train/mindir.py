"""Models in the MindIR format: what mindspore.load gives, and how it is run.

A model is graphs of nodes that call primitives. They are the primitives of ``mindspore.ops`` by their names, so a model is run by
calling those, node by node; in a compiled function that happens once. What is left is here: the nodes that are no operators
(tuples, branches, state) and numbers that stand for words.
"""
import functools
import inspect

from mindspore import _c
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor

VERSION = 3  # the newest version of the format that is known here

# AttributeProto.type
_TENSORS, _TUPLE, _LIST, _DICT, _UMONAD, _IOMONAD, _NONE = 19, 20, 21, 22, 23, 24, 25
_SEQUENCES = (_TUPLE, _LIST)
_STATE = object()  # what orders effects: calls happen in the file's order

_DTYPES = {30: mstype.bool_, 32: mstype.int8, 33: mstype.int16, 34: mstype.int32, 35: mstype.int64, 37: mstype.uint8, 38: mstype.uint16,
           39: mstype.uint32, 40: mstype.uint64, 42: mstype.float16, 43: mstype.float32, 44: mstype.float64, 45: mstype.bfloat16,
           48: mstype.complex64, 49: mstype.complex128}
_REDUCTIONS = {0: "sum", 1: "mean", 2: "none"}
_WORDS = {  # arguments of primitives that are numbers in files
    **dict.fromkeys(("dtype", "output_type", "out_type", "type"), _DTYPES), "argmax_type": {**_DTYPES, 3: mstype.int32, 4: mstype.int64},
    "data_format": {0: "NCHW", 1: "NHWC", 2: "NHWC", 3: "NDHWC", 4: "NCDHW"}, "pad_mode": {0: "pad", 1: "same", 2: "valid"},
    "reduction": _REDUCTIONS, "approximate": {0: "none", 1: "tanh"}, "interpolation_mode": {0: "bilinear", 1: "nearest"},
    "padding_mode": {0: "zeros", 1: "border", 2: "reflection"}, "indexing": {0: "ij", 1: "xy"}}


def _value(attribute):
    """The Python value of an AttributeProto."""
    kind = attribute.get("type", 0)
    if kind in _SEQUENCES:
        items = [_value(v) for v in attribute.get("values", ())]
        return tuple(items) if kind == _TUPLE else items
    if kind == _DICT:
        return {v.get("name", ""): _value(v) for v in attribute.get("values", ())}
    if kind == _TENSORS or kind == 17:
        proto = attribute["tensors"][0] if attribute.get("tensors") else attribute.get("t", {})
        return proto["value"] if "value" in proto else proto.get("data_type")
    if kind in (_UMONAD, _IOMONAD):
        return _STATE
    if kind == _NONE:
        return None
    for one, many in (("i", "ints"), ("f", "floats"), ("d", "doubles"), ("s", "strings")):
        value = attribute[one] if one in attribute else attribute[many][0] if many in attribute else None
        if value is not None:
            return bool(value) if kind == 9 else value
    raise ValueError(f"A constant of the model has the type {kind}, which is not supported.")


class _Closure:
    """A graph with its first arguments."""

    def __init__(self, graph, args=()):
        self.graph, self.args = graph, args


class _Prim:
    """A primitive of the file, ready to be called with the values of a node's inputs."""

    def __init__(self, proto):
        self.name = proto.get("op_type", "")
        self.is_function = proto.get("prim_type") == 2
        self.attrs = {a.get("name", ""): a for a in proto.get("attribute", ())}
        self.call = self.resolve()

    def resolve(self):
        """What computes the primitive of this name."""
        if self.name == "LSTM":
            return _Lstm(**{k: _value(v) for k, v in self.attrs.items()})
        for name in (self.name, self.name.removesuffix("View")):
            found = _SPECIAL.get(name) or (_calls().get(name) if self.is_function or name == "StopGradient" else None)
            if found is not None:
                return found
            cls = _class(name)
            if cls is not None:
                return self.operator(cls)
            found = None if self.has_attributes() else _function(name)
            if found is not None:
                return found
        raise NotImplementedError(f"The model uses the primitive '{self.name}', which is not supported.")

    def has_attributes(self):
        return any(name not in ("input_names", "output_names") and not name.startswith("side_effect") for name in self.attrs)

    def operator(self, cls):
        """A call of a primitive class."""
        init, inputs = _parameters(cls)
        if not inputs:
            return lambda *values: cls()(*values)
        given = {}
        for name in init:
            for alias in (name, *_ALIASES.get(name, ())):
                if alias in self.attrs:
                    given[name] = _word(name, _value(self.attrs[alias]))
                    break
        fix = _FIXES.get(self.name)
        if fix is not None:
            fix(given, {k: _value(v) for k, v in self.attrs.items() if v.get("type") != 0})
        late = [name for name in init if name not in given]  # those that come as inputs, behind the others

        def call(*values):
            n = len(inputs)
            more = {name: _word(name, v) for name, v in zip(late, values[n:])}
            return cls(**given, **more)(*[_word(name, v) for name, v in zip(inputs, values)])
        return call


_ALIASES = {"data_format": ("format",), "pad": ("pad_list",), "dilation": ("dilations",), "group": ("groups",), "stride": ("strides",)}


def _word(name, value):
    words = _WORDS.get(name)
    if name == "argmax_type" and isinstance(value, str):
        return getattr(mstype, value)
    if words is None or type(value) is not int:
        return value
    if value not in words:
        raise ValueError(f"The argument '{name}' of a primitive has the value {value}, which is not known.")
    return words[value]


def _class(name):
    from mindspore.ops import operations, primitive
    found = getattr(operations, name, None)
    return found if isinstance(found, type) and issubclass(found, primitive.Primitive) else None


def _parameters(cls):
    """Names of what a primitive class takes when it is made, and when it is called; no such: all when it is called."""
    return list(cls.__signature__.parameters) if hasattr(cls, "__signature__") else [], getattr(cls, "inputs", ())


def _conv_fix(given, attrs):
    if "pad_list" in attrs and attrs.get("pad_mode", "").lower() == "pad":
        given["pad"] = attrs["pad_list"]


def _transposed_fix(given, attrs):
    given["pad_list"] = attrs.get("pad_list", given.get("pad_list"))


_FIXES = {"Conv2D": _conv_fix, "Conv3D": _conv_fix, "Conv2DTranspose": _transposed_fix, "Conv2DBackpropInput": _transposed_fix}


def _assign(target, value, *_):
    target[...] = value
    return target


def _switch(pred, yes, no):
    return yes if (bool(pred) if isinstance(pred, Tensor) else pred) else no


class _Lstm:
    """The primitive of one layer and direction, whose weights are one tensor: of the input, of the state, of the bias."""

    def __init__(self, input_size, hidden_size, num_layers=1, has_bias=True, bidirectional=False, dropout=0.0, proj_size=0, **_):
        if num_layers != 1 or bidirectional or proj_size:
            raise NotImplementedError("The model uses the primitive 'LSTM' with several layers, directions or a projection, which is not "
                                      "supported.")
        self.sizes, self.has_bias = (4 * hidden_size, input_size, hidden_size), has_bias

    def __call__(self, x, h, c, w):
        from mindspore.common._rows import nn
        gates, n_in, n_state = self.sizes
        w = w.reshape((-1,))
        a, b = gates * n_in, gates * (n_in + n_state)
        weights = [w[:a].reshape((gates, n_in)), w[a:b].reshape((gates, n_state))]
        if self.has_bias:
            weights += [w[b:b + gates], w[b:b + gates] * 0]
        y, h, c = nn.recurrent("LSTM", x, h, c, weights, self.has_bias, 1, False, False, None, 0.0)
        return y, h, c, None, None


@functools.lru_cache(maxsize=None)
def _calls():
    """Primitives that are calls of public functions in another order or form."""
    from mindspore import mint, ops
    f = mint.nn.functional
    return {
        "deepcopy": ops.deepcopy, "relu": ops.relu, "StopGradient": ops.stop_gradient, "ClampScalar": ops.clamp, "ClampTensor": ops.clamp, "PowTensorScalar": ops.pow,
        "RemainderTensorScalar": ops.remainder, "RemainderTensorTensor": ops.remainder, "FloorDivScalar": ops.floor_div,
        "BatchMatMulExt": mint.bmm, "SplitTensor": mint.split, "FillScalar": lambda size, value, dtype: mint.full(size, value, dtype=dtype),
        "MaxDim": mint.max, "MinDim": mint.min, "ConstantPadND": lambda x, pad, value: f.pad(x, pad, "constant", value),
        "OneHotExt": lambda x, depth, on, off, axis: ops.one_hot(x, depth, on, off, axis),
        "RepeatInterleaveInt": lambda x, n, dim, size: mint.repeat_interleave(x, n, dim),
        "RepeatInterleaveTensor": lambda x, n, dim, size: mint.repeat_interleave(x, n, dim),
        "UpsampleNearest2D": lambda x, size, scales: f.interpolate(x, size, scales, "nearest"),
        "UpsampleBilinear2D": lambda x, size, scales, corners: f.interpolate(x, size, scales, "bilinear", corners),
        "MaxPoolWithMask": lambda x, kernel, stride, pad, dilation, ceil, kind:
            f.max_pool2d(x, kernel, stride, pad, dilation, ceil_mode=ceil, return_indices=True),
        "TensorScatterElements": lambda x, index, src, axis, how:
            ops.tensor_scatter_elements(x, index, src, axis, ("none", "add")[how]),
        "Scatter": lambda x, axis, index, src, how: ops.tensor_scatter_elements(x, index, src, axis, ("none", "add")[how]),
        "Im2ColExt": f.unfold,
        "GroupNorm": lambda x, groups, gamma, beta, eps: (ops.group_norm(x, groups, gamma, beta, eps),),
        "LayerNormExt": lambda x, shape, gamma, beta, eps: (f.layer_norm(x, shape, gamma, beta, eps),)}


@functools.lru_cache(maxsize=None)
def _functions():
    """Public functions by their names without capitals and underscores, as primitives without a class are called."""
    from mindspore import mint, ops
    found = {}
    for home in (mint, mint.nn.functional, mint.linalg, ops):
        for name in dir(home):
            fn = getattr(home, name)
            if not name.startswith("_") and callable(fn) and not isinstance(fn, type):
                found.setdefault(name.replace("_", "").lower(), fn)
    return found


def _function(name):
    """A call of the public function of this name with arguments in the file's order, or None."""
    if name.startswith("Inplace"):  # functions of such names are older ones, of something else
        return None
    fn = _functions().get(name.removesuffix("Ext").removeprefix("Linalg").lower())
    if fn is None:
        return None
    params = list(inspect.signature(fn).parameters.values())
    names = [p.name for p in params]
    n = sum(p.kind is not p.KEYWORD_ONLY for p in params)

    def call(*values):
        values = [_word(name, v) for name, v in zip(names, values)] + list(values[len(names):])
        return fn(*values[:n], **dict(zip(names[n:], values[n:])))
    return call


_SPECIAL = {  # nodes that are no operators of numbers, and operators of Python numbers
    "Load": lambda x: x, "Depend": lambda x, *_: x, "UpdateState": lambda *_: _STATE,
    "MakeTuple": lambda *xs: xs, "make_list": lambda *xs: list(xs), "RealMakeTuple": lambda *xs: xs,
    "Partial": lambda f, *xs: _Closure(f.graph, f.args + xs), "Switch": _switch,
    "Assign": _assign, "AssignAdd": lambda x, y: _assign(x, x + y), "AssignSub": lambda x, y: _assign(x, x - y),
    "InplaceCopy": _assign, "InplaceAddExt": lambda x, y, k=1: _assign(x, x + y * k), "InplaceSubExt": lambda x, y, k=1: _assign(x, x - y * k),
    "InplaceAddsExt": lambda x, y, k=1: _assign(x, x + y * k), "InplaceSubScalar": lambda x, y, k=1: _assign(x, x - y * k),
    **dict.fromkeys(("InplaceMul", "InplaceMuls"), lambda x, y: _assign(x, x * y)),
    **dict.fromkeys(("InplaceDiv", "InplaceDivs"), lambda x, y: _assign(x, x / y)), "InplaceReLU": lambda x: _assign(x, _calls()["relu"](x)),
    **dict.fromkeys(("TupleGetItem", "RealTupleGetItem", "ListGetItem", "list_getitem"), lambda xs, k: xs[int(k)]),
    **dict.fromkeys(("SwitchLayer", "switch_layer"), lambda k, fs: fs[int(k)]),
    **{name + kind: f for name, f in (
        ("Add", lambda x, y: x + y), ("Sub", lambda x, y: x - y), ("Mul", lambda x, y: x * y), ("Div", lambda x, y: x / y),
        ("FloorDiv", lambda x, y: x // y), ("Mod", lambda x, y: x % y), ("Less", lambda x, y: x < y), ("LessEqual", lambda x, y: x <= y),
        ("Greater", lambda x, y: x > y), ("GreaterEqual", lambda x, y: x >= y), ("Equal", lambda x, y: x == y),
        ("NotEqual", lambda x, y: x != y)) for kind in ("s", "Scalar")},
    **{"Scalar" + name: f for name, f in (
        ("Add", lambda x, y: x + y), ("Sub", lambda x, y: x - y), ("Mul", lambda x, y: x * y), ("Div", lambda x, y: x / y),
        ("FloorDiv", lambda x, y: x // y), ("Mod", lambda x, y: x % y), ("Lt", lambda x, y: x < y), ("Le", lambda x, y: x <= y),
        ("Gt", lambda x, y: x > y), ("Ge", lambda x, y: x >= y), ("Eq", lambda x, y: x == y))},
}


class _Graph:
    def __init__(self, proto):
        self.name = proto.get("name", "")
        self.nodes = proto.get("node", [])
        self.inputs = [v.get("name", "") for v in proto.get("input", ())]
        self.parameters = [p.get("name", "") for p in proto.get("parameter", ())]
        outputs = proto.get("output", [])
        if len(outputs) != 1:
            raise ValueError(f"The graph '{self.name}' of the model has {len(outputs)} outputs instead of one.")
        self.output = outputs[0].get("name", "")


class FuncGraph:
    """A model as a file holds it; ``nn.GraphCell`` runs it."""

    def __init__(self, model):
        version = model.get("mind_ir_version", 0)
        if version > VERSION:
            raise RuntimeError(f"The model has version {version} of the MindIR format; the newest known here is {VERSION}.")
        if "graph" not in model:
            raise ValueError("The model has no graph.")
        if not model.get("little_endian", 1):
            raise NotImplementedError("The model has big-endian content, which is not supported.")
        self.root = _Graph(model["graph"])
        self.graphs = {g.name: g for g in [self.root, *map(_Graph, model.get("functions", ()))]}
        self.prims = {p.get("name", ""): _Prim(p) for p in model.get("primitives", ())}
        self.written = {n["input"][0].partition(":")[2] for g in self.graphs.values() for n in g.nodes if self._writes(n)}
        self.weights = {}  # name in the network -> content
        for p in model["graph"].get("parameter", ()):
            if "value" not in p:
                raise ValueError(f"The parameter '{_local(p)}' of the model has no content.")
            self.weights[_local(p)] = p["value"]
        self.constants = {n["name"]: _value(n["attribute"][0]) for g in (model["graph"], *model.get("functions", ()))
                          for n in g.get("node", ()) if n.get("op_type") == "Constant" and n.get("attribute")}
        self.user_info = {e.get("key", ""): e.get("value", "") for e in model.get("user_info", ())}
        self.input_names = [name.partition(":")[2] for name in self.root.inputs]

    def _writes(self, node):
        prim = self.prims.get(node.get("op_type", "")[5:])
        return prim is not None and node.get("input") and (prim.name.startswith("Assign") or "side_effect_mem" in prim.attrs)

    def __repr__(self):
        return f"<FuncGraph {self.root.name}: {len(self.input_names)} inputs, {len(self.weights)} parameters>"

    def run(self, weights, inputs):
        """The model's result for these inputs, with these Parameters (in the order of self.weights)."""
        return self._run(_Closure(self.root), (*inputs, *weights))

    def _run(self, closure, args):
        """A graph's result. What ends in a call of a graph goes on with that one, so loops need no depth."""
        while True:
            graph, args = closure.graph, (*closure.args, *args)
            names = graph.inputs + graph.parameters
            if len(args) != len(names):
                raise ValueError(f"The graph '{graph.name}' takes {len(names)} arguments, but got {len(args)}.")
            values = dict(zip(names, args))
            last = self._last(graph)
            for node in graph.nodes:
                op = node.get("op_type", "")
                if op == "Constant":
                    continue
                if node.get("name") is last:
                    break
                values[node["name"]] = self._apply(node, [self._get(values, s, graph) for s in node.get("input", ())], values, graph)
            else:
                return self._get(values, graph.output, graph)
            closure, args = self._callee(op[5:], values, graph), [self._get(values, s, graph) for s in node.get("input", ())]

    def _last(self, graph):
        """The name of the node whose call gives the result, when nothing but what orders effects comes behind it; else None."""
        if not hasattr(graph, "last"):
            graph.last = self._find_last(graph)
        return graph.last

    def _find_last(self, graph):
        wanted = graph.output
        for node in reversed(graph.nodes):
            op, name = node.get("op_type", ""), node.get("name")
            prim = self.prims.get(op[5:])
            if op == "Constant":
                continue
            if prim is None:
                return name if name == wanted else None
            if prim.name not in ("Depend", "UpdateState", "MakeTuple") or name == wanted and prim.name != "Depend":
                return None
            if name == wanted:
                wanted = node["input"][0]
        return None

    def _get(self, values, name, graph):
        if name in values:
            return values[name]
        if name in self.constants:
            return self.constants[name]
        if name in self.graphs:
            return _Closure(self.graphs[name])
        if name in self.prims:
            return self.prims[name].call
        raise ValueError(f"The graph '{graph.name}' of the model uses '{name}', which is not there.")

    def _callee(self, name, values, graph):
        found = self._get(values, name, graph)
        if not isinstance(found, _Closure):
            raise ValueError(f"The graph '{graph.name}' of the model calls '{name}', which is no graph.")
        return found

    def _apply(self, node, inputs, values, graph):
        op = node.get("op_type", "")
        if not op.startswith("REF::"):
            raise ValueError(f"The graph '{graph.name}' of the model has a node of the kind '{op}', which is not supported.")
        prim = self.prims.get(op[5:])
        if prim is None:
            return self._run(self._callee(op[5:], values, graph), inputs)
        if prim.name == "Load" and node["input"][0].partition(":")[2] in self.written:  # the value as it is now
            return _calls()["deepcopy"](inputs[0])
        return prim.call(*[x for x in inputs if x is not _STATE] if prim.name not in ("MakeTuple", "Partial") else inputs)


def _local(proto):
    """The name in the network of a parameter of the root graph."""
    return proto.get("ref_key") or proto.get("name", "").partition(":")[2]


def decode(name, content, folder):
    """A model of a file's bytes."""
    try:
        return FuncGraph(_c.mindir_decode(name, content, folder))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as e:
        raise RuntimeError(f"Load MindIR failed. {name} cannot be read: {e}") from e


def parameters(graph, params_init):
    """A Parameter for each weight of the model, with values of params_init where it has the name."""
    out = []
    for name, value in graph.weights.items():
        given = params_init.get(name) if params_init else None
        out.append(Parameter(value.copy() if given is None else Tensor(given), name=name))
    return out
