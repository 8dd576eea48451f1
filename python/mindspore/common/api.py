"""Names of execution that existing code imports from here."""


class _PyNativeExecutor:
    """Eager execution: everything is done when a call returns."""

    def sync(self):
        """Waits for nothing."""

    def set_grad(self, *args):
        """Recording starts with the gradient function."""


_pynative_executor = _PyNativeExecutor()


def __getattr__(name):
    import mindspore
    if name in ('jit', 'jit_class', 'ms_function', '_cell_graph_executor', 'ms_class'):
        return getattr(mindspore, 'jit' if name == 'ms_function' else name)
    raise AttributeError(f"module 'mindspore.common.api' has no attribute {name!r}")
