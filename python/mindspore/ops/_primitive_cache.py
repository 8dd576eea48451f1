"""Primitive objects kept by class and attributes."""
_cache = {}


def _get_cache_prim(cls):
    """A maker of ``cls`` objects that gives the one made before for the same attributes."""
    def make(*args, **kwargs):
        key = cls, args, tuple(sorted(kwargs.items()))
        try:
            if key not in _cache:
                _cache[key] = cls(*args, **kwargs)
            return _cache[key]
        except TypeError as e:
            if 'unhashable' not in str(e):
                raise
            return cls(*args, **kwargs)
    return make
