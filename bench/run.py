#!/usr/bin/env python3
"""Run benchmarks beside their peer: run.py [NAME ...] [--vs torch] [--rounds N] [--peer-python PATH]

Both sides run in turns in one invocation, each round in a process of its own; the medians over all rounds and their ratio
are printed. The peer lives in an environment of its own (.bench-venv, made on first use).
NAME: a name in problems/*.txt, or a prefix of some ("matmul", "lenet"); without one, those of core.txt.
A file problems/AREA.txt belongs to the scripts ours_AREA.py and peer_AREA.py; core.txt to ours.py and peer_torch.py.
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
    """By area: {name: (what, target ratio)}."""
    areas = {}
    for path in sorted((HERE / 'problems').glob('*.txt')):
        if not names and path.stem != 'core':
            continue
        table = {}
        for line in path.read_text().splitlines():
            if line and not line.startswith('#'):
                name, rest = line.split(None, 1)
                what, target = rest.rsplit(None, 1)
                if not names or any(name.startswith(p) for p in names):
                    table[name] = (what.strip(), float(target))
        if table:
            areas[path.stem] = table
    return areas


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
    areas = problems(args.names)
    if not areas:
        sys.exit('no such benchmark')
    peer = peer_python(args.peer_python) if args.vs == 'torch' else None
    print(f'{"benchmark":18} {"ours":>12} {"peer":>12} {"ratio":>7} {"target":>7}  what')
    for area, table in areas.items():
        core = area == 'core'
        ours, theirs = {}, {}
        for _ in range(args.rounds):
            for name, t in measure(sys.executable, 'ours.py' if core else f'ours_{area}.py', table, {}).items():
                ours.setdefault(name, []).append(t)
            script = 'peer_torch.py' if core else f'peer_{area}.py'
            for name, t in (measure(peer, script, table, {'PYTHONPATH': ''}) if peer else {}).items():
                theirs.setdefault(name, []).append(t)
        for name, (what, target) in table.items():
            if name not in ours:
                continue
            a = statistics.median(ours[name])
            b = statistics.median(theirs[name]) if name in theirs else float('nan')
            print(f'{name:18} {a * 1e3:9.4f} ms {b * 1e3:9.4f} ms {a / b:7.3f} {target:7.3f}  {what}', flush=True)


if __name__ == '__main__':
    main()
