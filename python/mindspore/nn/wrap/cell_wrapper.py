"""Cells around a network: loss, gradient and training step."""

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.parameter import ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_positive_int, check_type
from mindspore.nn.layer.basic import Identity
from mindspore.ops.composite import GradOperation, HyperMap

__all__ = ["WithLossCell", "WithEvalCell", "WithGradCell", "ForwardValueAndGrad", "TrainOneStepCell", "ParameterUpdate",
           "GetNextSingleOp", "VirtualDatasetCellTriple", "MicroBatchInterleaved", "PipelineCell", "GradAccumulationCell",
           "TimeDistributed"]


def value_and_grad_of(*args):
    from mindspore import value_and_grad  # the transformation imports Cell
    return value_and_grad(*args)


class WithLossCell(Cell):
    """loss_fn(backbone(data), label)"""

    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data, label):
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self):
        return self._backbone


class WithEvalCell(Cell):
    """(loss, output, label) for metrics."""

    def __init__(self, network, loss_fn, add_cast_fp32=False):
        super().__init__(auto_prefix=False)
        self._network = network
        self._loss_fn = loss_fn
        if not isinstance(add_cast_fp32, bool):
            raise TypeError(f"For '{self.cls_name}', the type of 'add_cast_fp32' should be 'bool', but got type "
                            f"'{type(add_cast_fp32).__name__}'.")
        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data, label):
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs, label = ops.mixed_precision_cast(mstype.float32, (outputs, label))
        return self._loss_fn(outputs, label), outputs, label


class WithGradCell(Cell):
    """Gradients of the loss with respect to the trainable parameters."""

    def __init__(self, network, loss_fn=None, sens=None):
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.sens = sens
        self._network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self._network_with_loss.set_train()

    def construct(self, *inputs):
        loss, grads = value_and_grad_of(self._network_with_loss, None, self.weights)(*inputs)
        return grads if self.sens is None else tuple(g * self.sens for g in grads)


class ForwardValueAndGrad(Cell):
    """Value of the network and its gradients: of the first input, all inputs (get_all) and / or weights (get_by_list)."""

    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(f"For '{self.cls_name}', the 'network' must be a Cell, a function or a method, but got "
                            f"{type(network)}.")
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"For '{self.cls_name}', the '{name}' must be bool, but got {type(value).__name__}.")
        if get_by_list and weights is None:
            raise TypeError(f"For '{self.cls_name}', the 'weights' must be given when 'get_by_list' is True.")
        self.network = network
        self.weights = weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def construct(self, *inputs):
        sens = None
        if self.sens_param:
            *inputs, sens = inputs
        position = tuple(range(len(inputs))) if self.get_all else None if self.get_by_list else 0
        fn = value_and_grad_of(self.network, position, self.weights if self.get_by_list else None, False, False, self.sens_param)
        value, grads = fn(*inputs, sens) if self.sens_param else fn(*inputs)
        if self.get_all and len(inputs) == 1:  # all inputs: a tuple even of one
            grads = ((grads[0],), grads[1]) if self.get_by_list else (grads,)
        return value, grads


class TrainOneStepCell(Cell):
    """One training step: loss, gradients, update. Returns the loss."""

    def __init__(self, network, optimizer, sens=None, return_grad=False):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = self.optimizer.parameters
        self.return_grad = return_grad
        self.sens = sens
        self.reducer_flag = False
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.hyper_map = HyperMap()
        self.grad_reducer = Identity()
        if sens is not None and (isinstance(sens, bool) or not isinstance(sens, (int, float))):
            raise TypeError(f"For '{self.cls_name}', the 'sens' must be a number or None, but got {type(sens).__name__}.")
        if return_grad:
            self.weights_name = [p.name for p in self.optimizer.parameters]

    def construct(self, *inputs):
        loss, grads = value_and_grad_of(self.network, None, self.weights)(*inputs)
        if self.sens is not None and self.sens != 1:
            grads = tuple(g * self.sens for g in grads)
        grads = self.grad_reducer(grads)
        loss = ops.depend(loss, self.optimizer(grads))
        if self.return_grad:
            return loss, dict(zip(self.weights_name, grads))
        return loss


class ParameterUpdate(Cell):
    """Assigns its input to a Parameter."""

    def __init__(self, param):
        super().__init__(auto_prefix=False)
        if not isinstance(param, Tensor):
            raise TypeError(f"For '{self.cls_name}', 'param' must be 'Parameter', but got {type(param).__name__}.")
        self._param = param

    def construct(self, x):
        self._params["_param"].assign_value(x)
        return x


class GetNextSingleOp(Cell):
    """The next batch of a device queue, which only accelerators have."""

    def __init__(self, dataset_types, dataset_shapes, queue_name):
        raise RuntimeError("For 'GetNextSingleOp', there are no device queues on CPU: iterate over the dataset instead.")


class VirtualDatasetCellTriple(Cell):
    """backbone(a, b, c): on one device the data need no distribution."""

    def __init__(self, backbone):
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, a, b, c):
        return self._backbone(a, b, c)


def _share(x, k, n, who):
    """The k-th of n equal parts of the first axis; what is no Tensor goes to every part."""
    if not isinstance(x, Tensor) or x.ndim == 0:
        return x
    if x.shape[0] % n:
        raise ValueError(f"For '{who}', the first dimension of every input must be divisible by {n}, but got shape {x.shape}.")
    size = x.shape[0] // n
    return x[k * size:(k + 1) * size]


class _Micro(Cell):
    """Runs a network on parts of the batch and adds the results."""

    def __init__(self, network, n):
        super().__init__(auto_prefix=False)
        check_type(network, "network", Cell, self.cls_name)
        self.network = network
        self._n = n

    def construct(self, *inputs):
        total = None
        for k in range(self._n):
            y = self.network(*[_share(x, k, self._n, self.cls_name) for x in inputs])
            total = y if total is None else total + y
        return self._finish(total)

    def _finish(self, total):
        return total


class MicroBatchInterleaved(_Micro):
    """The mean of the losses of ``interleave_num`` parts of the batch."""

    def __init__(self, network, interleave_num=2):
        super().__init__(network, check_positive_int(interleave_num, "interleave_num", "MicroBatchInterleaved"))
        self.interleave_num = interleave_num

    def _finish(self, total):
        return total / self._n


class PipelineCell(_Micro):
    """The sum of the losses of ``micro_size`` parts of the batch; all stages are on this device."""

    def __init__(self, network, micro_size, stage_config=None, segment_config=None):
        super().__init__(network, check_positive_int(micro_size, "micro_size", "PipelineCell"))
        self.micro_size = micro_size
        for config, attribute in ((stage_config, "pipeline_stage"), (segment_config, "pipeline_segment")):
            if config is None:
                continue
            cells = dict(network.cells_and_names())
            unknown = [name for name in config if name not in cells]
            if unknown:
                raise KeyError(f"For '{self.cls_name}', the network has no cells named {unknown}.")
            for name, number in config.items():
                setattr(cells[name], attribute, number)


class GradAccumulationCell(_Micro):
    """The sum of the losses of ``micro_size`` parts of the batch, so that their gradients accumulate."""

    def __init__(self, network, micro_size):
        super().__init__(network, check_positive_int(micro_size, "micro_size", "GradAccumulationCell"))
        self.micro_size = micro_size


class TimeDistributed(Cell):
    """Applies a layer to every slice of an axis of time."""

    def __init__(self, layer, time_axis, reshape_with_axis=None):
        super().__init__()
        if not callable(layer):
            raise TypeError(f"For '{self.cls_name}', the 'layer' must be a Cell or a Primitive, but got {type(layer).__name__}.")
        self.layer = layer
        self.time_axis = check_type(time_axis, "time_axis", int, self.cls_name)
        if reshape_with_axis is not None:
            check_type(reshape_with_axis, "reshape_with_axis", int, self.cls_name)
        self.reshape_with_axis = reshape_with_axis

    def construct(self, inputs):
        axis = self.time_axis % inputs.ndim
        slices = [self.layer(x) for x in ops.unbind(inputs, axis)]
        return ops.stack(slices, min(axis, slices[0].ndim))
