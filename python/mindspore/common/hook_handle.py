"""Handles that undo the registration of a hook."""
import itertools
import weakref

_ids = itertools.count()
version = [0]  # counts registrations and removals


class HookHandle:
    """What registering a hook returns; ``remove()`` takes the hook out again."""

    def __init__(self, table, extra=()):
        self._id = next(_ids)
        self._tables = [weakref.ref(t) for t in (table, *extra)]

    def remove(self):
        version[0] += 1
        for ref in self._tables:
            table = ref()
            if table is not None:
                table.pop(self._id, None)
        self._tables = []

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class HookTable(dict):
    """Hooks by handle id, in order of registration; a dict that can be referred to weakly."""

    __slots__ = ("__weakref__",)

    def add(self, hook, prepend=False, extra=()):
        if not callable(hook):
            raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
        handle = HookHandle(self, extra)
        version[0] += 1
        self[handle._id] = hook
        if prepend:
            for key in [k for k in self if k != handle._id]:
                self[key] = self.pop(key)
        return handle
