"""Learning rates as lists, one per step."""
import math

from mindspore.nn.layer._check import check_float, check_int, check_positive_int, check_type

__all__ = ["piecewise_constant_lr", "exponential_decay_lr", "natural_exp_decay_lr", "inverse_decay_lr", "cosine_decay_lr",
           "polynomial_decay_lr", "warmup_lr"]


def piecewise_constant_lr(milestone, learning_rates):
    """learning_rates[k] up to step milestone[k]."""
    check_type(milestone, "milestone", (tuple, list), None)
    check_type(learning_rates, "learning_rates", (tuple, list), None)
    if len(milestone) != len(learning_rates):
        raise ValueError("For 'piecewise_constant_lr', the size of 'milestone' must be same with the size of "
                         f"'learning_rates', but got 'milestone' size: {len(milestone)}, 'learning_rates' size: "
                         f"{len(learning_rates)}.")
    lr, last = [], 0
    for k, (step, rate) in enumerate(zip(milestone, learning_rates)):
        check_positive_int(step, f"milestone[{k}]", None)
        if step < last:
            raise ValueError(f"For 'piecewise_constant_lr', the value of milestone[{k}] must be greater than milestone[{k - 1}], "
                             f"but got milestone[{k}]: {step}, milestone[{k - 1}]: {last}.")
        if not isinstance(rate, float):
            raise TypeError(f"The type of 'learning_rates[{k}]' should be 'float', but got type '{type(rate).__name__}'.")
        lr += [rate] * (step - last)
        last = step
    return lr


def _check(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair):
    check_positive_int(total_step, "total_step", None)
    check_positive_int(step_per_epoch, "step_per_epoch", None)
    check_positive_int(decay_epoch, "decay_epoch", None)
    check_float(learning_rate, "learning_rate", None, 0.0, True)
    check_float(decay_rate, "decay_rate", None, 0.0, True)
    check_type(is_stair, "is_stair", bool, None)


def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """learning_rate * decay_rate ** (epoch / decay_epoch)"""
    _check(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    epochs = (k // step_per_epoch for k in range(total_step))
    return [learning_rate * decay_rate ** (e // decay_epoch if is_stair else e / decay_epoch) for e in epochs]


def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """learning_rate * exp(-decay_rate * epoch)"""
    _check(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    epochs = (k // step_per_epoch for k in range(total_step))
    return [learning_rate * math.exp(-decay_rate * (e // decay_epoch * decay_epoch if is_stair else e)) for e in epochs]


def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """learning_rate / (1 + decay_rate * epoch / decay_epoch)"""
    _check(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    epochs = (k // step_per_epoch for k in range(total_step))
    return [learning_rate / (1 + decay_rate * (e // decay_epoch if is_stair else e / decay_epoch)) for e in epochs]


def cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch):
    """From max_lr to min_lr along half a cosine of decay_epoch epochs."""
    if not isinstance(min_lr, float):
        raise TypeError(f"For 'cosine_decay_lr', the type of 'min_lr' must be float, but got {type(min_lr).__name__}.")
    check_float(min_lr, "min_lr", None, 0.0)
    check_float(max_lr, "max_lr", None, 0.0, True)
    check_positive_int(total_step, "total_step", None)
    check_positive_int(step_per_epoch, "step_per_epoch", None)
    check_positive_int(decay_epoch, "decay_epoch", None)
    if min_lr >= max_lr:
        raise ValueError("For 'cosine_decay_lr', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' value: "
                         f"{max_lr}, 'min_lr' value: {min_lr}.")
    delta = 0.5 * (max_lr - min_lr)
    epochs = (min(k // step_per_epoch, decay_epoch) for k in range(total_step))
    return [min_lr + delta * (1 + math.cos(math.pi * e / decay_epoch)) for e in epochs]


def polynomial_decay_lr(learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power,
                        update_decay_epoch=False):
    """From learning_rate to end_learning_rate along a power of the rest of the way."""
    check_float(learning_rate, "learning_rate", None, 0.0, True)
    if not isinstance(end_learning_rate, float):
        raise TypeError("For 'polynomial_decay_lr', the type of 'end_learning_rate' must be float, but got "
                        f"{type(end_learning_rate).__name__}.")
    check_float(end_learning_rate, "end_learning_rate", None, 0.0)
    check_float(power, "power", None, 0.0, True)
    check_positive_int(total_step, "total_step", None)
    check_positive_int(step_per_epoch, "step_per_epoch", None)
    check_positive_int(decay_epoch, "decay_epoch", None)
    check_type(update_decay_epoch, "update_decay_epoch", bool, None)
    lr = []
    for k in range(total_step):
        epoch = k // step_per_epoch
        total = decay_epoch * max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else decay_epoch
        done = min(epoch, total) / total
        lr.append((learning_rate - end_learning_rate) * (1 - done) ** power + end_learning_rate)
    return lr


def warmup_lr(learning_rate, total_step, step_per_epoch, warmup_epoch):
    """Rises linearly to learning_rate within warmup_epoch epochs."""
    if not isinstance(learning_rate, float):
        raise TypeError("For 'warmup_lr', the argument 'learning_rate' must be type of float, but got 'learning_rate' type: "
                        f"{type(learning_rate)}.")
    check_float(learning_rate, "learning_rate", None, 0.0)
    check_int(warmup_epoch, "warmup_epoch", None, 0, True)
    check_positive_int(total_step, "total_step", None)
    check_positive_int(step_per_epoch, "step_per_epoch", None)
    return [learning_rate * min(k // step_per_epoch, warmup_epoch) / warmup_epoch for k in range(total_step)]
