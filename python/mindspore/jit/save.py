"""The graphs of what is compiled as files, with set_context(save_graphs=..., save_graphs_path=...) or the environment variables
MS_DEV_SAVE_GRAPHS and MS_DEV_SAVE_GRAPHS_PATH.

1   each graph as it runs, NN_validate_NNNN.ir; the second number counts the compiled functions
2   also as it was staged, NN_stage_NNNN.ir
3   also a drawing of the graph that runs, NN_validate_NNNN.dot
"""
import itertools
import os
import re

from mindspore import context

_files, _graphs = itertools.count(), itertools.count()
_VALUE = re.compile(r"%\d+")


def _level():
    level = context.get_context("save_graphs") or os.environ.get("MS_DEV_SAVE_GRAPHS", "0")
    return 2 if level is True else int(level)


class Saver:
    """The files of one compilation."""

    def __init__(self):
        self.level = _level()
        if self.level:
            self.number = next(_graphs)
            path = context.get_context("save_graphs_path")
            self.folder = path if path != "." else os.environ.get("MS_DEV_SAVE_GRAPHS_PATH", path)
            os.makedirs(self.folder, exist_ok=True)

    def staged(self, text):
        if self.level >= 2:
            self._write("stage", "ir", text)

    def final(self, graph):
        if self.level:
            text = str(graph)
            self._write("validate", "ir", text)
            if self.level >= 3:
                self._write("validate", "dot", _drawing(text))

    def _write(self, stage, kind, text):
        path = os.path.join(self.folder, f"{next(_files):02d}_{stage}_{self.number:04d}.{kind}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def _drawing(text):
    """The text of a graph in the language of graphviz: a node for each line, an edge for each use of a value."""
    nodes, edges, scopes = [], [], [{}]
    for k, line in enumerate(text.splitlines()):
        label = line.strip().replace("\\", "\\\\").replace('"', '\\"')
        nodes.append(f'    n{k} [label="{label}"];')
        if line.lstrip().startswith("}"):
            scopes.pop()
        uses, opens, inputs = line.partition("graph(")
        results, _, uses = uses.rpartition(" = ") if " = " in uses else ("", "", uses)
        edges += [f'    n{scopes[-1][v]} -> n{k} [label="{v}"];' for v in _VALUE.findall(uses) if v in scopes[-1]]
        scopes[-1].update(dict.fromkeys(_VALUE.findall(results), k))
        if opens:
            scopes.append(dict.fromkeys(_VALUE.findall(inputs), k))
    return "digraph {\n    node [shape=box];\n" + "\n".join(nodes + edges) + "\n}\n"
