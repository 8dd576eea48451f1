"""Steps of optimizers, in place: the rows `_optim` and `_p.apply*`. Every rule beside values recorded from the original: test_nn_optim.py,
test_experimental_optim.py, test_primitives_more.py."""
import numpy as np

from .table import F, G, c, f, i, row

P, M, V, A, B = (f(2, 3) for _ in range(5))
V, A = abs(V) + 0.1, abs(A) + 0.1
LR = np.array(0.1)


def lists(n_lists):
    """Arguments that are lists of a tensor for each of two parameters."""
    return [[f(2, 3, lo=.1), f(4, lo=.1)] for _ in range(n_lists)]


def every(rule):
    """A rule of one parameter as one of lists: what is written is the parameters, then each list of states."""
    def call(*args):
        n = sum(isinstance(a, (list, tuple)) and isinstance(a[0], np.ndarray) for a in args)
        new = [rule(*[a[k] for a in args[:n]], *args[n:]) for k in range(len(args[0]))]
        return [t for column in zip(*new) for t in column]
    return call


def momentum(p, m, g, lr, mu, decay, scale, nesterov):
    g = g * scale + decay * p
    m = mu * m + g
    return p - lr * (g + mu * m if nesterov else m), m


def sgd(p, a, stat, g, lr, mu, dampening, decay, scale, nesterov):
    g = g * scale + decay * p
    a = np.where(stat > 0, g, mu * a + (1 - dampening) * g)
    return p - lr * (g + mu * a if nesterov else a), a, stat * 0


def adam(p, m, v, top, g, lr, p1, p2, b1, b2, eps, decay, scale, nesterov):
    g = g * scale + decay * p
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    top = None if top is None else np.maximum(top, v)
    ahead = b1 * m + (1 - b1) * g if nesterov else m
    p = p - lr * np.sqrt(1 - p2) / (1 - p1) * ahead / (np.sqrt(v if top is None else top) + eps)
    return (p, m, v) if top is None else (p, m, v, top)


def adamw(p, m, v, g, lr, b1, b2, eps, decay, scale):
    g = g * scale
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    return p - lr * (m / (np.sqrt(v) + eps) + decay * p), m, v


def rmsprop(p, square, moment, mean, g, lr, rho, mu, eps, decay, scale):
    g = g * scale + decay * p
    square = rho * square + (1 - rho) * g * g
    under = square
    if mean is not None:
        mean = rho * mean + (1 - rho) * g
        under = square - mean * mean
    moment = mu * moment + lr * g / np.sqrt(under + eps)
    return (p - moment, square, moment) if mean is None else (p - moment, square, moment, mean)


def adagrad(p, a, g, lr, decay, scale, update):
    g = g * scale + decay * p
    a = a + g * g if update else a
    return p - lr * g / np.sqrt(a), a


def lars(p, g, lr, coefficient, eps, clip, decay):
    w, u = np.linalg.norm(p), np.linalg.norm(g)
    ratio = coefficient * w / (u + w * decay + eps)
    return (g + decay * p) * (np.minimum(ratio / lr, 1) if clip else ratio)


def named(fn):
    """A reference by the names of the row."""
    return lambda *args, **kw: fn(*args, *kw.values())


def optional(rule, at):
    """The list at `at` may be None."""
    def call(*args):
        if args[at] is not None:
            return every(rule)(*args)
        return every(lambda *a: rule(*a[:at], None, *a[at:]))(*args[:at], *args[at + 1:])
    return call


def step_row(name, ref, n_written, *cases):
    row(name, named(ref), *cases, writes=tuple(range(2 * n_written)), grad=False)


step_row('_optim.momentum', every(momentum), 2, c(*lists(3), LR, 0.9, 0.0, 1.0, False), c(
    **dict(zip(('params', 'moments', 'grads'), lists(3))), lr=LR, momentum=0.5, weight_decay=0.1, grad_scale=0.5, nesterov=True))
step_row('_optim.sgd', every(sgd), 3, c(*lists(4), LR, 0.9, 0.1, 0.0, 1.0, False), c(
    *lists(2), [np.zeros((2, 3)), np.zeros(4)], *lists(1), LR, 0.9, 0.1, 0.0, 1.0, False), c(
    **dict(zip(('params', 'accum', 'stat', 'grads'), lists(4))), lr=LR, momentum=0.5, dampening=0.0, weight_decay=0.1, grad_scale=0.5, nesterov=True))
POWERS = np.array(0.81), np.array(0.98)
ADAM = dict(lr=LR, beta1_power=POWERS[0], beta2_power=POWERS[1], beta1=0.8, beta2=0.95, eps=1e-3, weight_decay=0.1, grad_scale=0.5, nesterov=True)
x = lists(4)
step_row('_optim.adam', optional(adam, 3), 3, c(*x[:3], None, x[3], LR, *POWERS, 0.9, 0.99, 1e-8, 0.0, 1.0, False), c(
    params=x[0], moment1=x[1], moment2=x[2], vhat=None, grads=x[3], **ADAM))
x = lists(5)
step_row('_optim.adam', optional(adam, 3), 4, c(params=x[0], moment1=x[1], moment2=x[2], vhat=x[3], grads=x[4], **ADAM))
step_row('_optim.adamw', every(adamw), 3, c(*lists(4), LR, 0.9, 0.99, 1e-6, 0.1, 1.0), c(
    **dict(zip(('params', 'moment1', 'moment2', 'grads'), lists(4))), lr=LR, beta1=0.8, beta2=0.95, eps=1e-3, weight_decay=0.0, grad_scale=0.5))
RMS = dict(lr=LR, decay=0.9, momentum=0.5, eps=1.0, weight_decay=0.1, grad_scale=0.5)
x = lists(5)
step_row('_optim.rmsprop', optional(rmsprop, 3), 3, c(*x[:3], None, x[3], LR, 0.9, 0.0, 1e-3, 0.0, 1.0))
step_row('_optim.rmsprop', optional(rmsprop, 3), 4, c(params=x[0], mean_square=[4 + v for v in x[1]], moment=x[2], mean_grad=x[3], grads=x[4], **RMS))
step_row('_optim.adagrad', every(adagrad), 2, c(*lists(3), LR, 0.0, 1.0, True), c(
    **dict(zip(('params', 'accum', 'grads'), lists(3))), lr=LR, weight_decay=0.1, grad_scale=0.5, update_slots=False))
row('_optim.lars', named(lambda params, grads, *rest: [lars(p, g, *rest) for p, g in zip(params, grads)]), c(*lists(2), LR, 0.05, 1e-5, False, 0.1), c(
    **dict(zip(('params', 'grads'), lists(2))), lr=LR, coefficient=0.05, eps=1e-5, clip=True, weight_decay=0.0), grad=False)
row('_optim.increment', lambda t, by: t + by, c(np.array([3], np.int32), 2), c(t=np.array(5), by=-1), writes=(0,), grad=False)
row('_optim.scale', lambda t, by: t * by, c(F.copy(), 0.5), c(t=G.copy(), by=-2.0), writes=(0,), grad=False)


# ---- rules by name: parameters, gradients, lists of states, (lr, shared ...), numbers ----


def moved(old, new, k):
    return k * old + (1 - k) * new


def rule_adam(p, g, s, lr, t, b1, b2, eps, amsgrad, decoupled, decay):
    p = p - decay * lr * p if decoupled else p
    g = g if decoupled else g + decay * p
    m, v = moved(s[0], g, b1), moved(s[1], g * g, b2)
    top = np.maximum(s[2], v) if amsgrad else v
    p = p - lr / (1 - b1**t) * m / (np.sqrt(top) / np.sqrt(1 - b2**t) + eps)
    return p, m, v, *([top] if amsgrad else s[2:])


def rule_adadelta(p, g, s, lr, rho, eps, decay):
    a = moved(s[0], g * g, rho)
    d = np.sqrt(s[1] + eps) * g / np.sqrt(a + eps)
    return p - lr * d, a, moved(s[1], d * d, rho)


def rule_adamax(p, g, s, lr, power, b1, b2, eps, decay):
    m, u = moved(s[0], g, b1), np.maximum(b2 * s[1], abs(g))
    return p - lr / (1 - power) * m / (u + eps), m, u


def rule_lamb(p, g, s, lr, t, b1, b2, eps, decay):
    m, v = moved(s[0], g, b1), moved(s[1], g * g, b2)
    d = m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps) + decay * p
    return p - lr * np.linalg.norm(p) / np.linalg.norm(d) * d, m, v


DECOUPLED = 'adam', 'Lamb'
STEPS = {'adam': rule_adam, 'Adadelta': rule_adadelta, 'AdaMax': rule_adamax, 'Lamb': rule_lamb}


def by_name(rule, params, grads, states, shared, numbers, weight_decay, grad_scale):
    new = []
    for k, (p, g) in enumerate(zip(params, grads)):
        g = g * grad_scale + (0 if rule in DECOUPLED else weight_decay * p)
        new.append(STEPS[rule](p, g, [s[k] for s in states], *[v.reshape(()) for v in shared], *numbers, weight_decay))
    states = [[n[1 + k] for n in new] for k in range(len(states))]
    return [n[0] for n in new] + [t for s in states for t in s]


T = np.array(3)
for rule, n_states, shared, numbers in (
        ('adam', 2, (T,), (0.9, 0.99, 1e-6, 0.0, 0.0)), ('adam', 3, (T,), (0.8, 0.9, 1e-3, 1.0, 1.0)), ('Adadelta', 2, (), (0.9, 1e-3)),
        ('AdaMax', 2, (np.array(0.7),), (0.9, 0.99, 1e-6)), ('Lamb', 2, (T,), (0.9, 0.99, 1e-6))):
    x = lists(2 + n_states)
    row('_optim.step', by_name, c(rule, *x[:2], x[2:], [LR, *shared], numbers, 0.1, 0.5), c(
        rule=rule, params=x[0], grads=x[1], states=x[2:], shared=[LR, *shared], numbers=numbers, weight_decay=0.0, grad_scale=1.0),
        writes=(0, 1, *range(4, 4 + 2 * n_states)), grad=False)


# ---- primitive classes: results are what is written, the variable first ----


def twice(*new):
    return (*new, *new)


def apply_momentum(variable, accumulation, learning_rate, gradient, momentum, nesterov, gradient_scale):
    g = gradient * gradient_scale
    a = accumulation * momentum + g
    v = variable - learning_rate * (g + momentum * a if nesterov else a)
    return v, v, a


def apply_adagrad(var, accum, lr, grad, update_slots):
    accum = accum + grad**2 if update_slots else accum
    return twice(var - lr * grad / np.sqrt(accum), accum)


def apply_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, nesterov):
    return twice(*adam(var, m, v, None, gradient, lr, beta1_power, beta2_power, beta1, beta2, epsilon, 0, 1, nesterov))


def apply_rms_prop(var, mean_square, moment, lr, grad, decay, momentum, epsilon):
    return twice(*rmsprop(var, mean_square, moment, None, grad, lr, decay, momentum, epsilon, 0, 1))


row('_p.apply_momentum', apply_momentum, c(P, M, 0.1, G, 0.9, False, 1.0), c(
    variable=P, accumulation=M, learning_rate=LR, gradient=G, momentum=np.array(0.5), nesterov=True, gradient_scale=0.5), writes=(0, 1), grad=False)
row('_p.apply_adagrad', apply_adagrad, c(P, A, 0.1, G, True), c(var=P, accum=A, lr=LR, grad=G, update_slots=False), writes=(0, 1), grad=False)
row('_p.apply_adam', apply_adam, c(P, M, V, 0.81, 0.98, 0.1, 0.9, 0.99, 1e-6, G, False), c(
    var=P, m=M, v=V, beta1_power=POWERS[0], beta2_power=POWERS[1], lr=LR, beta1=0.8, beta2=0.95, epsilon=1e-3, gradient=G, nesterov=True),
    writes=(0, 1, 2), grad=False)
row('_p.apply_rms_prop', apply_rms_prop, c(P, V, M, 0.1, G, 0.9, 0.0, 1e-3), c(
    var=P, mean_square=V, moment=M, lr=LR, grad=G, decay=np.array(0.8), momentum=0.5, epsilon=1e-2), writes=(0, 1, 2), grad=False)


def applied(rule, states, grad, numbers, indices=None):
    if indices is not None:
        whole = np.zeros(states[0].shape)
        np.add.at(whole, indices, grad)
        new = applied(rule, states, whole, numbers)
        rows = np.isin(np.arange(len(whole)), indices)[:, None]
        return [np.where(rows, a, b) for a, b in zip(new, states * 2)]
    if rule == 'Adam':
        p1, p2, lr, b1, b2, eps, nesterov = numbers
        return twice(*adam(*states[:3], states[3] if len(states) > 3 else None, grad, lr, p1, p2, b1, b2, eps, 0, 1, nesterov))
    if rule == 'Adadelta':
        p, a, d = states
        return twice(*rule_adadelta(p, grad, (a, d), *numbers, 0))
    if rule == 'KerasMomentum':
        (p, a), (lr, mu, nesterov) = states, numbers
        a = a * mu - lr * grad
        return twice(p + (a * mu - lr * grad if nesterov else a), a)
    lr, base, decay, beta = numbers  # AddSign
    p, m = states
    m = beta * m + (1 - beta) * grad
    return twice(p - lr * (base + decay * np.sign(grad) * np.sign(m)) * grad, m)


for rule, states, numbers in (('Adam', [P, M, V], (0.81, 0.98, 0.1, 0.9, 0.99, 1e-6, 0.0)), ('Adam', [P, M, V, A], (0.81, 0.98, 0.1, 0.8, 0.9, 1e-3, 1.0)),
                              ('Adadelta', [P, V, A], (0.1, 0.9, 1e-3)), ('KerasMomentum', [P, M], (0.1, 0.9, 1.0)),
                              ('AddSign', [P, M], (0.1, 1.0, 0.9, 0.8))):
    row('_p.apply', applied, c(rule, states, G, numbers), c(rule=rule, states=states, grad=f(3, 3), numbers=numbers, indices=np.array([1, 1, 1])),
        writes=tuple(range(len(states))), grad=False)
