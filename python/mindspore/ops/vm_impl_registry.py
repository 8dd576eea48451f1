"""Python functions that compute a primitive, registered under its class."""

__all__ = ['vm_impl_registry', 'get_vm_impl_fn']


class _Registry:
    """Class of a primitive, or its name, to function."""

    def __init__(self):
        self._of = {}

    @staticmethod
    def _key(prim):
        return prim if isinstance(prim, str) else getattr(prim, 'name', None) or getattr(prim, '__name__', type(prim).__name__)

    def register(self, prim):
        """Decorates the function of ``prim``, which gets the primitive and returns the function of its inputs."""
        def deco(fn):
            self._of[self._key(prim)] = fn
            return fn
        return deco

    def get(self, prim, default=None):
        return self._of.get(self._key(prim), default)


vm_impl_registry = _Registry()


def get_vm_impl_fn(prim):
    """The function registered for a primitive, or None."""
    return vm_impl_registry.get(prim)
