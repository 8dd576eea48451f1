"""Models to files and back: export, load."""
import os

from mindspore.train import mindir


def load(file_name, **kwargs):
    """The model of a .mindir file, for ``nn.GraphCell``. dec_key and dec_mode decrypt it (dec_mode: a function of path and key)."""
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError(f"For 'load', the argument 'file_name'(MindIR file) should end with '.mindir', please input the correct "
                         f"'file_name', but got {file_name!r}.")
    path = os.path.realpath(file_name)
    if not os.path.exists(path):
        raise ValueError(f"For 'load', the argument 'file_name'(MindIR file) does not exist, please check whether the 'file_name' is "
                         f"correct: {file_name!r}.")
    with open(path, "rb") as f:
        content = f.read()
    return mindir.decode(f"The MindIR file {file_name}", content, os.path.dirname(path))
