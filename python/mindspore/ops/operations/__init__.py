"""The primitive classes, each made from its line of the table when it is first named."""
import ast
import inspect
import sys

from mindspore.ops import primitive
from mindspore.ops.operations import _special
from mindspore.ops.operations._table import TABLE
from mindspore.ops.operations._table_more import MORE

_LINES = {line.partition("(")[0]: line for line in (TABLE + MORE).split("\n") if "(" in line and not line.startswith("#")}
_aliases = {"TensorAdd": "Add", "Gelu": "GeLU", "FloorDivision": "FloorDiv", "DepthwiseConv2d": "DepthwiseConv2dNative", "DynamicShape":
            "TensorShape", "MulNoNanV2": "MulNoNan"}


class _Attributes(ast.NodeTransformer):
    """Names of attributes become attributes of ``self``."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        if node.id in self.names:
            return ast.Attribute(ast.Name("self", ast.Load()), node.id, ast.Load())
        return node


def _signature(text, space):
    return inspect.signature(eval(f"lambda {text}: None", space))


def _split(line):
    """name, attributes, inputs, expression of ``Name(attributes)(inputs) = expression``."""
    head, expression = line.split(" = ", 1)
    depth, parts, at = 0, [], 0
    for k, ch in enumerate(head):
        if ch == "(":
            if depth == 0:
                at = k + 1
            depth += 1
        elif ch == ")":
            depth -= 1
            if depth == 0:
                parts.append(head[at:k])
    return head.partition("(")[0], parts[0], parts[1], expression


def _make(line):
    name, attributes, inputs, expression = _split(line)
    space = _special.space()
    init, call = _signature(attributes, space), _signature(inputs, space)
    tree = ast.parse(f"lambda self{', ' + inputs if inputs else ''}: {expression}", f"<{name}>", "eval")
    _Attributes(set(init.parameters)).visit(tree.body.body)
    run = eval(compile(ast.fix_missing_locations(tree), f"<{name}>", "eval"), space)
    return primitive.make_class(name, init, call, run, space.get(f"check_{name}"))


def __getattr__(name):
    name = _aliases.get(name, name)
    if name in globals():  # an alias of a class that is made already
        return globals()[name]
    if name in _PARTS:
        return sys.modules[__name__]
    if name in _LINES:
        value = _make(_LINES[name])
    elif name in _special.__all__:
        value = getattr(_special, name)
    elif name in primitive.__all__:
        value = getattr(primitive, name)
    elif name.islower() and name in vars(sys.modules["mindspore.ops"]):  # code imports functions from here too
        return getattr(sys.modules["mindspore.ops"], name)
    else:
        raise AttributeError(f"module 'mindspore.ops.operations' has no attribute {name!r}")
    return globals().setdefault(name, value)  # another thread may have made it meanwhile


__all__ = sorted({*_LINES, *_special.__all__, *_aliases})


def __dir__():
    return __all__


# The original sorts its classes into modules that code imports from; they are all this one.
_PARTS = ("nn_ops", "math_ops", "array_ops", "other_ops", "inner_ops", "_inner_ops", "_grad_ops", "comm_ops", "random_ops", "debug_ops",
          "image_ops", "sparse_ops", "linalg_ops", "control_ops", "manually_defined", "_sequence_ops", "_scalar_ops", "spectral_ops",
          "_tensor_array", "_csr_ops", "custom_ops", "rl_ops", "_embedding_cache_ops", "_rl_inner_ops", "_infer_ops", "_quant_ops",
          "_custom_ops_utils", "_ocr_ops", "_map_tensor_ops", "_thor_ops", "_ms_kernel", "reshard_ops")
for _name in _PARTS:
    sys.modules[f"{__name__}.{_name}"] = sys.modules[__name__]
