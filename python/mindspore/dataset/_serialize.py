"""Pipelines as JSON. Every dataset, sampler and transform keeps what it was made with (_check.Recorded), and is made again
from that, so a new operation needs nothing here. Functions of the user are written by their names only, and cannot be read
back. What JSON has no form for is an object with one key: tuple, map, array, dtype, enum, schema."""
import enum
import inspect
import json
import sys

import numpy as np

import mindspore.log as logger
from mindspore import _c

from . import _check, datasets, samplers
from ._records import Schema
from .transforms import PyTensorOperation, TensorOperation, _name

__all__ = ['compare', 'deserialize', 'serialize', 'show']

_SAMPLING = ('sampler', 'shuffle', 'num_samples', 'num_shards', 'shard_id')  # what a sampler stands for
_PACKAGE = __package__


def _bound(function, args, kwargs):
    """{parameter: value} with the defaults; further keywords stand among them."""
    call = inspect.signature(function).bind(*args, **kwargs)
    call.apply_defaults()
    values = {}
    for name, value in call.arguments.items():
        values.update(value if call.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD else {name: value})
    return values


def _dtype(value):
    """The name of what is a dtype, else None."""
    if isinstance(value, _c.dtype):
        return repr(value).rsplit('.', 1)[-1]
    return np.dtype(value).name if isinstance(value, np.dtype) or value in (bool, int, float) or \
        (isinstance(value, type) and issubclass(value, np.generic)) else None


def _encode(value):
    if isinstance(value, enum.Enum):
        return {'enum': [type(value).__module__, type(value).__name__, value.name]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return [_encode(v) for v in value]
    if isinstance(value, tuple):
        return {'tuple': [_encode(v) for v in value]}
    if isinstance(value, dict):
        return {'map': [[_encode(k), _encode(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray):
        return {'array': value.tolist(), 'dtype': value.dtype.str}
    if isinstance(value, Schema):
        return {'schema': json.loads(value.to_json())}
    if isinstance(value, samplers.Sampler):
        return _sampler(value)
    if isinstance(value, (TensorOperation, PyTensorOperation)) and type(value).__module__.startswith(_PACKAGE):
        return {'python_module': type(value).__module__, 'tensor_op_name': type(value).__name__,
                'tensor_op_params': _arguments(type(value), *value._given)}
    if _dtype(value):
        return {'dtype': _dtype(value)}
    if callable(value):
        return {'python_module': getattr(value, '__module__', None), 'tensor_op_name': _name(value)}
    raise RuntimeError(f'Invalid data, a value of {type(value)} cannot be serialized.')


def _arguments(cls, args, kwargs):
    return {k: _encode(v) for k, v in _bound(cls, args, kwargs).items()}


def _sampler(value):
    result = {'sampler_name': type(value).__name__}
    if isinstance(value, samplers.BuiltinSampler):
        result.update(_arguments(type(value), *value._given), shuffle_mode=_encode(value.shuffle_mode))
    if value.child_sampler is not None:
        result['child_sampler'] = [_sampler(value.child_sampler)]
    return result


def _to_dict(dataset):
    children = {'children': [_to_dict(c) for c in dataset.children]}
    if dataset._step is not None:
        op_type, function, args, kwargs = dataset._step
        values = _bound(function, args, kwargs)
        values = {k: v for k, v in values.items() if k not in ('self', 'datasets')}
        if 'operations' in values and not isinstance(values['operations'], (list, tuple)):
            values['operations'] = [values['operations']]
        values = {k: list(v) if k == 'operations' else v for k, v in values.items()}
        return {'op_type': op_type, **children, **{k: _encode(v) for k, v in values.items()}}
    result = {'op_type': type(dataset).__name__, **children}
    if isinstance(dataset, datasets.GeneratorDataset):
        return result
    values = _bound(type(dataset), *dataset._given)
    if 'sampler' in values:
        values = {k: v for k, v in values.items() if k not in _SAMPLING}
        result['sampler'] = None if dataset.sampler is None else _sampler(dataset.sampler)
    return {**result, **{k: _encode(v) for k, v in values.items()}}


def serialize(dataset, json_filepath=''):
    """The pipeline as a dict, which is also written to a file when one is named."""
    _check.kind('dataset', dataset, datasets.Dataset)
    _check.kind('json_filepath', json_filepath, str)
    result = _to_dict(dataset)
    if json_filepath:
        with open(json_filepath, 'w', encoding='utf-8') as f:
            json.dump(result, f, indent=2, sort_keys=True)
    return result


# ---- and back ----

def _class(module, name, base):
    cls = getattr(sys.modules.get(module), name, None) if str(module).startswith(_PACKAGE) else None
    if not isinstance(cls, type) or not issubclass(cls, base):
        raise RuntimeError(f'Invalid data, unsupported operation: {name}.')
    return cls


def _decode(value):
    if isinstance(value, list):
        return [_decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if 'sampler_name' in value:
        return _made_sampler(value)
    if 'tensor_op_name' in value:
        if 'tensor_op_params' not in value:
            raise RuntimeError("Invalid data, Failed to find key 'tensor_op_params' in PyFuncOp' JSON file or input dict: the "
                               f"function {value['tensor_op_name']!r} of the user is not in it.")
        cls = _class(value['python_module'], value['tensor_op_name'], (TensorOperation, PyTensorOperation))
        return cls(**{k: _decode(v) for k, v in value['tensor_op_params'].items()})
    if 'enum' in value:
        module, cls, name = value['enum']
        return _class(module, cls, enum.Enum)[name]
    if 'tuple' in value:
        return tuple(_decode(v) for v in value['tuple'])
    if 'map' in value:
        return {_decode(k): _decode(v) for k, v in value['map']}
    if 'dtype' in value and len(value) == 1:
        return _c.dtypes[value['dtype']]
    if 'array' in value:
        return np.array(value['array'], value['dtype'])
    if 'schema' in value:
        schema = Schema()
        schema.from_json(value['schema'])
        return schema
    raise RuntimeError(f'Invalid data, no value has the keys {sorted(value)}.')


def _made_sampler(value):
    cls = _class(samplers.__name__, value['sampler_name'], samplers.BuiltinSampler)
    made = cls(**{k: _decode(v) for k, v in value.items() if k not in ('sampler_name', 'child_sampler', 'shuffle_mode')})
    made.shuffle_mode = _decode(value['shuffle_mode'])
    for child in value.get('child_sampler', ()):
        made.add_child(_made_sampler(child))
    return made


def _from_dict(value):
    if not isinstance(value, dict) or 'op_type' not in value or 'children' not in value:
        raise RuntimeError("Invalid data, a pipeline must have the keys 'op_type' and 'children'.")
    op_type = value['op_type']
    if op_type in ('Filter', 'GeneratorDataset'):
        raise RuntimeError(f'Invalid data, unsupported operation type: {op_type}, which runs what is not in it.')
    children = [_from_dict(c) for c in value['children']]
    given = {k: _decode(v) for k, v in value.items() if k not in ('op_type', 'children', 'sampler')}
    if op_type == 'Zip':
        return datasets.zip(tuple(children))
    if op_type == 'Concat':
        return children[0].concat(children[1:])
    if op_type in datasets.STEPS and len(children) == 1:
        return getattr(children[0], datasets.STEPS[op_type])(**given)
    cls = getattr(sys.modules[_PACKAGE], op_type, None)
    if not isinstance(cls, type) or not issubclass(cls, datasets.MappableDataset):
        raise RuntimeError(f'Invalid data, unsupported operation type: {op_type}')
    made = cls(**given)
    if 'sampler' in value:
        made.sampler = None if value['sampler'] is None else _made_sampler(value['sampler'])
        made._node = made._open()
    return made


def deserialize(input_dict=None, json_filepath=None):
    """The pipeline of a dict, or of a file of JSON, as serialize wrote it."""
    path = json_filepath or (input_dict if isinstance(input_dict, str) else None)
    if path is None:
        return _from_dict(_check.kind('input_dict', input_dict, dict))
    with open(_check.kind('json_filepath', path, str), encoding='utf-8') as f:
        return _from_dict(json.load(f))


def show(dataset, indentation=2):
    """Writes the pipeline to the log, at level INFO."""
    logger.info(json.dumps(serialize(dataset), indent=indentation))


def compare(pipeline1, pipeline2):
    """Whether two pipelines are the same, as far as serialize tells."""
    return serialize(pipeline1) == serialize(pipeline2)
