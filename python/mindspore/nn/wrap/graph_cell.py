"""GraphCell: a model that was loaded from a file, as a Cell."""
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

__all__ = ["GraphCell"]


def _flat(values):
    return [x for v in values for x in (_flat(v) if isinstance(v, (tuple, list)) else (v,))]


class GraphCell(Cell):
    """Runs a model that ``mindspore.load`` gave. params_init: {name: Tensor} in place of weights of the file."""

    def __init__(self, graph, params_init=None, obf_random_seed=None):
        from mindspore.jit import Jit
        from mindspore.train import mindir
        super().__init__(auto_prefix=False)
        if not isinstance(graph, mindir.FuncGraph):
            raise TypeError(f"For 'GraphCell', the argument 'graph' must be a FuncGraph loaded from MindIR, but got type {type(graph)}.")
        params_init = {} if params_init is None else params_init
        if not isinstance(params_init, dict):
            raise TypeError(f"For 'GraphCell', the argument 'params_init' must be a dict, but got {type(params_init)}.")
        for name, value in params_init.items():
            if not isinstance(name, str) or not isinstance(value, (Parameter, Tensor)):
                raise TypeError("For 'GraphCell', the key of the 'params_init' must be str, and the value must be Tensor or Parameter, "
                                f"but got the key type: {type(name)}, and the value type: {type(value)}")
        if obf_random_seed is not None:
            raise NotImplementedError("For 'GraphCell', obfuscated models ('obf_random_seed') are not supported.")
        self.graph = graph
        self._weights = mindir.parameters(graph, params_init)
        for param in self._weights:
            self._params[param.name] = param
        object.__setattr__(self, "_jit", Jit(self._run, "trace", "O1", name=f"GraphCell({graph.root.name})"))

    def _run(self, *inputs):
        return self.graph.run(self._weights, inputs)

    def construct(self, *inputs):
        if len(inputs) != len(self.graph.input_names):  # tensors of tuples and lists are inputs one by one
            inputs = _flat(inputs)
        if len(inputs) != len(self.graph.input_names):
            raise ValueError(f"For 'GraphCell', the model takes {len(self.graph.input_names)} inputs ({', '.join(self.graph.input_names)}), "
                             f"but got {len(inputs)}.")
        return self._jit(*inputs)
