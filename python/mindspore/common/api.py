"""Names of execution that existing code imports from here."""


class _PyNativeExecutor:
    """Eager execution: everything is done when a call returns."""

    def sync(self):
        """Waits for nothing."""

    def set_grad(self, *args):
        """Recording starts with the gradient function."""


_pynative_executor = _PyNativeExecutor()


class _CellGraphExecutor:
    """Compiles Cells."""

    def compile(self, obj, *args, phase='predict', do_convert=True, jit_config_dict=None, **kwargs):
        """Compiles a Cell for such inputs; returns (name, whether it was compiled now)."""
        obj.compile(*args, **kwargs)
        return phase, True

    def __call__(self, obj, *args, phase=''):
        return obj.compile_and_run(*args)


_cell_graph_executor = _CellGraphExecutor()


def __getattr__(name):
    import mindspore
    if name in ('jit', 'jit_class', 'ms_function', 'ms_class'):
        return getattr(mindspore, 'jit' if name == 'ms_function' else name)
    if name in ('_no_grad', '_Function'):
        from mindspore.common import function
        return getattr(function, name)
    raise AttributeError(f"module 'mindspore.common.api' has no attribute {name!r}")
