"""Options that steer a device which is not here: checked, kept, without effect on the CPU."""
import types

values = {}


def option(device, group, name, allowed=None, kind=None):
    """A function that sets one option."""
    def set_option(value):
        if kind is not None and not (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            raise TypeError(f"For '{name}', the argument must be {kind.__name__}, but got {type(value).__name__}.")
        if allowed is not None and value not in allowed:
            raise ValueError(f"For '{name}', the argument must be in {list(allowed)}, but got {value}.")
        values[device, group, name] = value
    set_option.__name__ = set_option.__qualname__ = name
    return set_option


def group(device, name, **options):
    """The options of one group as attributes."""
    return types.SimpleNamespace(**{key: option(device, name, key, **how) for key, how in options.items()})


def absent(device):
    """(device_count, is_available) of a device that is not here."""
    def device_count():
        raise RuntimeError(f"Device_target {device} not exist.")

    def is_available():
        return False
    return device_count, is_available
