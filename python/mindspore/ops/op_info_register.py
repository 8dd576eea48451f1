"""What a user says of an operator of his own: inputs, outputs, attributes, dtypes. ``ops.Custom`` looks at the attributes and dtypes."""
__all__ = ["AiCPURegOp", "CpuRegOp", "CustomRegOp", "DataType", "TBERegOp", "custom_info_register"]

_TYPES = {"None": "", "BOOL": "bool", "I8": "int8", "U8": "uint8", "I16": "int16", "U16": "uint16", "I32": "int32", "U32": "uint32", "I64": "int64",
          "U64": "uint64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64", "C64": "complex64", "C128": "complex128"}
_FORMATS = {"None": "", "Default": "DefaultFormat", "5HD": "NC1HWC0", "FracZ": "FRACTAL_Z", "FracNZ": "FRACTAL_NZ", "FracZNLSTM": "FRACTAL_ZN_LSTM",
            "FracZNRNN": "FRACTAL_ZN_RNN", "ND_RNNBIAS": "ND_RNN_BIAS",
            **{f: f for f in ("C1HWNCoC0", "ChannelLast", "DHWCN", "FRACTAL_Z_3D", "HWCN", "NCDHW", "NCHW", "NC1HWC0", "NDC1HWC0", "NDHWC", "NHWC")}}


class _Pairs(type):
    def __getattr__(cls, name):
        kind, _, form = name.partition("_")
        base, _, container = form.partition("_") if form.startswith("Default_") else (form, "", "")
        if kind not in _TYPES or base not in _FORMATS or container not in ("", "List", "Tuple"):
            raise AttributeError(f"type object 'DataType' has no attribute {name!r}")
        return (_TYPES[kind], _FORMATS[base]) + ((container.lower(),) if container else ())


class DataType(metaclass=_Pairs):
    """Pairs of a dtype and a layout by name: ``DataType.F32_Default``, ``DataType.I8_NHWC``; ``None_None`` is any."""


def _text(value, name):
    if not isinstance(value, str):
        raise TypeError(f"The '{name}' must be str, but got {type(value).__name__}.")
    return value


class _RegOp:
    def __init__(self, op_name):
        if not isinstance(op_name, str):
            raise ValueError(f"The 'op_name' must be str, but got {type(op_name).__name__}.")
        self._op_name, self._inputs, self._outputs, self._attr, self._dtypes = op_name, [], [], [], []
        self.fusion_type_ = ""

    def _port(self, ports, index, name, param_type, more):
        if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
            raise TypeError(f"The 'index' must be int, but got {type(index).__name__}.")
        port = {"index": index, "name": name if name is None else _text(name, "name"), "paramType": _text(param_type, "param_type"), **more}
        ports.append({key: value for key, value in port.items() if value is not None})
        return self

    def input(self, index=None, name=None, param_type="required", **kwargs):
        """One more input."""
        return self._port(self._inputs, index, name, param_type, kwargs)

    def output(self, index=None, name=None, param_type="required", **kwargs):
        """One more output."""
        return self._port(self._outputs, index, name, param_type, kwargs)

    def attr(self, name=None, param_type=None, value_type=None, default_value=None, **kwargs):
        """One more attribute, with ``value=`` or ``default_value``."""
        named = {"name": name, "paramType": param_type, "type": value_type}
        entry = {key: _text(value, key) for key, value in named.items() if value is not None}
        if default_value is not None:
            entry["defaultValue"] = default_value
        self._attr.append({**entry, **kwargs})
        return self

    def dtype_format(self, *args):
        """A combination of dtypes that the operator takes: one of DataType for each input and output."""
        n = len(self._inputs) + len(self._outputs)
        if len(args) != n:
            raise ValueError(f"The size of 'args' must be equal to the sum of input tensors and output tensors, but got {len(args)} vs {n}")
        for pair in args:
            if not isinstance(pair, tuple) or len(pair) not in (2, 3) or not all(isinstance(v, str) for v in pair):
                raise ValueError(f"A dtype and format must be one of DataType, but got {pair}.")
        self._dtypes.append(args)
        return self

    def fusion_type(self, fusion_type):
        self.fusion_type_ = _text(fusion_type, "fusion_type")
        return self

    def get_op_info(self):
        """All of it as a dict."""
        return {"op_name": self._op_name, "inputs": self._inputs, "outputs": self._outputs, "attr": self._attr, "fusion_type": self.fusion_type_,
                "dtype_format": self._dtypes}


class CpuRegOp(_RegOp):
    """An operator of the CPU."""


class AiCPURegOp(_RegOp):
    """An operator for a CPU beside an accelerator."""


class TBERegOp(_RegOp):
    """An operator for an accelerator."""


class CustomRegOp(_RegOp):
    """An operator for ``ops.Custom``."""

    def __init__(self, op_name="Custom"):
        super().__init__(op_name)
        self._target = "UnKnown"

    def target(self, target=None):
        """The device that the operator is for."""
        if target is not None:
            self._target = _text(target, "target")
        return self

    def get_op_info(self):
        return {**super().get_op_info(), "target": self._target}


def custom_info_register(*reg_info):
    """Decorates the function of an ``ops.Custom`` with what it says of itself."""
    def deco(fn):
        fn.reg_info = reg_info
        return fn
    return deco


class Library:
    """A function ``int f(int n, void **data, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)`` of a
    shared library, or of a C or C++ file, which is compiled first; 'file:name'. Inputs come before outputs, all dense."""

    def __init__(self, func):
        import os
        if not isinstance(func, str):
            raise TypeError(f"For 'Custom', the 'func' must be of type str for 'aot', but got {type(func).__name__}.")
        path, _, name = func.rpartition(":")
        if not path or not name:
            raise TypeError(f"For 'Custom', the 'func' should be like 'file_name:func_name', but got '{func}'.")
        self.name, path = name, os.path.realpath(path)
        allowed = os.environ.get("MS_CUSTOM_AOT_WHITE_LIST")
        if allowed and not path.startswith(os.path.join(os.path.realpath(allowed), "")):
            raise TypeError(f"For 'Custom', the legal path for the file is '{allowed}', but the file is '{path}'.")
        if not os.path.isfile(path):
            raise ValueError(f"For 'Custom', there is no file '{path}'.")
        self.path, self.run = path, None

    def _load(self):
        import ctypes
        import subprocess
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = self.path
            if not path.endswith(".so"):
                compiler = ["cc"] if path.endswith(".c") else ["c++", "-std=c++17"]
                path = f"{folder}/custom.so"
                made = subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-o", path, self.path], capture_output=True, text=True)
                if made.returncode:
                    raise RuntimeError(f"For 'Custom', '{self.path}' cannot be compiled:\n{made.stderr}")
            library = ctypes.CDLL(path)
        try:
            self.run = getattr(library, self.name)
        except AttributeError:
            raise ValueError(f"For 'Custom', there is no function '{self.name}' in '{self.path}'.") from None
        self.run.restype = ctypes.c_int

    def __call__(self, arrays, dtypes):
        """Runs on numpy arrays whose dtypes are called so."""
        import ctypes
        if self.run is None:
            self._load()
        n = len(arrays)
        shapes = [(ctypes.c_int64 * max(a.ndim, 1))(*a.shape) for a in arrays]
        code = self.run(n, (ctypes.c_void_p * n)(*[a.ctypes.data for a in arrays]), (ctypes.c_int * n)(*[a.ndim for a in arrays]),
                        (ctypes.POINTER(ctypes.c_int64) * n)(*[ctypes.cast(s, ctypes.POINTER(ctypes.c_int64)) for s in shapes]),
                        (ctypes.c_char_p * n)(*[d.encode() for d in dtypes]), None, None)
        if code:
            raise RuntimeError(f"For 'Custom', the function '{self.name}' failed with {code}.")
