#!/usr/bin/env python3
"""Run benchmarks beside their peer: run.py [NAME ...] [--vs torch] [--rounds N] [--peer-python PATH]

Both sides run in turns in one invocation, each round in a process of its own; the medians over all rounds and their ratio
are printed. The peer lives in an environment of its own (.bench-venv, made on first use).
NAME: a name of problems/core.txt, or a prefix of some ("matmul", "lenet").
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def peer_python(given):
    if given:
        return given
    python = ROOT / '.bench-venv' / 'bin' / 'python'
    if not python.exists():
        subprocess.run([sys.executable, '-m', 'venv', ROOT / '.bench-venv'], check=True)
        subprocess.run([python, '-m', 'pip', 'install', '-q', 'torch==2.9.1', 'numpy'], check=True)
    return str(python)


def problems(names):
    table = {}
    for line in (HERE / 'problems' / 'core.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            name, rest = line.split(None, 1)
            what, target = rest.rsplit(None, 1)
            table[name] = (what.strip(), float(target))
    return {n: t for n, t in table.items() if not names or any(n.startswith(p) for p in names)}


def measure(python, script, names, extra_env):
    env = dict(os.environ, **extra_env)
    done = subprocess.run([python, str(HERE / script), *names], env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f'{script} failed')
    return json.loads(done.stdout.splitlines()[-1])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('names', nargs='*')
    ap.add_argument('--vs', default='torch', choices=['torch', 'none'])
    ap.add_argument('--rounds', type=int, default=3)
    ap.add_argument('--peer-python')
    args = ap.parse_args()
    table = problems(args.names)
    if not table:
        sys.exit('no such benchmark')
    peer = peer_python(args.peer_python) if args.vs == 'torch' else None
    ours, theirs = {}, {}
    for _ in range(args.rounds):
        for name, t in measure(sys.executable, 'ours.py', table, {}).items():
            ours.setdefault(name, []).append(t)
        if peer:
            for name, t in measure(peer, 'peer_torch.py', table, {'PYTHONPATH': ''}).items():
                theirs.setdefault(name, []).append(t)
    print(f'{"benchmark":18} {"ours":>12} {"peer":>12} {"ratio":>7} {"target":>7}  what')
    for name, (what, target) in table.items():
        if name not in ours:
            continue
        a = statistics.median(ours[name])
        b = statistics.median(theirs[name]) if name in theirs else float('nan')
        print(f'{name:18} {a * 1e3:9.4f} ms {b * 1e3:9.4f} ms {a / b:7.3f} {target:7.3f}  {what}')


if __name__ == '__main__':
    main()
