"""Another name of `arboleda.diagnose`: the same module."""

import sys
from typing import TYPE_CHECKING

from arboleda import diagnose

if TYPE_CHECKING:
    from arboleda.diagnose import *  # noqa: F403
else:
    # The import system returns what stands here, so that there is one module under two names.
    sys.modules[__name__] = diagnose
