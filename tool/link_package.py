#!/usr/bin/env python3
"""usage: link_package.py SOURCE_DIR TARGET_DIR FILE...   makes TARGET_DIR an importable package of links: to every
entry of SOURCE_DIR and to the built FILEs. Entries that are gone from SOURCE_DIR lose their link."""
import pathlib
import sys

source, target = map(pathlib.Path, sys.argv[1:3])
target.mkdir(parents=True, exist_ok=True)
wanted = {p.name: p for p in source.iterdir() if p.name != '__pycache__'}
wanted.update((pathlib.Path(f).name, pathlib.Path(f)) for f in sys.argv[3:])
for old in target.iterdir():
    if old.is_symlink() and (old.name not in wanted or not old.exists()):
        old.unlink()
for name, path in wanted.items():
    link = target / name
    if not link.is_symlink() or link.resolve() != path.resolve():
        link.unlink(missing_ok=True)
        link.symlink_to(path.resolve())
