"""Cells around a network: loss, gradient, training step, loss scale."""
from mindspore.nn.wrap import cell_wrapper, grad_reducer, graph_cell, loss_scale
from mindspore.nn.wrap.cell_wrapper import *  # noqa: F403
from mindspore.nn.wrap.grad_reducer import *  # noqa: F403
from mindspore.nn.wrap.graph_cell import *  # noqa: F403
from mindspore.nn.wrap.loss_scale import *  # noqa: F403

__all__ = cell_wrapper.__all__ + grad_reducer.__all__ + graph_cell.__all__ + loss_scale.__all__
