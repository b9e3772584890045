"""What differs between operating systems; no other module may assume one.

`system` is the module of this one, `posix` or `windows`, which have the same functions.
"""

import sys

if sys.platform == "win32":
    from arboleda._utils.operating_system import windows as system
else:
    from arboleda._utils.operating_system import posix as system

__all__ = ["system"]
