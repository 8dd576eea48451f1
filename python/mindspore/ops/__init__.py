"""Functions on tensors: every row `ops.x` of the registry; the transformations under their second path; primitive classes."""
import importlib as _importlib

from mindspore import _c

globals().update(_c.rows('ops'))

_HOME = {name: module for module, names in {
    'mindspore.autodiff': 'grad value_and_grad vjp jvp vmap jacfwd jacrev get_grad jet derivative',
    'mindspore.ops.composite': 'GradOperation HyperMap Map MultitypeFuncGraph partial depend',
    'mindspore.ops.primitive': 'Primitive PrimitiveWithInfer PrimitiveWithCheck prim_attr_register constexpr',
    'mindspore.ops.vm_impl_registry': 'get_vm_impl_fn',
    'mindspore.ops.fused': 'flash_attention_score prompt_flash_attention',
    'mindspore.mint.distributed': 'all_gather all_reduce barrier broadcast get_backend get_process_group_ranks get_rank new_group recv send',
    'mindspore.ops.op_info_register': 'AiCPURegOp CpuRegOp CustomRegOp DataType TBERegOp custom_info_register',
    'mindspore.ops.shapes': 'shape rank size dyn_shape is_tensor typeof dtype isconstant tuple_to_array '
                             'is_sequence_value_unknown is_sequence_shape_unknown make_range',
    'mindspore.ops.older': 'lp_pool1d lp_pool2d fractional_max_pool2d fractional_max_pool3d conv3d_transpose crop_and_resize '
                           'bounding_box_encode bounding_box_decode check_valid choice_with_mask multinomial_with_replacement '
                           'uniform_candidate_sampler log_uniform_candidate_sampler switch_layer add_flags mirror_pad padding move_to print_ make_tuple tuple_len tail tuple_div switch '
                           'is_dynamic_sequence_element_unknown type_as tensor_dot batch_dot linearize '
                           'add_rms_norm diff_ext embedding swiglu rotary_position_embedding multilabel_margin_loss sparse_segment_mean deformable_conv2d',
}.items() for name in names.split()}
_MODULES = ('auto_generate', 'composite', 'function', 'functional', 'op_info_register', 'operations', 'primitive', '_primitive_cache', 'vm_impl_registry')


def __getattr__(name):
    if name[:4] in ('coo_', 'csr_') or name in ('coalesce', 'dense_to_sparse_coo', 'dense_to_sparse_csr'):
        sparse = _importlib.import_module('mindspore.common.sparse_tensor')
        if name not in sparse.FUNCTIONS:
            raise AttributeError(f"module 'mindspore.ops' has no attribute {name!r}")
        value = getattr(sparse, name)
    elif name in _HOME:
        value = getattr(_importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        return _importlib.import_module('mindspore.ops.' + name)
    else:
        operations = _importlib.import_module('mindspore.ops.operations')
        if name.startswith('__') or not (name in operations.__all__):
            raise AttributeError(f"module 'mindspore.ops' has no attribute {name!r}")
        value = getattr(operations, name)
    return globals().setdefault(name, value)


def __dir__():
    operations = _importlib.import_module('mindspore.ops.operations')
    return sorted(set(globals()) | set(_HOME) | set(_MODULES) | set(operations.__all__))
