"""Normalisation layers."""
from mindspore.common import dtype as mstype
from mindspore.common._rows import nn as _nn
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.nn.layer._check import check_bool, check_positive_int, check_type

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d",
           "InstanceNorm3d", "SyncBatchNorm"]


class _BatchNorm(Cell):
    """Normalises every channel by the statistics of the batch in training, by moving ones otherwise."""

    _ranks = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init="ones", beta_init="zeros",
                 moving_mean_init="zeros", moving_var_init="ones", use_batch_statistics=None, data_format="NCHW",
                 dtype=mstype.float32):
        super().__init__()
        who = self.cls_name
        check_type(num_features, "num_features", int, who)
        if num_features < 1:
            raise ValueError(f"For '{who}', the 'num_features' must be at least 1, but got {num_features}.")
        if momentum < 0 or momentum > 1:
            raise ValueError(f"For '{who}', the 'momentum' must be a number in range [0, 1], but got {momentum}.")
        if use_batch_statistics not in (None, True, False):
            raise ValueError(f"For '{who}', the 'use_batch_statistics' must be a boolean value or None, but got "
                             f"{use_batch_statistics}.")
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"For '{who}', the 'data_format' must be str and must be in '['NCHW', 'NHWC']', but got "
                             f"'{data_format}'.")
        if data_format != "NCHW":
            raise ValueError(f"For '{who}', the 'NHWC' format only support in GPU target, but got device target CPU.")
        check_bool(affine, "affine", who)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.use_batch_statistics = use_batch_statistics
        self.format = data_format
        shape = [num_features]
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def _check_rank(self, ndim):
        if ndim not in self._ranks:
            raise ValueError(f"For '{self.cls_name}', the in_shape must have {self._ranks[0]} dims, but got {ndim}.")

    def construct(self, x):
        self._check_rank(x.ndim)
        training = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        p = self._params
        return _nn.batch_norm(x, p["gamma"], p["beta"], p["moving_mean"], p["moving_variance"], self.eps, self.momentum,
                              training)

    def extend_repr(self):
        p = self._params
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={p['gamma']}, "
                f"beta={p['beta']}, moving_mean={p['moving_mean']}, moving_variance={p['moving_variance']}")


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    _ranks = (2, 3)

    def _check_rank(self, ndim):
        if ndim not in self._ranks:
            raise ValueError(f"For '{self.cls_name}', the must have 2 dims or 3 dims, but got {ndim}.")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    _ranks = (4,)


class BatchNorm3d(Cell):
    """Batch normalisation of (N, C, D, H, W)."""

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init="ones", beta_init="zeros",
                 moving_mean_init="zeros", moving_var_init="ones", use_batch_statistics=None, dtype=mstype.float32):
        super().__init__()
        self.bn2d = BatchNorm2d(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init,
                                moving_var_init, use_batch_statistics, "NCHW", dtype)

    def construct(self, x):
        if x.ndim != 5:
            raise ValueError(f"For '{self.cls_name}', the in_shape must have 5 dims, but got {x.ndim}.")
        n, c, d, h, w = x.shape
        return self.bn2d(x.reshape((n, c, d * h, w))).reshape(x.shape)


def _layer_norm_primitive(cell):
    from mindspore.ops import operations as P
    return P.LayerNorm(cell.begin_norm_axis, cell.begin_params_axis, cell.epsilon)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the devices of a group, which is this one."""

    _ranks = (2, 3, 4, 5)

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init="ones", beta_init="zeros",
                 moving_mean_init="zeros", moving_var_init="ones", use_batch_statistics=None, process_groups=None,
                 dtype=mstype.float32):
        super().__init__(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
                         use_batch_statistics, "NCHW", dtype)
        if process_groups is not None:
            check_type(process_groups, "process_groups", list, self.cls_name)
            if any(set(group) - {0} for group in process_groups):
                raise ValueError(f"For '{self.cls_name}', the 'process_groups' may only name rank 0, but got {process_groups}.")
        self.process_groups = process_groups


class LayerNorm(Cell):
    """Normalises the axes from begin_norm_axis on; gamma and beta have ``normalized_shape``."""

    _ms_derived = {"layer_norm": _layer_norm_primitive}

    def __init__(self, normalized_shape, begin_norm_axis=-1, begin_params_axis=-1, gamma_init="ones", beta_init="zeros",
                 epsilon=1e-7, dtype=mstype.float32):
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(f"For '{self.cls_name}', the type of 'normalized_shape' must be tuple[int] or list[int], but got "
                            f"{normalized_shape} and the type is {type(normalized_shape)}.")
        if not normalized_shape:
            raise ValueError(f"Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                             f"but got normalized_shape = {normalized_shape}")
        self.normalized_shape = normalized_shape
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.epsilon = epsilon
        self.gamma = Parameter(initializer(gamma_init, normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, normalized_shape, dtype), name="beta")

    def _axis(self, axis, ndim, name):
        if not -ndim <= axis < ndim:
            raise ValueError(f"For '{self.cls_name}', the '{name}' must be in range [{-ndim}, {ndim}), but got {axis}.")
        return axis % ndim

    def construct(self, input_x):
        ndim, shape = input_x.ndim, tuple(input_x.shape)
        norm = self._axis(self.begin_norm_axis, ndim, "begin_norm_axis")
        params = self._axis(self.begin_params_axis, ndim, "begin_params_axis")
        if tuple(self.normalized_shape) != shape[params:]:
            raise ValueError(f"For '{self.cls_name}', gamma or beta shape must match input shape, but got input shape: "
                             f"{list(shape)}, gamma shape: {list(self.normalized_shape)}, beta shape: "
                             f"{list(self.normalized_shape)}.")
        if norm == params:
            return _nn.layer_norm(input_x, self.gamma, self.beta, ndim - norm, self.epsilon)
        y = _nn.layer_norm(input_x, None, None, ndim - norm, self.epsilon)
        return y * self.gamma + self.beta

    def extend_repr(self):
        return (f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
                f"begin_params_axis={self.begin_params_axis}, gamma{self._params['gamma']}, beta={self._params['beta']}")


class GroupNorm(Cell):
    """Normalises groups of channels of (N, C, ...)."""

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, gamma_init="ones", beta_init="zeros",
                 dtype=mstype.float32):
        super().__init__()
        self.num_groups = check_positive_int(num_groups, "num_groups", self.cls_name)
        self.num_channels = check_positive_int(num_channels, "num_channels", self.cls_name)
        if num_channels % num_groups:
            raise ValueError(f"For '{self.cls_name}', the 'num_channels' must be divided by 'num_groups', but got "
                             f"'num_channels': {num_channels}, 'num_groups': {num_groups}.")
        self.eps = check_type(eps, "eps", float, self.cls_name)
        self.affine = check_bool(affine, "affine", self.cls_name)
        self.gamma = Parameter(initializer(gamma_init, num_channels, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_channels, dtype), name="beta", requires_grad=affine)

    def construct(self, x):
        return _nn.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self):
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Normalises every channel of every example."""

    _rank = 4

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, gamma_init="ones", beta_init="zeros",
                 dtype=mstype.float32):
        super().__init__()
        who = self.cls_name
        check_type(num_features, "num_features", int, who)
        if num_features < 1:
            raise ValueError(f"For '{who}', the 'num_features' must be at least 1, but got {num_features}.")
        if momentum < 0 or momentum > 1:
            raise ValueError(f"For '{who}', the 'momentum' must be a number in range [0, 1], but got {momentum}.")
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = check_bool(affine, "affine", who)
        self.moving_mean = Parameter(initializer("zeros", num_features, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", num_features, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, num_features, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_features, dtype), name="beta", requires_grad=affine)

    def construct(self, x):
        if x.ndim != self._rank:
            raise ValueError(f"For '{self.cls_name}', the in_shape must have {self._rank} dims, but got {x.ndim}.")
        return _nn.group_norm(x, self.num_features, self.gamma, self.beta, self.eps)

    def extend_repr(self):
        p = self._params
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={p['gamma']}, "
                f"beta={p['beta']}, moving_mean={p['moving_mean']}, moving_variance={p['moving_variance']}")


class InstanceNorm1d(_InstanceNorm):
    _rank = 3


class InstanceNorm2d(_InstanceNorm):
    _rank = 4


class InstanceNorm3d(_InstanceNorm):
    _rank = 5
