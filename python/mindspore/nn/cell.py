"""nn.Cell: a piece of a network that owns Parameters and other Cells.

Parameters, Cells and buffers live in the tables ``_params``, ``_cells`` and ``_buffers`` and are found through
``__getattr__``; everything else is an ordinary attribute. Every change of an attribute raises ``_ms_version``, which
compiled functions compare, so that a Python value that changed never gives a stale result.
"""
import inspect
import threading
from collections import OrderedDict, namedtuple

from mindspore import _c
from mindspore.common.autocast import autocast
from mindspore.common.hook_handle import HookTable
from mindspore.common.parameter import Parameter, ParameterTuple, _Buffer
from mindspore.common.tensor import Tensor
from mindspore.common import dtype as mstype

__all__ = ["Cell"]

_IncompatibleKeys = namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])
_CASTS = (mstype.float16, mstype.float32, mstype.bfloat16)

# Called as runner(cell, args, kwargs) in place of construct, from the first staging or Graph mode on; set by the jit package.
graph_runner = None
# Gives the rewritten form of a construct while the calling thread stages a function; set by the jit package.
rewritten = None


class _Casting(threading.local):
    """The Cells with _ms_cast whose construct runs in this thread."""

    def __init__(self):
        self.cells = []

    def has(self, cell):
        return any(c is cell for c in self.cells)


_casting = _Casting()


class _Table(OrderedDict):
    """Children by name; a change made behind the owner's back is noticed all the same."""

    def __init__(self, owner):
        super().__init__()
        self.owner = owner

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self._touch()

    def __delitem__(self, key):
        super().__delitem__(key)
        self._touch()

    def _touch(self):
        owner = self.__dict__.get("owner")
        if owner is not None:
            owner._ms_touch()

    def __reduce__(self):
        return _rebuild_table, (), {"owner": self.owner}, None, iter(self.items())

    def copy(self):
        return OrderedDict(self)


def _rebuild_table():
    return _Table(None)


def _cast_tree(value, dtype):
    if isinstance(value, Tensor):
        return value.astype(dtype) if value.dtype in (*_CASTS, mstype.float64) and value.dtype != dtype else value
    if isinstance(value, (tuple, list)):
        cast = [_cast_tree(v, dtype) for v in value]
        return type(value)(*cast) if hasattr(value, "_fields") else type(value)(cast)
    if isinstance(value, dict):
        return {k: _cast_tree(v, dtype) for k, v in value.items()}
    return value


def _on_cpu(method, device):
    if device is not None and str(device).upper().split(":")[0] != "CPU":
        raise ValueError(f"For 'Cell.{method}', the 'device' must be 'CPU', but got {device!r}.")


def _not_negative(who, name, value):
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"For '{who}', the '{name}' must be an int >= 0, but got {value}.")


class Cell:
    """Base of all layers, losses, optimizers and networks: subclasses define ``construct``."""

    _ms_version = 0
    _ms_cast = None    # to_float: the dtype floats are cast to on entry
    _ms_out = None     # the dtype floats are cast to on exit
    _ms_derived = {}   # attributes that subclasses of layers use: name -> function of the Cell
    _ms_plain = True   # no hooks, casts or other detours: __call__ is construct

    def __init__(self, auto_prefix=True, flags=None):
        d = self.__dict__
        if hasattr(type(self), "bprop"):
            d["_ms_plain"] = False
        d["_params"] = _Table(self)
        d["_cells"] = _Table(self)
        d["_buffers"] = _Table(self)
        d["_non_persistent"] = set()
        d["_auto_prefix"] = auto_prefix
        d["training"] = False
        d["requires_grad"] = False
        d["_phase"] = "train"
        d["_param_prefix"] = ""
        d["_func_graph_flags"] = {}
        d["_scope"] = None
        d["_ms_version"] = 0
        if flags:
            self.add_flags(**flags)

    # ---- attributes ----

    def _ms_touch(self):
        self.__dict__["_ms_version"] = self.__dict__.get("_ms_version", 0) + 1

    def __getattr__(self, name):
        d = self.__dict__
        for table in ("_params", "_cells", "_buffers"):
            entries = d.get(table)
            if entries is not None and name in entries:
                value = entries[name]
                if table == "_params" and value is not None and d.get("_ms_cast") is not None and _casting.has(self):
                    return _cast_tree(value, d["_ms_cast"])
                return value
        make = type(self)._ms_derived.get(name)
        if make is not None:
            return make(self)
        if "_cells" not in d:
            raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}': its '__init__' must call "
                                 "'super().__init__()' first.")
        raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'.")

    def __setattr__(self, name, value):
        d = self.__dict__
        if isinstance(value, (Cell, Parameter, ParameterTuple)):
            self._set_child(name, value)
        elif isinstance(value, _Buffer) and name not in d.get("_buffers", ()):
            self.register_buffer(name, value)
        elif name in d.get("_params", ()):
            self._assign_param(name, value)
        elif name in d.get("_cells", ()):
            if value is not None:
                raise TypeError(f"Sub cell '{name}' already exists in network, can not assign this type: "
                                f"'{type(value)}' as a cell.")
            self._cells[name] = None
        elif name in d.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"For 'Cell', the buffer '{name}' can only be assigned a Tensor or None, but got "
                                f"{type(value)}.")
            old = self._buffers[name]
            if value is not None and old is not None and old.shape == value.shape and old.dtype == value.dtype:
                old.assign_value(value)
            else:
                self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)
        self._ms_touch()

    def _set_child(self, name, value):
        d = self.__dict__
        auto_prefix = self._auto_prefix  # an AttributeError here: super().__init__() was not called
        if isinstance(value, Cell):
            if name in d["_params"]:
                raise KeyError(f"For 'Cell', the attribute '{name}' is a Parameter and cannot be replaced by a Cell.")
            d.pop(name, None)
            if auto_prefix:
                value.update_parameters_name(name + ".")
            d["_cells"][name] = value
        elif isinstance(value, Parameter):
            if name not in d["_cells"]:
                d.pop(name, None)
            self.insert_param_to_cell(name, value)
        else:
            old = d.get(name)
            replaced = {id(p) for p in (old if isinstance(old, ParameterTuple) else ())} - {id(p) for p in value}
            for key in [k for k, p in d["_params"].items() if id(p) in replaced]:
                del d["_params"][key]
            for p in value:
                if p._ms_unnamed:  # numbered within the Cell, so that checkpoints do not depend on what was made before
                    p.name = f"Parameter${sum(k.startswith('Parameter$') for k in d['_params']) + 1}"
                self.insert_param_to_cell(p.name, p, check_name_contain_dot=False)
            object.__setattr__(self, name, value)

    def _assign_param(self, name, value):
        if value is None:
            self._params[name] = None
        elif isinstance(value, (bool, int, float)) and self._params[name] is not None:
            self._params[name].assign_value(Tensor(value, self._params[name].dtype))
        elif not isinstance(value, Tensor):
            raise TypeError(f"For 'Cell', the parameter '{name}' can only be assigned a Tensor, a Parameter or None, but "
                            f"got {type(value).__name__}.")
        elif self._params[name] is None:
            del self._params[name]
            object.__setattr__(self, name, value)
        elif self._params[name].shape == value.shape:
            self._params[name].assign_value(value)
        else:
            self._params[name].set_data(value)

    def __delattr__(self, name):
        for table in ("_params", "_cells", "_buffers"):
            entries = self.__dict__.get(table, ())
            if name in entries:
                del entries[name]
                self.__dict__["_non_persistent"].discard(name)
                break
        else:
            object.__delattr__(self, name)
        self._ms_touch()

    def __dir__(self):
        return sorted({*super().__dir__(), *self._params, *self._cells, *self._buffers})

    def insert_param_to_cell(self, param_name, param, check_name_contain_dot=True):
        """Adds a Parameter under ``param_name``; one without a name of its own is given that name."""
        if not isinstance(param_name, str):
            raise TypeError(f"For 'insert_param_to_cell', the type of parameter 'param_name' must be str, but got "
                            f"{type(param_name)}.")
        if check_name_contain_dot and "." in param_name:
            raise KeyError("For 'insert_param_to_cell', the argument 'param_name' should not contain'.' ")
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', the argument 'param_name' should not be empty.")
        if "_params" not in self.__dict__:
            raise AttributeError("For 'insert_param_to_cell', please call Cell.__init__() before assigning a parameter.")
        if param_name not in self._params and (param_name in self._cells or param_name in self.__dict__):
            raise KeyError(f"For 'insert_param_to_cell', the {param_name} parameter already exists in the network."
                           "Cannot insert another parameter with the same name.")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"For 'insert_param_to_cell', the argument 'param' must be 'Parameter' if not None, but got "
                            f"type {type(param)}.")
        if param is not None and param._ms_unnamed:
            param.name = param_name
        self._params[param_name] = param

    def insert_child_to_cell(self, child_name, child_cell):
        """Adds a Cell under ``child_name``; its parameters keep their names."""
        if not isinstance(child_name, str):
            raise TypeError(f"For 'insert_child_to_cell', the type of parameter 'child_name' must be str, but got "
                            f"{type(child_name)}.")
        if not child_name or "." in child_name:
            raise KeyError(f"For 'insert_child_to_cell', the 'child_name' should not be empty or contain '.', but got '{child_name}'.")
        if not isinstance(child_cell, Cell) and child_cell is not None:
            raise TypeError(f"For 'insert_child_to_cell', the argument 'child_cell' must be 'Cell' if not None, but got "
                            f"type {type(child_cell)}.")
        if child_name not in self._cells and (child_name in self._params or child_name in self.__dict__):
            raise KeyError(f"For 'insert_child_to_cell', the {child_name} child cell already exists in the network. "
                           "Cannot insert another child cell with the same name.")
        self._cells[child_name] = child_cell

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a Tensor that is part of the state, but not a Parameter."""
        if not isinstance(name, str):
            raise TypeError(f"For 'register_buffer', the buffer name should be a string, but got {type(name)}.")
        if "." in name or not name:
            raise KeyError(f"For 'register_buffer', the buffer name must not be empty or contain \".\", but got '{name}'.")
        if name not in self._buffers and (hasattr(self, name)):
            raise KeyError(f"For 'register_buffer', the attribute '{name}' already exists.")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"For 'register_buffer', 'tensor' must be a Tensor or None, but got {type(tensor)}.")
        self._buffers[name] = tensor
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    # ---- calling ----

    def construct(self, *args, **kwargs):
        """What the Cell computes; subclasses define it."""
        raise AttributeError(f"For '{type(self).__name__}', the method 'construct' is not defined.")

    def __call__(self, *args, **kwargs):
        if graph_runner is not None:
            return graph_runner(self, args, kwargs)
        return self._ms_run(args, kwargs)

    def _ms_run(self, args, kwargs):
        """construct with everything that surrounds it: hooks and casts."""
        if self._ms_plain:
            construct = self.construct if rewritten is None else rewritten(self.construct)
            return construct(*args, **kwargs)
        return self._run_detour(args, kwargs)

    def _run_detour(self, args, kwargs, recompute=True):
        half = self.__dict__.get("_ms_autocast")
        if half is not None and _c.autocast() != half:
            with autocast(half):
                return self._run_detour(args, kwargs, recompute)
        if recompute and self.__dict__.get("_ms_recompute"):
            from mindspore.common.recompute import run_recomputed
            return run_recomputed(self, lambda args, kwargs: self._run_detour(args, kwargs, False), args, kwargs)
        d = self.__dict__
        construct = self._backward_detour(self.construct if rewritten is None else rewritten(self.construct))
        for key, hook in list(d.get("_forward_pre_hooks", {}).items()):
            if key in d["_pre_hooks_with_kwargs"]:
                out = hook(self, args, kwargs)
                if out is not None:
                    if not isinstance(out, tuple) or len(out) != 2:
                        raise RuntimeError("The forward pre hook with kwargs must return None or a tuple of (new_args, new_kwargs), "
                                           f"but got {type(out).__name__}.")
                    args, kwargs = out
            else:
                out = hook(self, args)
                if out is not None:
                    args = out if isinstance(out, tuple) else (out,)
        if d.get("_ms_cast") is not None:
            args, kwargs = _cast_tree(args, self._ms_cast), _cast_tree(kwargs, self._ms_cast)
            _casting.cells.append(self)
            try:
                result = construct(*args, **kwargs)
            finally:
                _casting.cells.pop()
        else:
            result = construct(*args, **kwargs)
        if d.get("_ms_out") is not None:
            result = _cast_tree(result, self._ms_out)
        for key, hook in list(d.get("_forward_hooks", {}).items()):
            out = hook(self, args, kwargs, result) if key in d["_hooks_with_kwargs"] else hook(self, args, result)
            if out is not None:
                result = out
        return result

    def _backward_detour(self, construct):
        """construct with the Cell's own gradient and its hooks of gradients."""
        d = self.__dict__
        if hasattr(type(self), "bprop"):
            from mindspore.common.hooks import call_with_bprop
            forward, bprop = construct, self.bprop if rewritten is None else rewritten(self.bprop)

            def construct(*args, **kwargs):
                return call_with_bprop(self, forward, bprop, args, kwargs)
        if not (d.get("_backward_hooks") or d.get("_backward_pre_hooks")):
            return construct
        from mindspore.common.hooks import run_backward_hooks
        return lambda *args, **kwargs: run_backward_hooks(self, construct, args, kwargs)

    def _refresh_plain(self):
        d = self.__dict__
        d["_ms_plain"] = not (d.get("_forward_pre_hooks") or d.get("_forward_hooks") or d.get("_ms_cast") is not None or
                              d.get("_ms_out") is not None or d.get("_backward_hooks") or d.get("_backward_pre_hooks") or
                              d.get("_ms_recompute") or d.get("_ms_autocast") is not None or hasattr(type(self), "bprop"))
        self._ms_touch()

    def register_forward_pre_hook(self, hook_fn, *, prepend=False, with_kwargs=False):
        """``hook_fn(cell, inputs)`` before construct; what it returns replaces the inputs."""
        return self._add_hook("_forward_pre_hooks", "_pre_hooks_with_kwargs", hook_fn, prepend, with_kwargs)

    def register_forward_hook(self, hook_fn, *, prepend=False, with_kwargs=False, always_call=False):
        """``hook_fn(cell, inputs, output)`` after construct; what it returns replaces the output."""
        return self._add_hook("_forward_hooks", "_hooks_with_kwargs", hook_fn, prepend, with_kwargs)

    def register_backward_hook(self, hook_fn):
        """``hook_fn(cell, grad_input, grad_output)`` when the gradients of the inputs are computed; a tuple (or Tensor) that it
        returns replaces them."""
        return self._add_hook("_backward_hooks", "_backward_hook_flags", hook_fn, False, False)

    def register_backward_pre_hook(self, hook_fn):
        """``hook_fn(cell, grad_output)`` when the gradients of the outputs are known; what it returns replaces them."""
        return self._add_hook("_backward_pre_hooks", "_backward_hook_flags", hook_fn, False, False)

    def _add_hook(self, table, flags, hook_fn, prepend, with_kwargs):
        d = self.__dict__
        hooks, with_kw = d.setdefault(table, HookTable()), d.setdefault(flags, HookTable())
        handle = hooks.add(hook_fn, prepend, (with_kw,))
        if with_kwargs:
            with_kw[handle.id] = True
        self._refresh_plain()
        return handle

    def to_float(self, dst_type):
        """Casts floating inputs and Parameters of this Cell and its children to ``dst_type`` at the call, their Tensors that are
        no Parameters now; another ``to_float`` starts from what those were."""
        if dst_type not in _CASTS:
            raise ValueError("For 'to_float', the argument 'dst_type' must be mstype.float32, mstype.float16 or "
                             f"mstype.bfloat16, but got type: {type(dst_type)} and value: {dst_type}.")
        for _, cell in self.cells_and_names():
            d = cell.__dict__
            d["_ms_cast"] = dst_type
            made = d.setdefault("_ms_constants", {})  # name: (as it was, cast)
            for name, value in d.items():
                if isinstance(value, Tensor):
                    whole = made[name][0] if name in made and made[name][1] is value else value
                    made[name] = whole, _cast_tree(whole, dst_type)
            d.update({name: cast for name, (_, cast) in made.items() if isinstance(d.get(name), Tensor)})
            cell._refresh_plain()
        return self

    def to(self, *args, device=None, dtype=None, non_blocking=False):
        """Casts floating Parameters and buffers: ``to(device, dtype)``, ``to(dtype)`` or ``to(tensor)``, whose dtype is meant."""
        for arg in args:
            if isinstance(arg, Tensor):
                dtype = arg.dtype
            elif isinstance(arg, mstype.Type):
                dtype = arg
            elif arg is not None and not isinstance(arg, bool):  # a bool is non_blocking: there is nothing to wait for
                device = arg
        if dtype is not None and dtype not in mstype.float_type + mstype.complex_type:
            raise TypeError(f"For 'Cell.to', the 'dtype' must be floating point or complex, but got {dtype}.")
        _on_cpu("to", device)
        for t in (*self.get_parameters(), *self.buffers()):
            if dtype is not None and t.dtype in mstype.float_type + mstype.complex_type:
                t.set_dtype(dtype)
        self._ms_touch()
        return self

    def to_empty(self, *, device=None, recurse=True):
        """Gives Parameters and buffers new memory with any values."""
        from mindspore import mint
        _on_cpu("to_empty", device)
        for t in (*self.get_parameters(recurse), *self.buffers(recurse)):
            Tensor.assign_value(t, mint.empty(t.shape, dtype=t.dtype))
        self._ms_touch()
        return self

    # ---- walking ----

    def cells_and_names(self, cells=None, name_prefix=""):
        """Yields (name, cell) for this Cell and all below, each once."""
        seen = cells if cells is not None else set()
        if id(self) in seen:
            return
        seen.add(id(self))
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def parameters_and_names(self, name_prefix="", expand=True):
        """Yields (attribute path, Parameter), each Parameter once."""
        seen = set()
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        for prefix, cell in cells:
            for name, param in cell._params.items():
                if param is not None and id(param) not in seen:
                    seen.add(id(param))
                    yield (f"{prefix}.{name}" if prefix else name), param

    def get_parameters(self, expand=True):
        """Yields the Parameters of this Cell, and of those below if ``expand``."""
        for _, param in self.parameters_and_names(expand=expand):
            yield param

    def trainable_params(self, recurse=True):
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse=True):
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse=True):
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse=True):
        found = OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel)
        return found or None

    def cells(self):
        return self.name_cells().values()

    def name_cells(self):
        """The direct children by name, each once."""
        seen, found = set(), OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def apply(self, fn):
        """Calls ``fn`` on every Cell below and then on this one."""
        for cell in self.name_cells().values():
            cell.apply(fn)
        fn(self)
        return self

    def get_sub_cell(self, target):
        cell = self
        for part in filter(None, target.split(".")):
            cell = cell._cells.get(part)
            if cell is None:
                raise AttributeError(f"The '{type(self).__name__}' object has no sub cell '{target}'.")
        return cell

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        for path, cell in self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]:
            for name, buffer in cell._buffers.items():
                if buffer is not None and not (remove_duplicate and id(buffer) in seen):
                    seen.add(id(buffer))
                    yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_buffer(self, target):
        path, _, name = target.rpartition(".")
        buffers = self.get_sub_cell(path)._buffers
        if name not in buffers:
            raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{target}' that is a buffer.")
        return buffers[name]

    # ---- names and state ----

    def update_parameters_name(self, prefix="", recurse=True):
        """Names every Parameter by ``prefix`` and its attribute path."""
        if not isinstance(prefix, str):
            raise TypeError(f"For 'update_parameters_name', the 'prefix' must be str, but got {type(prefix).__name__}.")
        for name, param in self.parameters_and_names(expand=recurse):
            param.name = prefix + name

    def update_cell_prefix(self):
        for name, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = name

    def check_names(self):
        """Raises when two Parameters have one name."""
        names = set()
        for attr, param in self.parameters_and_names():
            if param.name in names:
                raise ValueError(f"The value of {attr} is {param}, its name '{param.name}' already exists. "
                                 "Please set a unique name for the parameter.")
            names.add(param.name)

    def init_parameters_data(self, auto_parallel_mode=False):
        """Gives every Parameter its data; returns {old: new} for Parameters that were replaced (none are)."""
        for param in self.get_parameters():
            param.init_data()
        return {}

    def get_extra_state(self):
        raise RuntimeError(f"'{type(self).__name__}' defines no 'get_extra_state'.")

    def set_extra_state(self, state):
        raise RuntimeError(f"'{type(self).__name__}' defines no 'set_extra_state'.")

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Parameters and persistent buffers by attribute path."""
        destination, prefix, keep_vars = args + (destination, prefix, keep_vars)[len(args):]
        out = OrderedDict() if destination is None else destination
        for path, cell in self.cells_and_names():
            at = f"{prefix}{path}." if path else prefix
            for hook in cell.__dict__.get("_state_dict_pre_hooks", {}).values():
                hook(cell, at, keep_vars)
            for name, param in cell._params.items():
                if param is not None:
                    out[at + name] = param
            for name, buffer in cell._buffers.items():
                if buffer is not None and name not in cell._non_persistent:
                    out[at + name] = buffer
            if type(cell).get_extra_state is not Cell.get_extra_state:
                out[at + "_extra_state"] = cell.get_extra_state()
            for hook in cell.__dict__.get("_state_dict_post_hooks", {}).values():
                hook(cell, out, at, {})
        return out

    def load_state_dict(self, state_dict, strict=True):
        """Copies values of ``state_dict`` into Parameters and buffers of the same attribute path."""
        if not hasattr(state_dict, "items"):
            raise TypeError(f"For 'load_state_dict', 'state_dict' must be dict-like, but got {type(state_dict)}.")
        mine, errors = self.state_dict(), []
        for hook in self.__dict__.get("_load_state_dict_pre_hooks", {}).values():
            hook(self, state_dict, "", {}, strict, [], [], errors)
        missing = [k for k in mine if k not in state_dict]
        unexpected = [k for k in state_dict if k not in mine]
        for key, old in mine.items():
            if key not in state_dict:
                continue
            new = state_dict[key]
            if key.rpartition(".")[2] == "_extra_state":
                self.get_sub_cell(key.rpartition(".")[0]).set_extra_state(new)
            elif not isinstance(new, Tensor):
                errors.append(f"While copying the parameter named \"{key}\", expected Tensor or Parameter from checkpoint "
                              f"but received {type(new)}")
            elif new.shape != old.shape:
                errors.append(f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape "
                              f"in current model is {old.shape}.")
            else:
                old.assign_value(new)
        keys = _IncompatibleKeys(missing, unexpected)
        for hook in self.__dict__.get("_load_state_dict_post_hooks", {}).values():
            hook(self, keys)
        if strict:
            if unexpected:
                errors.insert(0, 'Unexpected key(s) in state_dict: ' + ", ".join(f'"{k}"' for k in unexpected) + ". ")
            if missing:
                errors.insert(0, 'Missing key(s) in state_dict: ' + ", ".join(f'"{k}"' for k in missing) + ". ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys

    def _add_state_hook(self, table, hook):
        return self.__dict__.setdefault(table, HookTable()).add(hook)

    def register_state_dict_pre_hook(self, hook):
        return self._add_state_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook):
        return self._add_state_hook("_state_dict_post_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook):
        return self._add_state_hook("_load_state_dict_pre_hooks", hook)

    def register_load_state_dict_post_hook(self, hook):
        return self._add_state_hook("_load_state_dict_post_hooks", hook)

    # ---- modes and flags ----

    def set_train(self, mode=True):
        """Puts this Cell and all below into training (dropout drops, batch norm uses the batch) or evaluation."""
        if not isinstance(mode, bool):
            raise TypeError(f"For 'set_train', the 'mode' must be bool, but got {type(mode).__name__}.")
        for _, cell in self.cells_and_names():
            cell._phase = "train" if mode else "predict"
            cell.add_flags(training=mode)
        return self

    def set_grad(self, requires_grad=True):
        """Marks that gradients of this Cell will be taken."""
        self.requires_grad = requires_grad
        return self

    def recompute(self, *, use_reentrant=True, output_recompute=False, early_stop=True, context_fn=None, **kwargs):
        """Asks to recompute rather than keep the Cell's inner values for the gradient; values are the same either way."""
        self.__dict__["_ms_recompute"] = True
        self._refresh_plain()

    def set_inputs(self, *inputs, **kwargs):
        """Describes the inputs, for ``get_inputs`` and ``compile``; where a Tensor has sizes that are None, one compilation serves
        all of them. Calls are not checked against it."""
        if kwargs and inputs:
            raise ValueError("For 'set_inputs', the inputs must be all positional or all by keyword.")
        if kwargs:
            names = [p.name for p in construct_parameters(self)]
            unknown = [k for k in kwargs if k not in names]
            if unknown:
                raise ValueError(f"For 'set_inputs', '{type(self).__name__}.construct' has no parameter '{unknown[0]}'.")
        self.__dict__["_ms_inputs"] = kwargs if kwargs else inputs

    @property
    def _dynamic_shape_inputs(self):  # the original's name of what set_inputs keeps, which wrappers of Cells read
        return self.get_inputs()

    def get_inputs(self):
        """What set_inputs was given, or None."""
        return self.__dict__.get("_ms_inputs")

    def set_jit_config(self, jit_config):
        """Keeps options of compilation (a JitConfig)."""
        object.__setattr__(self, "_jit_config", jit_config)

    @property
    def jit_config_dict(self):
        config = self.__dict__.get("_jit_config")
        return {} if config is None else config.jit_config_dict

    # ---- compilation, devices and other machines: one process on one device ----

    def compile(self, *args, **kwargs):
        """Compiles construct for such inputs (those of set_inputs if none are given) by running it on them."""
        self.compile_and_run(*(args or self.get_inputs() or ()), **kwargs)

    def compile_and_run(self, *args, **kwargs):
        """The compiled construct of these inputs."""
        from mindspore.jit import jit  # it compiles Cells
        if "_ms_compiled" not in self.__dict__:
            self.__dict__["_ms_compiled"] = jit(self.construct)
        return self.__dict__["_ms_compiled"](*args, **kwargs)

    def run_construct(self, cast_inputs, kwargs):
        """construct with inputs that were cast already."""
        return self.construct(*cast_inputs, **kwargs)

    def cast_inputs(self, inputs, dst_type):
        """The inputs with floating Tensors cast to ``dst_type``."""
        return tuple(_cast_tree(x, dst_type) for x in inputs)

    def shard(self, in_strategy, out_strategy=None, parameter_plan=None, device="Ascend", level=0):
        """Distribution over devices, of which there is one."""
        for strategy in (in_strategy, *(() if out_strategy is None else (out_strategy,))):
            if not isinstance(strategy, tuple):
                raise TypeError(f"For 'shard', the strategies must be tuples, but got {type(strategy).__name__}.")
            for layout in strategy:
                if isinstance(layout, tuple) and any(n != 1 for n in layout):
                    raise ValueError(f"For 'shard', the strategy {strategy} needs more than the one device there is.")
        return self

    def _keep(self, name, value):
        """An option that concerns several devices or another back end: remembered, without effect here."""
        for _, cell in self.cells_and_names():
            object.__setattr__(cell, name, value)
        return self

    def set_comm_fusion(self, fusion_type):
        """Which gradients are reduced together."""
        _not_negative("set_comm_fusion", "fusion_type", fusion_type)
        for param in self.trainable_params():
            param.comm_fusion = fusion_type
        return self

    def set_broadcast_flag(self, mode=True):
        """Whether parameters are sent from the first device."""
        return self._keep("_broadcast_flag", bool(mode))

    def set_data_parallel(self):
        """Marks the Cells as data parallel."""
        self._keep("_data_parallel", True)

    def set_boost(self, boost_type):
        """Ways to train faster at the cost of exactness, of which there are none."""
        if boost_type not in ("less_bn", "grad_freeze", "adasum", "grad_accumulation", "dim_reduce"):
            raise ValueError("For 'set_boost', the 'boost_type' must be one of 'less_bn', 'grad_freeze', 'adasum', "
                             f"'grad_accumulation' and 'dim_reduce', but got {boost_type}.")
        raise NotImplementedError(f"For 'set_boost', '{boost_type}' is not supported: gradients are exact.")

    def offload(self, backward_prefetch="Auto"):
        """Keeping activations on the host, where they are already."""
        if backward_prefetch != "Auto" and (isinstance(backward_prefetch, bool) or not isinstance(backward_prefetch, int)):
            raise TypeError(f"For 'offload', 'backward_prefetch' must be 'Auto' or an int, but got {backward_prefetch!r}.")
        self.add_flags_recursive(offload=True)

    @property
    def pipeline_stage(self):
        return self.__dict__.get("_pipeline_stage", -1)

    @pipeline_stage.setter
    def pipeline_stage(self, value):
        _not_negative("Cell", "pipeline_stage", value)
        self._keep("_pipeline_stage", value)

    @property
    def pipeline_segment(self):
        return self.__dict__.get("_pipeline_segment", -1)

    @pipeline_segment.setter
    def pipeline_segment(self, value):
        _not_negative("Cell", "pipeline_segment", value)
        self._keep("_pipeline_segment", value)

    @property
    def parameter_layout_dict(self):
        """The distribution of each parameter: empty, none is distributed."""
        return self.__dict__.setdefault("_parameter_layout_dict", {})

    @parameter_layout_dict.setter
    def parameter_layout_dict(self, value):
        if not isinstance(value, dict):
            raise TypeError(f"'parameter_layout_dict' must be dict type, but got '{type(value)}'.")
        object.__setattr__(self, "_parameter_layout_dict", value)

    @property
    def parallel_parameter_name_list(self):
        return self.__dict__.setdefault("_parallel_parameter_name_list", [])

    @parallel_parameter_name_list.setter
    def parallel_parameter_name_list(self, value):
        if not isinstance(value, list):
            raise TypeError(f"'parallel_parameter_name_list' must be list type, but got '{type(value)}'.")
        object.__setattr__(self, "_parallel_parameter_name_list", value)

    def remove_redundant_parameters(self):
        """Parameters of other pipeline stages: none."""

    def infer_param_pipeline_stage(self):
        """Parameters of this pipeline stage: all."""
        return list(self.get_parameters())

    def flatten_weights(self, fusion_size=0):
        """Weights in one piece of memory: updates of all are one call wherever they lie."""
        _not_negative("flatten_weights", "fusion_size", fusion_size)

    def update_cell_type(self, cell_type):
        """Keeps a name for what this Cell is."""
        object.__setattr__(self, "cell_type", cell_type)

    def generate_scope(self):
        """Gives every Cell below the name of its place, for texts."""
        for name, cell in self.cells_and_names():
            object.__setattr__(cell, "_scope", name)

    def get_scope(self):
        return self._scope

    def add_flags(self, **flags):
        self._func_graph_flags.update(flags)
        for name, value in flags.items():
            setattr(self, name, value)
        return self

    def add_flags_recursive(self, **flags):
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self):
        return self._func_graph_flags

    @property
    def phase(self):
        return self._phase

    @phase.setter
    def phase(self, value):
        object.__setattr__(self, "_phase", value)

    @property
    def cls_name(self):
        return type(self).__name__

    @property
    def param_prefix(self):
        self.update_cell_prefix()
        return self._param_prefix

    # ---- text ----

    def extend_repr(self):
        """Text between the brackets of repr(); subclasses define it."""
        return ""

    def __repr__(self):
        extra = self.extend_repr()
        children = [(name, cell) for name, cell in self._cells.items() if cell is not None]
        if not children:
            return f"{type(self).__name__}({extra})"
        lines = [f"  {extra}"] if extra else []
        for name, cell in children:
            text = repr(cell).replace("\n", "\n  ")
            lines.append(f"  ({name}): {text}")
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"


def construct_parameters(cell):
    """Parameters of ``construct`` without self, for those who place arguments (jit, grad)."""
    return list(inspect.signature(type(cell).construct).parameters.values())[1:]
