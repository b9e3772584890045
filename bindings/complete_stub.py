"""Complete the types of the generated stub, in which nanobind leaves containers bare.

python complete_stub.py GENERATED COMPLETED

A type checker takes a bare ``list`` for a list of unknown content, and everything that has one for
partly unknown. Which elements a container holds is known to `arboleda._engine` alone.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ARGUMENTS = {
    "NDArray": "[Any]",
    "dict": "[str, Any]",
    "list": "[Any]",
    "set": "[Any]",
    "tuple": "[Any, ...]",
}


def main(generated: Path, completed: Path) -> int:
    """Write the stub with a type argument for each bare container."""
    text = complete_stub(generated.read_text(encoding="utf-8"))
    completed.write_text(text, encoding="utf-8")
    return 0


def complete_stub(text: str) -> str:
    """Return a stub with a type argument for each bare container, and an import of ``Any``."""
    lines = text.splitlines(keepends=True)
    names = sorted(find_bare(ast.parse(text)), key=lambda name: (name.lineno, name.col_offset))
    for name in reversed(names):
        line, end = name.end_lineno or name.lineno, name.end_col_offset
        content = lines[line - 1].encode()
        added = ARGUMENTS[name.id].encode()
        lines[line - 1] = (content[:end] + added + content[end:]).decode()
    return "".join(lines).replace(
        "from typing import Annotated", "from typing import Annotated, Any"
    )


def find_bare(tree: ast.Module) -> Iterator[ast.Name]:
    """Yield the names of containers without arguments in all annotations."""
    for node in ast.walk(tree):
        annotations = (getattr(node, name, None) for name in ("annotation", "returns"))
        for annotation in filter(None, annotations):
            arguments = {
                id(getattr(part, "value", None) or getattr(part, "func", None))
                for part in ast.walk(annotation)
                if isinstance(part, ast.Subscript | ast.Call)
            }
            for part in ast.walk(annotation):
                if (
                    isinstance(part, ast.Name)
                    and part.id in ARGUMENTS
                    and id(part) not in arguments
                ):
                    yield part


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
