"""Names of the dtypes and conversions between dtypes, Python types and numpy's."""
from mindspore import _c
from mindspore._c import dtype as Type

_all = _c.dtypes
bool_ = _all['bool']
int8, int16, int32, int64 = (_all[n] for n in ('int8', 'int16', 'int32', 'int64'))
uint8, uint16, uint32, uint64 = (_all[n] for n in ('uint8', 'uint16', 'uint32', 'uint64'))
float16, bfloat16, float32, float64 = (_all[n] for n in ('float16', 'bfloat16', 'float32', 'float64'))
complex64, complex128, qint4x2 = _all['complex64'], _all['complex128'], _all['int4']
string = _all['string']  # of columns of a dataset; no tensor has it
byte, ubyte, short, ushort, intc, uintc = int8, uint8, int16, uint16, int32, uint32
half, single, double, cfloat, cdouble = float16, float32, float64, complex64, complex128
int_, uint, float_, intp, uintp, long = int32, uint32, float32, int64, uint64, int64

number_type = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16, complex64,
               complex128)
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16)
signed_type = int_type + float_type
complex_type = (complex64, complex128)
all_types = (bool_,) + number_type



class TensorType:
    """What a Tensor is, of elements of one dtype or of any."""

    def __init__(self, element_type=None):
        self._element = element_type

    def element_type(self):
        return self._element

    def __eq__(self, other):
        return type(other) is TensorType and other._element == self._element

    def __hash__(self):
        return hash((TensorType, self._element))

    def __str__(self):
        return 'Tensor' if self._element is None else f'Tensor[{self._element}]'

    def __repr__(self):
        return 'mindspore.tensor' if self._element is None else f'mindspore.{self}'


class _Marker:
    """What a value is where it has no dtype; `_issubclass_` says what it covers."""

    def __init__(self, name, text):
        self._name, self._text = name, text

    def __str__(self):
        return self._text

    def __repr__(self):
        return f'mindspore.{self._name}'


class _Sized(type):
    """Classes whose objects are dtypes: of integers, signed."""

    def __instancecheck__(cls, value):
        return isinstance(value, Type) and value in int_type

    def __call__(cls, bits=64):
        for value in int_type:
            if str(value) == f'Int{bits}':
                return value
        raise ValueError(f"For 'Int', the number of bits must be 8, 16, 32 or 64, but got {bits!r}.")


class Int(metaclass=_Sized):
    """Signed integers: ``isinstance(mindspore.int8, mindspore.Int)``."""


number, list_, tuple_, type_none = (_Marker(*names) for names in (('number', 'Number'), ('list_', 'List'), ('tuple_', 'Tuple'), ('type_none', 'None')))
tensor_type = TensorType()


def _issubclass_(type_, dtype):
    """Whether one type is, or is a kind of, another: a dtype of `number`, a Tensor of some elements of `tensor_type`."""
    if dtype is number:
        return type_ is number or isinstance(type_, Type) and type_ in all_types
    if dtype == tensor_type:
        return isinstance(type_, TensorType)
    return type_ == dtype


_bool, _int, _float = bool, int, float
globals().update({'bool': bool_, 'int': int32, 'float': float32})

__all__ = ['Type', 'bool_', 'bool', 'int', 'float', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32',
           'uint64', 'float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128', 'qint4x2', 'string', 'byte', 'ubyte',
           'short', 'ushort', 'intc', 'uintc', 'half', 'single', 'double', 'cfloat', 'cdouble', 'int_', 'uint', 'float_',
           'intp', 'uintp', 'long', 'Int', 'TensorType', 'number', 'list_', 'tuple_', 'type_none', 'tensor_type', 'dtype_to_nptype', 'dtype_to_pytype', 'pytype_to_dtype', 'get_py_obj_dtype']


def dtype_to_nptype(type_):
    """The numpy type of a dtype; bfloat16, which numpy lacks, gives float32."""
    import numpy
    if not isinstance(type_, Type):
        raise TypeError(f"For 'dtype_to_nptype', the argument must be a dtype, but got {type_!r}.")
    name = {'bfloat16': 'float32', 'int4': 'int8', 'bool': 'bool_'}.get(_name(type_), _name(type_))
    return getattr(numpy, name)


def _name(type_):
    return repr(type_).rpartition('.')[2]


def dtype_to_pytype(type_):
    """The Python type of a dtype: bool, int, float or complex."""
    if type_ is bool_:
        return _bool
    if type_ in int_type or type_ in uint_type:
        return _int
    return complex if type_ in complex_type else _float


def pytype_to_dtype(obj):
    """The dtype of a Python or numpy type."""
    found = _c.dtype_of(obj)
    if found is None:
        raise NotImplementedError(f'Unsupported convert python type {obj} to a dtype.')
    return float64 if obj is _float else found


def get_py_obj_dtype(obj):
    """The dtype of a value."""
    if isinstance(obj, _c.Tensor):
        return obj.dtype
    return pytype_to_dtype(obj if isinstance(obj, type) else type(obj))
