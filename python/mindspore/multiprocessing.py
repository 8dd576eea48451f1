"""The standard module of this name: Tensors travel between processes as any object that can be pickled."""
from multiprocessing import *  # noqa: F403
from multiprocessing import __all__  # noqa: F401
