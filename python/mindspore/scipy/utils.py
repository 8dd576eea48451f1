"""What code that extends scipy's functions imports from here."""


def _nd_transpose(a):
    """Matrices of the last two axes transposed."""
    if a.ndim < 2:
        raise ValueError(f"A matrix must have 2 dimensions or more, but got {a.ndim}.")
    return a.swapaxes(-1, -2)
