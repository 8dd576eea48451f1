"""Layers of neural networks."""
from mindspore.nn.layer import (activation, basic, combined, container, conv, embedding, image, math, normalization, pooling,
                                rnn_cells, rnns, transformer)
from mindspore.nn.layer.activation import *  # noqa: F403
from mindspore.nn.layer.basic import *  # noqa: F403
from mindspore.nn.layer.combined import *  # noqa: F403
from mindspore.nn.layer.container import *  # noqa: F403
from mindspore.nn.layer.conv import *  # noqa: F403
from mindspore.nn.layer.embedding import *  # noqa: F403
from mindspore.nn.layer.image import *  # noqa: F403
from mindspore.nn.layer.math import *  # noqa: F403
from mindspore.nn.layer.normalization import *  # noqa: F403
from mindspore.nn.layer.pooling import *  # noqa: F403
from mindspore.nn.layer.rnn_cells import *  # noqa: F403
from mindspore.nn.layer.rnns import *  # noqa: F403
from mindspore.nn.layer.transformer import *  # noqa: F403

__all__ = (activation.__all__ + basic.__all__ + combined.__all__ + container.__all__ + conv.__all__ + embedding.__all__ +
           image.__all__ + math.__all__ + normalization.__all__ + pooling.__all__ + rnn_cells.__all__ + rnns.__all__ + transformer.__all__)
