"""grad, value_and_grad, vjp, jvp, vmap, jacfwd and jacrev over the transformations of libmindspore.

A transformation is opened on the tensors found in the arguments, the function runs on their twins, and the results
are taken out again; what a function returns beside tensors passes through. They nest in any order.
"""
import inspect

from mindspore import _c
from mindspore._c import Tensor

__all__ = ['grad', 'value_and_grad', 'vjp', 'jvp', 'vmap', 'jacfwd', 'jacrev', 'get_grad', 'jet', 'derivative']


# Gives the rewritten form of a user's function while the calling thread stages one; set by the jit package.
rewritten = None
# (tensor, gradient) -> gradient: the hooks of tensors outside the transformation; set by mindspore.common.hooks.
apply_hooks = None


def _callee(fn):
    return fn if rewritten is None else rewritten(fn)


# ---- nested containers ----

def _leaves(tree, out):
    """Appends the tensors in tree, depth first; of sparse ones their values: the places have no gradient."""
    if isinstance(tree, Tensor):
        out.append(tree)
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            _leaves(item, out)
    elif isinstance(tree, dict):
        for item in tree.values():
            _leaves(item, out)
    elif hasattr(type(tree), 'ms_parts'):
        out.append(tree.values)
    return out


def _rebuild(tree, fn):
    """The same tree with fn(tensor) for every tensor."""
    if isinstance(tree, Tensor):
        return fn(tree)
    if isinstance(tree, (tuple, list)):
        items = [_rebuild(item, fn) for item in tree]
        if isinstance(tree, list):
            return items
        return type(tree)(*items) if hasattr(tree, '_fields') else tuple(items)
    if isinstance(tree, dict):
        return {key: _rebuild(item, fn) for key, item in tree.items()}
    if hasattr(type(tree), 'ms_parts'):
        return type(tree).of_parts(_rebuild(tree.to_tuple(), fn))
    return tree


def _replace(tree, tensors):
    """The same tree with its _leaves taken from an iterator."""
    of_values = {id(leaf) for leaf in _leaves(tree, [])}
    return _rebuild(tree, lambda t: next(tensors) if id(t) in of_values else t)


# ---- arguments ----

def _check_fn(fn):
    if not callable(fn):
        raise TypeError(f'The fn should be callable, but got {type(fn).__name__}')


def _positions(name, grad_position, weights):
    """grad_position as a tuple of ints."""
    if grad_position is None:
        if weights is None:
            raise ValueError('`grad_position` and `weight` can not be None at the same time.')
        return ()
    positions = grad_position if isinstance(grad_position, tuple) else (grad_position,)
    for p in positions:
        if not isinstance(p, int) or isinstance(p, bool):
            raise TypeError(f"For 'F.{name}', the 'grad_position' must be int or tuple.")
        if p < 0:
            raise ValueError('grad_position must be >= 0.')
    if len(set(positions)) != len(positions):
        raise ValueError('There are duplicate positions in `grad_position`, please check it')
    return positions


def _weight_list(weights):
    """The parameters to differentiate, as a tuple."""
    if weights is None:
        return ()
    if isinstance(weights, Tensor):
        return (weights,)
    if isinstance(weights, (tuple, list)) and all(isinstance(w, Tensor) for w in weights):
        return tuple(weights)
    raise TypeError(f'The weights you provided is expected to be a tensor, or a list or tuple. but got {weights}')


def _check_range(positions, args):
    for p in positions:
        if p >= len(args):
            raise RuntimeError(f'Position index {p} is exceed input size.')


def _substitute(args, positions, xs):
    """args with the tensors at the positions replaced by xs."""
    args = list(args)
    it = iter(xs)
    for p in positions:
        args[p] = next(it) if isinstance(args[p], Tensor) else _replace(args[p], it)
    return args


def _split_aux(out):
    """(main output, auxiliary outputs) of a function with has_aux."""
    if not isinstance(out, (tuple, list)) or len(out) < 2:
        raise ValueError('When has_aux is True, origin fn requires more than one outputs.')
    return out[0], tuple(out[1:])


def _named(call, fn, name):
    call.__name__ = getattr(fn, '__name__', type(fn).__name__)
    call.__doc__ = getattr(fn, '__doc__', None)
    call.__wrapped__ = fn
    call._transformation = name
    return call


# ---- reverse mode ----

def _hooked(tensors, grads):
    return grads if apply_hooks is None else tuple(map(apply_hooks, tensors, grads))


def _frozen(weights, grads):
    """The gradients, of which the last are those of the weights: zeros for the ones that ask for none."""
    frozen = [k for k, w in enumerate(weights) if not getattr(w, 'requires_grad', True)]
    if frozen:
        grads, n, zeros = list(grads), len(grads) - len(weights), _c.row('ops.zeros_like')
        for k in frozen:
            grads[n + k] = zeros(weights[k])
    return grads


class _Plan:
    """What a gradient function was asked for, checked once."""

    def __init__(self, name, fn, grad_position, weights, has_aux, return_ids, sens_param):
        _check_fn(fn)
        for key, value in (('has_aux', has_aux), ('return_ids', return_ids), ('sens_param', sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"For '{name}', the type of '{key}' should be bool, but got {type(value).__name__}.")
        self.fn, self.has_aux, self.return_ids, self.sens_param = fn, has_aux, return_ids, sens_param
        self.positions = _positions(name, grad_position, weights)
        self.with_inputs = grad_position is not None
        self.weights = weights
        self.weight_list = _weight_list(weights)

    def result(self, args, grads):
        """Gradients in the form that grad_position, weights and return_ids ask for."""
        it = iter(grads)
        of_inputs = []
        for p in self.positions:
            if isinstance(args[p], Tensor):
                g = next(it)
            elif _leaves(args[p], []):
                g = _replace(args[p], it)
            else:
                continue  # a number or a string has no gradient
            of_inputs.append((p, g) if self.return_ids else g)
        inputs = of_inputs[0] if len(of_inputs) == 1 else tuple(of_inputs)
        if self.weights is None:
            return inputs
        of_weights = list(it)
        if self.return_ids:
            of_weights = [(getattr(w, 'name', None), g) for w, g in zip(self.weight_list, of_weights)]
        of_weights = of_weights[0] if isinstance(self.weights, Tensor) else tuple(of_weights)
        return (inputs, of_weights) if self.with_inputs else of_weights


def _run(plan, args, kwargs, with_value):
    sens = None
    if plan.sens_param:
        if not args:
            raise ValueError("With 'sens_param', the last argument must be the sensitivity of the output.")
        args, sens = args[:-1], args[-1]
    _check_range(plan.positions, args)
    inputs = []
    for p in plan.positions:
        _leaves(args[p], inputs)
    trace, xs = _c.vjp_begin(inputs, plan.weight_list)
    try:
        out = _callee(plan.fn)(*(_substitute(args, plan.positions, xs) if xs else args), **kwargs)
        ys = _leaves(_split_aux(out)[0] if plan.has_aux else out, [])
        cts = [None] * len(ys) if sens is None else _leaves(sens, [])
        if len(cts) != len(ys):
            raise ValueError(f'The sensitivity has {len(cts)} tensors, but the function has {len(ys)} outputs.')
        grads = _frozen(plan.weight_list, _hooked((*inputs, *plan.weight_list), trace.grad(ys, cts)))
        value = _rebuild(out, trace.value) if with_value else None
    finally:
        trace.end()
    return value, plan.result(args, grads)


def grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False, sens_param=False):
    """A function that computes the gradients of fn with respect to arguments and weights.

    grad_position   int, tuple of int, or None: the arguments to differentiate
    weights         None, a Parameter, or a list or tuple of them
    has_aux         only the first output of fn is differentiated; the result is (gradients, the other outputs)
    return_ids      gradients come as pairs (position or name, gradient)
    sens_param      the last argument of the result is the cotangent of the output
    """
    plan = _Plan('grad', fn, grad_position, weights, has_aux, return_ids, sens_param)

    def call(*args, **kwargs):
        value, grads = _run(plan, args, kwargs, has_aux)
        return (grads, tuple(value[1:])) if has_aux else grads
    return _named(call, fn, 'grad')


def value_and_grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False, sens_param=False):
    """Like grad, but the function gives (outputs of fn, gradients)."""
    plan = _Plan('value_and_grad', fn, grad_position, weights, has_aux, return_ids, sens_param)

    def call(*args, **kwargs):
        return _run(plan, args, kwargs, True)
    return _named(call, fn, 'value_and_grad')


def get_grad(gradients, identifier):
    """The gradient of a position or Parameter from gradients that were computed with return_ids."""
    name = getattr(identifier, 'name', identifier) if isinstance(identifier, Tensor) else identifier
    if isinstance(name, bool) or not isinstance(name, (int, str)):
        raise TypeError(f"For 'get_grad', the 'identifier' must be int or Parameter, but got {identifier!r}.")
    found = _find_grad(gradients, name)
    if found is None:
        raise RuntimeError(f'Can not find the gradient for position or parameter {identifier}')
    return found


def _find_grad(gradients, name):
    if not isinstance(gradients, tuple):
        return None
    if len(gradients) == 2 and isinstance(gradients[0], (int, str)):
        return gradients[1] if gradients[0] == name and type(gradients[0]) is type(name) else None
    for item in gradients:
        found = _find_grad(item, name)
        if found is not None:
            return found
    return None


def vjp(fn, *inputs, weights=None, has_aux=False):
    """(outputs, vjp_fn) or, with has_aux, (outputs, vjp_fn, auxiliary outputs).

    vjp_fn(*cotangents) gives a tuple with the gradients of the inputs; with weights a pair (inputs, weights).
    """
    _check_fn(fn)
    weight_list = _weight_list(weights)
    leaves = _leaves(inputs, [])
    if inputs and not leaves and not weight_list:
        raise TypeError(f"For 'vjp', the inputs must be Tensors, but got {', '.join(type(x).__name__ for x in inputs)}.")
    trace, xs = _c.vjp_begin(leaves, weight_list)
    try:
        out = _callee(fn)(*_replace(inputs, iter(xs)))
        main, aux = _split_aux(out) if has_aux else (out, None)
        ys = _leaves(main, [])
        value, aux = _rebuild(main, trace.value), _rebuild(aux, trace.value)
    except BaseException:
        trace.end()
        raise
    trace.leave()

    def vjp_fn(*cotangents):
        cts = _leaves(cotangents, [])
        if len(cts) != len(ys):
            raise RuntimeError(f"The given sens gradient's size should be same as out of network! Expected {len(ys)} "
                               f'tensors, but got {len(cts)}.')
        grads = iter(_hooked((*leaves, *weight_list), trace.grad(ys, cts)))
        of_inputs = _replace(inputs, grads)
        if weights is None:
            return of_inputs
        of_weights = tuple(grads)
        return of_inputs, of_weights[0] if isinstance(weights, Tensor) else of_weights
    if not has_aux:
        return value, vjp_fn
    return value, vjp_fn, aux[0] if len(aux) == 1 else aux


# ---- forward mode ----

def _push(fn, args, tangents, has_aux):
    """(outputs, tangents of the outputs, aux): args and tangents are trees of one shape."""
    leaves, vs = _leaves(args, []), _leaves(tangents, [])
    if not leaves:
        raise TypeError(f"For 'jvp', the inputs must be Tensors, but got {', '.join(type(x).__name__ for x in args)}.")
    if len(leaves) != len(vs):
        raise ValueError(f"For 'jvp', 'inputs' has {len(leaves)} tensors, but 'v' has {len(vs)}.")
    for x, v in zip(leaves, vs):
        if x.shape != v.shape:
            raise ValueError(f"For 'jvp', every tangent must have the shape of its input {x.shape}, but got {v.shape}.")
    trace, xs = _c.jvp_begin(leaves, vs)
    try:
        out = _callee(fn)(*_replace(args, iter(xs)))
        main, aux = _split_aux(out) if has_aux else (out, ())
        return (_rebuild(main, lambda y: trace.value(y)[0]), _rebuild(main, lambda y: trace.value(y)[1]),
                _rebuild(aux, lambda y: trace.value(y)[0]))
    finally:
        trace.end()


def jvp(fn, inputs, v, has_aux=False):
    """(outputs, Jacobian of fn at inputs times v); with has_aux also the auxiliary outputs."""
    _check_fn(fn)
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    out, tangent, aux = _push(fn, args, v, has_aux)
    if not has_aux:
        return out, tangent
    return out, tangent, aux[0] if len(aux) == 1 else aux


# ---- batching ----

def _axes_of(tree, axes, what):
    """The axis of every tensor of tree: axes is an int or None, or a tree of them like tree."""
    if isinstance(axes, (tuple, list)):
        if not isinstance(tree, (tuple, list)) or len(axes) != len(tree):
            n = len(tree) if isinstance(tree, (tuple, list)) else 1
            if what == 'out_axes':
                raise RuntimeError(f"The size of vmap's 'out_axes' should be equal to the number of results of 'fn': {n}, but got "
                                   f'size: {len(axes)}.')
            raise RuntimeError(f"When vmap`s '{what}' is a tuple or list, and its size must be equal to the number of "
                               f"arguments of 'fn': {n}, but got size: {len(axes)}.")
        return [a for item, axis in zip(tree, axes) for a in _axes_of(item, axis, what)]
    if axes is not None and (not isinstance(axes, int) or isinstance(axes, bool)):
        raise RuntimeError(f"The axis in vmap's '{what}' should be a None or an int, but got a {axes}.")
    return [axes for _ in _leaves(tree, [])]


def _all_none(axes):
    return all(map(_all_none, axes)) if isinstance(axes, (tuple, list)) else axes is None


def _check_count(fn, args, kwargs):
    """Raises as a call would when fn, whose signature is known, takes another number of arguments."""
    fn = getattr(fn, 'construct', fn)
    if not (inspect.isfunction(fn) or inspect.ismethod(fn)):
        return
    code = fn.__code__
    if kwargs or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or code.co_kwonlyargcount:
        return
    most = code.co_argcount - inspect.ismethod(fn)
    if not most - len(fn.__defaults__ or ()) <= len(args) <= most:
        raise TypeError(f'The parameters number of the function is {most}, but the number of provided arguments is {len(args)}.')


def _normal_axis(axis, ndim, what):
    if axis is None:
        return None
    if not -ndim <= axis < ndim:
        raise RuntimeError(f"The axis: {axis} in '{what}' is out of bounds for array of dimension [{-ndim},{ndim}).")
    return axis % ndim


def vmap(fn, in_axes=0, out_axes=0):
    """A function that applies fn to every slice of its arguments along in_axes and stacks the results along out_axes.

    in_axes, out_axes   int, None (not batched), or nested tuples of them like the arguments or results
    """
    if isinstance(fn, (list, tuple)) or type(fn).__name__ == 'CellList':
        return _vmap_cells(fn, in_axes, out_axes)
    _check_fn(fn)
    if in_axes is None:
        raise RuntimeError("The 'in_axes' of 'vmap' cannot be a single None while 'fn' is not a 'CellList'.")

    if _all_none(out_axes):
        raise RuntimeError(f"The 'out_axes' of 'vmap' cannot be all None while 'fn' is not a 'CellList', but got {out_axes}.")

    def call(*args, **kwargs):
        _check_count(fn, args, kwargs)
        leaves = _leaves(args, [])
        if not leaves:
            raise RuntimeError("Failed to get 'axis_size' within the scope of vmap. Need at least one argument that is a Tensor.")
        axes = [_normal_axis(a, x.ndim, 'in_axes') for a, x in zip(_axes_of(args, in_axes, 'in_axes'), leaves)]
        sizes = [x.shape[a] for a, x in zip(axes, leaves) if a is not None]
        if not sizes:
            raise RuntimeError("The 'in_axes' of 'vmap' cannot be all None while 'fn' is not a 'CellList', but got "
                               f'{in_axes}.')
        if any(n != sizes[0] for n in sizes[1:]):
            raise RuntimeError("The 'axis_size' of each argument in the scope of 'vmap' should be equal, but got "
                               f"{' and '.join(map(str, dict.fromkeys(sizes)))}.")
        trace, xs = _c.vmap_begin(leaves, axes)
        try:
            out = _callee(fn)(*_replace(args, iter(xs)), **kwargs)
            wanted = iter(_axes_of(out, out_axes, 'out_axes'))

            def take(y):
                axis = _normal_axis(next(wanted), y.ndim + 1, 'out_axes')
                if axis is None:
                    raise RuntimeError("The 'out_axes' of 'vmap' cannot be None for a result that is batched. It is invalid that source is not "
                                       'None and dst is None.')
                return trace.value(y, axis)
            return _rebuild(out, take)
        finally:
            trace.end()
    return _named(call, fn, 'vmap')


def _vmap_cells(cells, in_axes, out_axes):
    """Model ensembling: the k-th cell on the k-th slice."""
    if len(cells) < 2:
        raise RuntimeError("In the model ensembling parallel training scenario ('VmapOperation' arg0 is a 'CellList'), the size of "
                           f"'CellList' must be greater than 1, but got {len(cells)}.")
    if len({len(inspect.signature(cell.construct).parameters) for cell in cells if hasattr(cell, 'construct')}) > 1:
        raise RuntimeError("'VmapOperation' arg0 is a CellList, whose elements's inputs should be consistent.")

    def call(*args, **kwargs):
        axes = _axes_of(args, in_axes, 'in_axes')
        sizes = [x.shape[_normal_axis(a, x.ndim, 'in_axes')] for a, x in zip(axes, _leaves(args, [])) if a is not None]
        for size in sizes:
            if size != len(cells):
                raise ValueError("If you want to execute the model ensembling parallel training, please make sure the 'axis_size' in the "
                                 "scope of vmap consistent with the cell size of the input 'CellList', otherwise, please do not enter "
                                 f"'CellList' as the first argument, but we get axis_size: {size} and the cell size: {len(cells)}.")
        outs = []
        for k, cell in enumerate(cells):
            it = iter(axes)

            def slice_of(x, k=k, it=it):
                axis = _normal_axis(next(it), x.ndim, 'in_axes')
                return x if axis is None else x[(slice(None),) * axis + (k,)]
            outs.append(cell(*_rebuild(args, slice_of), **kwargs))
        return _stack_trees(outs, out_axes)
    return call


def _stack_trees(trees, axis):
    first = trees[0]
    if isinstance(first, Tensor):
        return _c.row('ops.stack')(trees, axis)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,) * len(first)
    return tuple(_stack_trees([t[k] for t in trees], axes[k]) for k in range(len(first)))


# ---- Jacobians ----

def _basis(x):
    """Unit vectors of x's shape, one per element, along a new first axis."""
    return _c.row('ops.eye')(x.size, x.size, x.dtype).reshape((x.size,) + x.shape)


def _jacobian_result(value, jacobians, positions):
    """jacobians(y index, x index) in the form of the original: by output, then by argument."""
    def of_output(j):
        per_arg = tuple(jacobians(j, i) for i in range(len(positions)))
        return per_arg[0] if len(per_arg) == 1 else per_arg
    n = len(_leaves(value, []))
    if isinstance(value, Tensor):
        return of_output(0)
    return tuple(of_output(j) for j in range(n))


def _jacobian(name, compute, fn, grad_position, has_aux):
    _check_fn(fn)
    positions = _positions(name, grad_position, None)

    def call(*args, **kwargs):
        _check_range(positions, args)
        for p in positions:
            if not isinstance(args[p], Tensor):
                raise TypeError(f"For '{name}', argument {p} must be a Tensor, but got {type(args[p]).__name__}.")

        def main(*xs):
            full = list(args)
            for p, x in zip(positions, xs):
                full[p] = x
            return _callee(fn)(*full, **kwargs)
        value, jacobians, aux = compute(main, tuple(args[p] for p in positions), has_aux)
        result = _jacobian_result(value, jacobians, positions)
        if not has_aux:
            return result
        return result, aux[0] if isinstance(aux, tuple) and len(aux) == 1 else aux
    return _named(call, fn, name)


def _by_columns(fn, xs, has_aux):
    """Forward mode: one pass per input, batched over its elements."""
    zeros = [_c.row('ops.zeros_like')(x) for x in xs]
    value, columns, aux = None, [], ()
    for i, x in enumerate(xs):
        def one(v, i=i):
            vs = tuple(v if k == i else z for k, z in enumerate(zeros))
            return _push(fn, xs, vs, has_aux)
        first = one(zeros[i])
        if value is None:
            value, aux = first[0], first[2]
        n_y = len(_leaves(value, []))
        if x.size == 0:
            columns.append([None] * n_y)
            continue
        batch = vmap(lambda v, one=one: tuple(_leaves(one(v)[1], [])), 0, -1)(_basis(x))
        columns.append(list(batch))
    ys = _leaves(value, [])

    def jacobian(j, i):
        shape = ys[j].shape + xs[i].shape
        if columns[i][j] is None:
            return _c.row('ops.zeros')(shape, ys[j].dtype)
        return columns[i][j].reshape(shape)
    return value, jacobian, aux


def _by_rows(fn, xs, has_aux):
    """Reverse mode: one pass per output, batched over its elements."""
    out = vjp(fn, *xs, has_aux=has_aux)
    value, pull = out[0], out[1]
    aux = out[2] if has_aux else ()
    ys = _leaves(value, [])
    zeros = [_c.row('ops.zeros_like')(y) for y in ys]
    rows = []
    for j, y in enumerate(ys):
        if y.size == 0:
            rows.append([None] * len(xs))
            continue
        rows.append(vmap(lambda ct, j=j: pull(*(ct if k == j else z for k, z in enumerate(zeros))))(_basis(y)))

    def jacobian(j, i):
        shape = ys[j].shape + xs[i].shape
        if rows[j][i] is None:
            return _c.row('ops.zeros')(shape, xs[i].dtype)
        return rows[j][i].reshape(shape)
    return value, jacobian, aux


def jacfwd(fn, grad_position=0, has_aux=False):
    """A function that gives the Jacobian of fn by forward mode; better when outputs outnumber inputs."""
    return _jacobian('jacfwd', _by_columns, fn, grad_position, has_aux)


def jacrev(fn, grad_position=0, has_aux=False):
    """A function that gives the Jacobian of fn by reverse mode; better when inputs outnumber outputs."""
    return _jacobian('jacrev', _by_rows, fn, grad_position, has_aux)


# ---- higher derivatives along a curve ----

def _derivatives(h, t, n):
    """[h(t), h'(t), ..., n-th derivative]: trees of tensors; the tangent of the (n-1)-th is the n-th."""
    if n == 0:
        return [h(t)]
    values, tangents, _ = _push(lambda t: _derivatives(h, t, n - 1), (t,), (_c.row('ops.ones_like')(t),), False)
    return [*values, tangents[-1]]


def _curve(x, series, t):
    """x + s1 t + s2 t^2 / 2! + ..., by Horner's rule."""
    total = series[-1] * (1.0 / len(series))
    for k in range(len(series) - 1, 0, -1):
        total = (series[k - 1] + total * t) * (1.0 / k)
    return x + total * t


def _along(name, fn, primals, series, order):
    _check_fn(fn)
    xs = primals if isinstance(primals, tuple) else (primals,)
    for x in xs:
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{name}', the 'primals' should be a Tensor or a tuple of them, but got {type(x).__name__}.")
        if not (x.is_floating_point() or x.is_complex()):
            raise TypeError(f"For '{name}', the 'primals' should be of floating type, but got {x.dtype}.")
    t = _c.row('ops.zeros')((), xs[0].dtype)
    return _derivatives(lambda t: _callee(fn)(*[_curve(x, s, t) for x, s in zip(xs, series)]), t, order)


def jet(fn, primals, series):
    """(fn(primals), its derivatives of order 1 to n along the curve whose derivatives are ``series``).

    primals  Tensor or tuple of them;  series  the same, each with a new first axis of length n
    """
    xs, rows = (primals, series) if isinstance(primals, tuple) else ((primals,), (series,))
    if not isinstance(rows, tuple) or len(rows) != len(xs):
        raise TypeError("For 'jet', the 'primals' and 'series' should be of the same type and length.")
    for x, s in zip(xs, rows):
        for what, value in (('primals', x), ('series', s)):
            if not isinstance(value, Tensor):
                raise TypeError(f"For 'jet', the '{what}' should be a Tensor or a tuple of them, but got {type(value).__name__}.")
        if s.ndim != x.ndim + 1 or tuple(s.shape[1:]) != tuple(x.shape) or s.shape[0] != rows[0].shape[0] or not s.shape[0]:
            raise ValueError(f"For 'jet', the 'series' of a primal of shape {x.shape} should have shape (n, *{x.shape}), but got "
                             f'{s.shape}.')
    n = rows[0].shape[0]
    values = _along('jet', fn, primals, [[s[k] for k in range(n)] for s in rows], n)
    stack = _c.row('ops.stack')
    flat = [_leaves(v, []) for v in values[1:]]
    return values[0], _replace(values[0], iter([stack([f[j] for f in flat], 0) for j in range(len(flat[0]))]))


def derivative(fn, primals, order):
    """(fn(primals), its derivative of the given order with respect to a change of all primals by the same amount)."""
    if not isinstance(order, int) or isinstance(order, bool):
        raise TypeError(f"For 'derivative', the type of 'order' should be int, but got {type(order).__name__}.")
    if order <= 0:
        raise ValueError(f"For 'derivative', the 'order' should be greater than 0, but got {order}.")
    xs = primals if isinstance(primals, tuple) else (primals,)
    ones, zeros = _c.row('ops.ones_like'), _c.row('ops.zeros_like')
    series = [[(zeros if k else ones)(x) for k in range(order)] for x in xs]
    values = _along('derivative', fn, primals, series, order)
    return values[0], values[order]
