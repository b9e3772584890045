"""Print the packages that arboleda needs, one a line, as pip reads them with `--requirement`.

python tools/list_requirements.py [EXTRA ...]

They can be installed before the wheel is built.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def main(extras: list[str]) -> int:
    """Print the requirements of the package and of some of its extras."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(list_requirements(project, extras)))
    return 0


def list_requirements(project: dict[str, Any], extras: list[str]) -> list[str]:
    """Return the requirements; an extra may name others of the same project."""
    requirements: list[str] = list(project["dependencies"])
    for extra in extras:
        for requirement in project["optional-dependencies"][extra]:
            own = re.fullmatch(rf"{project['name']}\[(.*)\]", requirement)
            found = [requirement] if own is None else list_requirements(project, own[1].split(","))
            requirements += [name for name in found if name not in requirements]
    return requirements


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
