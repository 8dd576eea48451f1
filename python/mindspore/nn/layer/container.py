"""Cells that hold Cells: SequentialCell, CellList, CellDict."""
import itertools
import os
from collections import OrderedDict
from collections.abc import Iterable

from mindspore.nn.cell import Cell

__all__ = ["SequentialCell", "CellList", "CellDict"]


def _index(n, index, who):
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"For '{who}', the type of 'index' must be int or slice, but got {type(index).__name__}.")
    if not -n <= index < n:
        raise IndexError(f"For '{who}', the value of 'index' must be a number in range [{-n}, {n}), but got {index}.")
    return index % n


def _valid(cell, who):
    if not isinstance(cell, Cell):
        raise TypeError(f"For '{who}', each cell must be subclass of Cell, but got {type(cell).__name__}.")
    return cell


class _Numbered(Cell):
    """Children called "0", "1", ... in order."""

    def _fill(self, cells, rename=True):
        table = self._cells
        table.clear()
        for k, cell in enumerate(cells):
            if rename and self._auto_prefix:
                cell.update_parameters_name(f"{k}.")
            table[str(k)] = cell
        self._ms_touch()

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._sliced(list(self._cells.items())[index])
        cells = list(self._cells.values())
        return cells[_index(len(cells), index, self.cls_name)]

    def __setitem__(self, index, cell):
        _valid(cell, self.cls_name)
        key = list(self._cells)[_index(len(self), index, self.cls_name)]
        if self._auto_prefix:
            cell.update_parameters_name(f"{self._prefix_of_children()}{key}.")
        self._cells[key] = cell
        self._ms_touch()

    def __delitem__(self, index):
        cells = list(self._cells.values())
        if isinstance(index, slice):
            del cells[index]
        else:
            del cells[_index(len(cells), index, self.cls_name)]
        prefix = self._prefix_of_children()
        self._fill(cells, rename=False)
        if self._auto_prefix:
            for k, cell in enumerate(cells):
                cell.update_parameters_name(f"{prefix}{k}.")

    def _prefix_of_children(self):
        """What the names of the parameters below begin with ("seq." once this Cell was assigned to an attribute).

        Checkpoints depend on the names, so a guess of the original's counts as the rule: what the first parameters of the first
        two children have in common; of a lone child the part before the last component that equals its number."""
        first = []
        for key, cell in self._cells.items():
            name = next((p.name for p in cell.get_parameters()), None)
            if name is not None:
                first.append((key, name.split(".")))
            if len(first) == 2:
                break
        if not first:
            return ""
        (key, parts), *other = first
        if other:
            n = len(os.path.commonprefix([parts, other[0][1]]))
        else:
            n = max((k for k, part in enumerate(parts) if part == key), default=0)
        return "".join(part + "." for part in parts[:n])

    def __len__(self):
        return len(self._cells)

    def __bool__(self):
        return len(self._cells) != 0

    def __iter__(self):
        return iter(list(self._cells.values()))

    def _insert(self, index, cell):
        prefix = self._prefix_of_children()
        cells = list(self._cells.values())
        cells.insert(index, cell)
        self._fill(cells, rename=False)
        if self._auto_prefix:
            for k, c in enumerate(cells):
                if k >= index:
                    c.update_parameters_name(f"{prefix}{k}.")


class SequentialCell(_Numbered):
    """Cells applied one after the other."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, cell in args[0].items():
                self.insert_child_to_cell(name, cell)
                cell.update_parameters_name(name + ".")
            return
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = args[0]
            for k, cell in enumerate(args):
                self.insert_child_to_cell(str(k), cell)
        for k, cell in enumerate(args):
            if not isinstance(cell, Cell):
                raise TypeError(f"For '{self.cls_name}', the 'args[{k}]' must be Cell, list or orderedDict, but got "
                                f"{type(cell).__name__}")
        self._fill(args)

    def _sliced(self, items):
        out = type(self)()
        out._cells.update(items)  # under the names they have here
        out._ms_touch()
        return out

    @property
    def cell_list(self):
        """The Cells in order; those of a list that is assigned take their place, under the names they have here."""
        return list(self._cells.values())

    @cell_list.setter
    def cell_list(self, cells):
        names = {id(cell): name for name, cell in self._cells.items()}
        free = (str(k) for k in itertools.count() if str(k) not in self._cells)
        chain = {names.get(id(cell)) or next(free): _valid(cell, self.cls_name) for cell in cells}
        self._cells.clear()
        self._cells.update(chain)

    def append(self, cell):
        """Adds a Cell at the end."""
        self._insert(len(self), _valid(cell, self.cls_name))
        return self

    def insert(self, index, cell):
        self._insert(_index(len(self) + 1, index, self.cls_name), _valid(cell, self.cls_name))
        return self

    def construct(self, input_data):
        for cell in self._cells.values():
            input_data = cell(input_data)
        return input_data


class CellList(_Numbered):
    """A list of Cells, which it registers."""

    def __init__(self, *args, **kwargs):
        super().__init__(kwargs.get("auto_prefix", True))
        if len(args) == 1:
            self.extend(args[0])

    def _sliced(self, items):
        out = type(self)()
        out._fill([cell for _, cell in items], rename=not self._prefix_of_children())  # those of a network keep their names
        return out

    def append(self, cell):
        """Adds a Cell at the end."""
        self._insert(len(self), _valid(cell, self.cls_name))

    def extend(self, cells):
        """Adds the Cells of a list at the end."""
        if not isinstance(cells, (list, tuple, CellList, SequentialCell)):
            raise TypeError(f"For '{self.cls_name}', the new cells wanted to append should be instance of list, but got "
                            f"{type(cells).__name__}.")
        for cell in cells:
            self._insert(len(self), _valid(cell, self.cls_name))
        return self

    __iadd__ = extend

    def insert(self, index, cell):
        """Adds a Cell before the one at ``index``."""
        self._insert(_index(len(self) + 1, index, self.cls_name), _valid(cell, self.cls_name))

    def construct(self, *inputs):
        raise NotImplementedError("For 'CellList', a list of Cells has no 'construct': call its elements.")


class CellDict(Cell):
    """A dict of Cells, which it registers."""

    def __init__(self, *args, **kwargs):
        super().__init__(kwargs.get("auto_prefix", True))
        if args:
            self.update(args[0])

    def __getitem__(self, key):
        return self._cells[key]

    def __setitem__(self, key, cell):
        self._check(key, cell)
        if self._auto_prefix:
            cell.update_parameters_name(f"{key}.")
        self._cells[key] = cell
        self._ms_touch()

    def _check(self, key, cell):
        if not isinstance(key, str):
            raise TypeError(f"For '{self.cls_name}', the type of key should be str, but got {type(key).__name__}.")
        if not isinstance(cell, Cell):
            raise TypeError(f"For '{self.cls_name}', the type of cell should be Cell, but got {type(cell).__name__}.")
        if key not in self._cells and hasattr(self, key):
            raise KeyError(f"For '{self.cls_name}', the key '{key}' is an attribute of the class already.")
        if "." in key or not key:
            raise KeyError(f"For '{self.cls_name}', the key must not be empty or contain '.', but got '{key}'.")

    def __delitem__(self, key):
        del self._cells[key]
        self._ms_touch()

    def __len__(self):
        return len(self._cells)

    def __bool__(self):
        return len(self._cells) != 0

    def __iter__(self):
        return iter(list(self._cells))

    def __contains__(self, key):
        return key in self._cells

    def clear(self):
        self._cells.clear()
        self._ms_touch()

    def pop(self, key):
        """Removes ``key`` and returns its Cell."""
        cell = self._cells[key]
        del self[key]
        return cell

    def keys(self):
        return self._cells.keys()

    def values(self):
        return self._cells.values()

    def items(self):
        return self._cells.items()

    def update(self, cells):
        """Adds the (key, cell) pairs of a dict, a CellDict or an iterable."""
        if not isinstance(cells, Iterable):
            raise TypeError("CellDict.update() should be called with an iterable of key-value pairs, but got "
                            f"{type(cells).__name__}")
        if isinstance(cells, (dict, CellDict)):
            cells = cells.items()
        for k, pair in enumerate(cells):
            if not isinstance(pair, Iterable) or len(pair) != 2:
                raise ValueError(f"For '{self.cls_name}', the element {k} of the cells to update is no key-value pair.")
            self[pair[0]] = pair[1]

    def construct(self, *inputs):
        raise NotImplementedError("For 'CellDict', a dict of Cells has no 'construct': call its elements.")
