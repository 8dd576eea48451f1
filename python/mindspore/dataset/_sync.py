"""The gate of sync_wait: rows pass it one by one, and wait for sync_update when their number is used up. What is counted
are batches, of as many rows as the batch operation behind it says."""
import threading


class SyncPoint:
    def __init__(self, name, num_batch, callback):
        self.name, self._step, self._callback = name, num_batch, callback
        self.rows = 1  # of a batch
        self._left, self._open = num_batch, False
        self._change = threading.Condition()

    # what an iterator calls, as for workers

    def start(self):
        with self._change:
            self._left, self._open = self._step * self.rows, False

    def interrupt(self):
        with self._change:
            self._open = True
            self._change.notify_all()

    stop = interrupt

    def update(self, num_batch, data):
        with self._change:
            if self._callback is not None:
                self._callback(data)
            self._left += (num_batch or self._step) * self.rows
            self._change.notify_all()

    def __call__(self, value):
        with self._change:
            self._change.wait_for(lambda: self._open or self._left > 0)
            self._left -= 1
        return value
