"""Worker processes for functions of the user (python_multiprocessing=True).

A thread of the pipeline hands a row to an idle process and waits for the answer, so the pipeline keeps the order and
bounds what is under way; the processes only compute. They are forked when the first iterator starts and end with the
last one. Arrays travel through memory that both sides map, the rest through a socket. Before each row the generators of
`random` and `numpy.random` are seeded from the row's place in the epoch: results do not depend on how many workers there
are. A process whose parent is gone ends by itself. Refused: multiprocessing.Pool, whose threads hang when a process dies.
"""
import gc
import mmap
import os
import pickle
import queue
import random
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import warnings

import numpy.random

from mindspore import _c

_HEAD = struct.Struct('<QQ')
_lock = threading.Lock()
_ours = set()  # the parents' ends of all sockets; a new process must not keep others alive


class _Channel:
    """One end of a connection: messages are pickles, their large buffers lie in a shared file."""

    def __init__(self, sock, out, into):
        self.sock, self._files, self._maps = sock, (out, into), [None, None]

    def _map(self, k, size, grow):
        file = self._files[k]
        if self._maps[k] is None or len(self._maps[k]) < size:
            if grow:
                size = max(2 * size, 1 << 16)
                os.ftruncate(file, size)
            self._maps[k] = mmap.mmap(file, os.fstat(file).st_size)
        return self._maps[k]

    def send(self, message):
        buffers = []
        text = pickle.dumps(message, 5, buffer_callback=buffers.append)
        raws = [b.raw() for b in buffers]
        total = sum(r.nbytes for r in raws)
        if total:
            room, at = self._map(0, total, True), 0
            for r in raws:
                room[at:at + r.nbytes] = r
                at += r.nbytes
        sizes = struct.pack(f'<{len(raws)}Q', *(r.nbytes for r in raws))
        self.sock.sendall(_HEAD.pack(len(text), len(raws)) + sizes + text)

    def _exactly(self, n):
        parts = []
        while n:
            part = self.sock.recv(min(n, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            n -= len(part)
        return b''.join(parts)

    def receive(self):
        n_text, n_raw = _HEAD.unpack(self._exactly(_HEAD.size))
        sizes = struct.unpack(f'<{n_raw}Q', self._exactly(8 * n_raw))
        text, buffers, at = self._exactly(n_text), [], 0
        room = self._map(1, sum(sizes), False) if sum(sizes) else b''
        for n in sizes:
            buffers.append(bytearray(room[at:at + n]))
            at += n
        return pickle.loads(text, buffers=buffers)


class _RemoteTraceback(Exception):
    """Where in the worker process an exception came from; the cause of the exception that is raised here."""

    def __str__(self):
        return f'\n"""\n{self.args[0]}"""'


def _plain(value):
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(v) for v in value)
    return value.asnumpy() if hasattr(value, 'asnumpy') else value


def _failure(e):
    """An exception as a message; one that cannot be pickled as its text."""
    text = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(e))
    except Exception:
        e = RuntimeError(traceback.format_exception_only(type(e), e)[-1].strip())
    return False, (e, text)


def _serve(channel, function, parent):
    """Answers until the parent is gone."""
    wait = select.poll()
    wait.register(channel.sock, select.POLLIN)
    while os.getppid() == parent:
        if not wait.poll(1000):
            continue
        seed, args = channel.receive()
        random.seed(seed)
        numpy.random.seed(seed & 0xffffffff)
        try:
            answer = True, _plain(function(*args))
        except BaseException as e:  # SystemExit must not end the process silently
            answer = _failure(e)
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            channel.send(answer)
        except (pickle.PicklingError, TypeError, AttributeError) as e:
            channel.send(_failure(e))


def _child(channel, function, parent):
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; it ends the workers
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for s in _ours:
            s.close()
        gc.freeze()  # what the parent had is not this process's to collect
        _c.set_thread_count(1)  # the library's threads do not survive a fork
        _serve(channel, function, parent)
        code = 0
    except (EOFError, OSError):
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class _Process:
    def __init__(self, function):
        ours, theirs = socket.socketpair()
        files = [os.memfd_create('mindspore-dataset') for _ in range(2)]
        _ours.add(ours)
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _child(_Channel(theirs, *files), function, parent)
        theirs.close()
        self._channel, self._files, self._sock, self._status = _Channel(ours, *reversed(files)), files, ours, None

    def call(self, what, seed, args):
        try:
            self._channel.send((seed, args))
            good, value = self._channel.receive()
        except (EOFError, OSError):
            raise RuntimeError(f'A worker process of {what} {self._end()}.') from None
        if good:
            return value
        error, text = value
        error.__cause__ = _RemoteTraceback(text)
        raise error

    def _end(self):
        for _ in range(100):
            if self._reap():
                break
            time.sleep(0.01)
        code = self._status
        if code is None:
            return 'closed its connection'
        if os.WIFSIGNALED(code):
            number = os.WTERMSIG(code)
            return f'was killed by signal {number} ({signal.Signals(number).name})'
        return f'ended with exit code {os.WEXITSTATUS(code)}'

    def _reap(self, flags=os.WNOHANG):
        with _lock:
            if self._status is None:
                try:
                    pid, status = os.waitpid(self.pid, flags)
                except ChildProcessError:
                    pid, status = self.pid, 0
                if pid:
                    self._status = status
        return self._status is not None

    def stop(self):
        if not self._reap():
            os.kill(self.pid, signal.SIGKILL)
            self._reap(0)
        _ours.discard(self._sock)
        self._sock.close()
        for f in self._files:
            os.close(f)


class Workers:
    """`n` processes that call one function; `what` names the operation in messages."""

    def __init__(self, n, function, what):
        self.n, self._function, self._what = n, function, what
        self.__name__ = getattr(function, '__name__', type(function).__name__)
        self._forget()

    def _forget(self):
        self._users, self._processes, self._idle, self._owner = 0, [], None, os.getpid()

    def _inherited(self):
        """Whether this process is a fork of the one whose processes these are."""
        return self._owner != os.getpid()

    def __getstate__(self):
        return {**self.__dict__, '_users': 0, '_processes': [], '_idle': None}

    def start(self):
        if self._inherited():
            self._forget()
        self._users += 1
        self._run = _c.ds_config('run')
        if self._users == 1 and not _c.ds_config('debug'):
            self._idle = queue.SimpleQueue()
            for _ in range(self.n):
                self._processes.append(_Process(self._function))
                self._idle.put(self._processes[-1])

    def interrupt(self):
        """The iterator is about to be closed; nobody waits for a row that is under way."""
        if self._users == 1 and not self._inherited():
            for p in self._processes:
                if not p._reap():
                    os.kill(p.pid, signal.SIGKILL)

    def stop(self):
        if self._inherited():
            return
        self._users -= 1
        if self._users == 0:
            while self._processes:
                self._processes.pop().stop()

    def pids(self):
        return [p.pid for p in self._processes]

    def at(self, place, *args):
        """The row at (epoch, number)."""
        return self(hash((self._run, *place)) & 0xffffffffffffffff, *args)

    def __call__(self, seed, *args):
        if not self._processes:  # debug mode
            return self._function(*args)
        process = self._idle.get()
        try:
            return process.call(self._what, seed, args)
        finally:
            self._idle.put(process)
