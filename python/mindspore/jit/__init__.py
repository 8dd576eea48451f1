"""ms.jit, Graph mode and what belongs to them.

``mindspore.jit`` is both this package and the function users call: the function takes the module's place, with the
package's attributes on it, so that neither depends on which import came first.
"""
import sys

from . import effects
from .front import Jit, attach, constexpr, jit, jit_class, lazy_inline, no_inline
from .runtime import user

for _name in ("__path__", "__file__", "__spec__", "__loader__", "__package__"):
    setattr(jit, _name, globals()[_name])
jit.jit, jit.Jit, jit.attach, jit.user = jit, Jit, attach, user
jit.jit_class, jit.constexpr, jit.lazy_inline, jit.no_inline = jit_class, constexpr, lazy_inline, no_inline
for _name in ("effects", "front", "guard", "number", "rewrite", "runtime", "source", "tree"):
    setattr(jit, _name, sys.modules[__name__ + "." + _name])
sys.modules[__name__] = jit
