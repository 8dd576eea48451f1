"""Recomputation: the inner values of a Cell are not kept for the gradient, which runs the Cell again."""
from mindspore import _c
from mindspore.autodiff import _leaves, _replace
from mindspore.common.autocast import autocast
from mindspore.common.function import _no_grad
from mindspore.common.hooks import _zeros

__all__ = ['recompute']


def _after(xs, others):
    """xs, which exist once others do: in a graph the second run is not joined with the first."""
    if not xs:
        return xs
    return _c.custom(lambda _in, _out, cts: (*cts, *(None,) * len(others)), (*xs, *others), xs)


def run_recomputed(cell, call, args, kwargs):
    """call(args, kwargs) whose inner values are not kept: the gradient computes them again."""
    if not _c.follows():
        return call(args, kwargs)
    weights = [p for p in cell.get_parameters() if p.is_floating_point() or p.is_complex()]
    inputs = _leaves((args, kwargs), [])
    random, half = _c.random_state(), _c.autocast()
    before = _c.row('ops.stop_gradient')(random) + 0
    with _no_grad():
        out = call(args, kwargs)

    def rule(now, ys, cts):
        cts = tuple(_zeros(ct, y) for ct, y in zip(cts, ys))
        state = now[-1]
        trace, xs = _c.vjp_begin(_after(tuple(now[:len(inputs)]), cts), weights)
        try:
            _c.write(random, state)
            new_args, new_kwargs = _replace((args, kwargs), iter(xs))
            with autocast(half):
                again = _leaves(call(new_args, new_kwargs), [])
            return (*trace.grad(again, cts), None)
        finally:
            trace.drop()
    outs = _c.custom(rule, (*inputs, *weights, before), tuple(_leaves(out, [])))
    return _replace(out, iter(outs))


def recompute(block, *args, use_reentrant=True, output_recompute=False, early_stop=True, context_fn=None, **kwargs):
    """block(*args), with its inner values computed again for the gradient instead of kept."""
    from mindspore.nn.cell import Cell
    if not isinstance(block, Cell):
        raise TypeError(f"Recompute function now only support block which inherited from Cell! But got {block!r:.80}.")
    return run_recomputed(block, lambda a, k: block(*a, **k), args, kwargs)
