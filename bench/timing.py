"""What both sides of a benchmark share: the median time of a call."""
import statistics
import time


def per_call(f, seconds=1.0, inner=1):
    """Median seconds of f(), measured in blocks of `inner` calls for about `seconds`."""
    for _ in range(3):
        f()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        t = time.perf_counter()
        for _ in range(inner):
            f()
        times.append((time.perf_counter() - t) / inner)
    return statistics.median(times)


def per_step(f):
    """Median seconds of five calls that take seconds each, after two to warm up."""
    f()
    f()
    times = []
    for _ in range(5):
        t = time.perf_counter()
        f()
        times.append(time.perf_counter() - t)
    return statistics.median(times)
