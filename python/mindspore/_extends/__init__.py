"""Names that existing code takes from the original's compiler."""
__all__ = ["cell_attr_register"]


def cell_attr_register(fn=None, attrs=None):
    """Marks a Cell's constructor whose arguments tell all that its objects differ in; compiled Cells are told apart anyway."""
    return (lambda f: f) if fn is None else fn
