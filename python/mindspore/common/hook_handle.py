"""Handles that undo the registration of a hook."""
import itertools
import weakref

_ids = itertools.count()
version = [0]  # counts registrations and removals, and changes of what is watched
watched = set()  # attributes of Parameters that are part of compiled functions


class HookHandle:
    """What registering a hook returns; ``remove()`` takes the hook out again."""

    def __init__(self, table, extra=()):
        self.id = next(_ids)
        self._tables = [weakref.ref(t) for t in (table, *extra)]

    def remove(self):
        for ref in self._tables:
            table = ref()
            if table is not None:
                table.discard(self.id)
        self._tables = []

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class HookTable(dict):
    """Hooks by handle id, in order of registration; a dict that can be referred to weakly."""

    __slots__ = ("__weakref__",)

    def discard(self, handle_id):
        version[0] += 1
        self.pop(handle_id, None)

    def add(self, hook, prepend=False, extra=()):
        if not callable(hook):
            raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
        handle = HookHandle(self, extra)
        version[0] += 1
        self[handle.id] = hook
        if prepend:
            for key in [k for k in self if k != handle.id]:
                self[key] = self.pop(key)
        return handle
