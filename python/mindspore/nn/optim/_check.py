"""Argument checks that the optimizers share."""
from mindspore.nn.layer._check import check_type


def check_range(value, name, who, low, high):
    """A float in the open interval (low, high)."""
    check_type(value, name, float, who)
    if not low < value < high:
        raise ValueError(f"For '{who}', the '{name}' must be in range of ({low:.1f}, {high:.1f}), but got {value} with type "
                         "'float'.")
    return value


def check_positive(value, name, who):
    check_type(value, name, float, who)
    if not value > 0:
        raise ValueError(f"For '{who}', the '{name}' must be float and must > 0, but got '{value}' with type 'float'.")
    return value


def check_at_least_zero(value, name, who, text):
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    check_type(value, name, float, who)
    if value < 0:
        raise ValueError(text)
    return value
