"""A line imports only what stands above it: checked for the C++ core, the bindings and Python.

    python tools/check_layers.py [ROOT]

Prints one line per violation and exits with 1 if there is any.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# The folders of core/, lowest first: a file includes from its own folder and those before it.
# A test may include from all of them: nothing stands on a test.
CORE = (
    "base",
    "data",
    "criterion",
    "objective",
    "tree",
    "grow",
    "learn",
    "predict",
    "explain",
    "combine",
    "bart",
    "io",
)

# Headers that tie C++ to Python; only the bindings may name them.
PYTHON_HEADERS = re.compile(r"^(Python\.h|nanobind/|pybind11/|numpy/|bindings/)")

# The parts of src/arboleda and the other parts each may import.
PYTHON = {
    "_native": set[str](),
    "_errors": set[str](),
    "_extras": set[str](),
    "_figures": set[str](),
    "_frames": set[str](),
    "_files": set[str](),
    "_fixed_parameters": set[str](),
    "_member_weights": set[str](),
    "_numbers": {"_locale"},
    "_out_of_bag": set[str](),
    "_row_losses": set[str](),
    "_sparse": set[str](),
    "_locale": set[str](),
    "_visible": set[str](),
    "_staged_scores": set[str](),
    "_strict_json": {"_errors"},
    "_tree_rendering": {"_numbers", "_locale", "_visible"},
    "_engine": {"_errors", "_native", "_sparse"},
    "_predictor": {"_engine"},
    "persist": {"_engine", "_errors", "_files", "_strict_json"},
    "metrics": {"_figures", "_frames"},
    "tree": {
        "_figures",
        "_frames",
        "_engine",
        "_errors",
        "_numbers",
        "_predictor",
        "_tree_rendering",
        "_visible",
        "persist",
    },
    "adaboost": {
        "_engine",
        "_errors",
        "_fixed_parameters",
        "_predictor",
        "_staged_scores",
        "bagging",
        "forest",
        "persist",
        "tree",
    },
    "bart": {"_engine", "_errors", "persist", "tree"},
    "bagging": {
        "_engine",
        "_errors",
        "_fixed_parameters",
        "_member_weights",
        "_out_of_bag",
        "_predictor",
        "_sparse",
        "_staged_scores",
        "forest",
        "persist",
        "tree",
    },
    "boosting": {
        "_figures",
        "_frames",
        "_engine",
        "_errors",
        "_predictor",
        "_staged_scores",
        "persist",
        "tree",
    },
    "forest": {
        "_engine",
        "_errors",
        "_fixed_parameters",
        "_frames",
        "_out_of_bag",
        "_predictor",
        "_staged_scores",
        "persist",
        "tree",
    },
    "combine": {
        "_engine",
        "_errors",
        "_files",
        "_fixed_parameters",
        "_member_weights",
        "_sparse",
        "bagging",
        "boosting",
        "persist",
        "tree",
    },
    "features": {"_engine", "_errors", "_frames", "_sparse", "forest", "tree"},
    "importers": {"_engine", "_errors", "_strict_json", "boosting", "forest", "tree"},
    "onnx_export": {
        "_engine",
        "_files",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "forest",
        "tree",
    },
    "c_export": {
        "_engine",
        "_files",
        "_visible",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "forest",
        "importers",
        "onnx_export",
        "tree",
    },
    "learners": {
        "_engine",
        "_errors",
        "_figures",
        "_frames",
        "_numbers",
        "_tree_rendering",
        "_visible",
        "tree",
    },
    "decide": {"_errors", "_figures", "_frames", "_sparse", "combine", "metrics", "tree"},
    "datasets": {"_files"},
    "diagnose": {"_figures", "_frames", "_row_losses", "_sparse", "combine"},
    "diagnostics": {"diagnose"},
    "model_selection": {"_engine", "_row_losses", "_sparse", "boosting", "forest"},
    "reports": {"_files", "_numbers", "_tree_rendering", "_locale", "_visible"},
    "study": {
        "_engine",
        "_extras",
        "_files",
        "_numbers",
        "_strict_json",
        "_visible",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "decide",
        "diagnose",
        "explain",
        "features",
        "forest",
        "learners",
        "metrics",
        "model_selection",
        "onnx_export",
        "persist",
        "reports",
        "tree",
    },
    "plot": {
        "_visible",
        "_errors",
        "_figures",
        "_frames",
        "_numbers",
        "_tree_rendering",
        "metrics",
        "tree",
    },
    "explain": {
        "_engine",
        "_errors",
        "_figures",
        "_frames",
        "_numbers",
        "_sparse",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "forest",
        "persist",
        "plot",
        "tree",
    },
    "cli": {"_numbers", "_visible", "study"},
    "__main__": {"cli"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
CPP_SUFFIXES = {".h", ".cc", ".cpp"}


def main(root: Path) -> int:
    found = [*check_core(root), *check_bindings(root), *check_python(root)]
    for violation in found:
        print(violation)
    return 1 if found else 0


def check_core(root: Path) -> Iterator[str]:
    """An include of ours in core/ names an earlier folder or its own; nothing of Python."""
    for path, line, quote, target in _includes(root / "core"):
        here = path.relative_to(root)
        folder = here.parts[1] if len(here.parts) > 2 else ""
        where = f"{here}:{line}"
        if folder not in CORE:
            yield f"{where}: core/{folder or path.name} is no layer; name it in {_me()}"
        elif PYTHON_HEADERS.match(target):
            yield f"{where}: the core knows nothing of Python, but includes {target}"
        elif quote == '"':
            other = target.split("/")[0]
            if "/" not in target or other not in CORE:
                yield f'{where}: write "{target}" as "layer/file.h" with a layer of the core'
            elif CORE.index(other) > CORE.index(folder) and not path.stem.endswith("_test"):
                yield f"{where}: {folder} stands above {other} and must not include {target}"


def check_bindings(root: Path) -> Iterator[str]:
    """A binding includes the core, or a header of bindings/ beside it."""
    for path, line, quote, target in _includes(root / "bindings"):
        if quote == "<":
            continue
        beside = "/" not in target and (path.parent / target).is_file()
        if not beside and target.split("/")[0] not in CORE:
            yield f"{path.relative_to(root)}:{line}: {target} is neither of core/ nor of bindings/"


def check_python(root: Path) -> Iterator[str]:
    """A module imports only the parts that the table allows to its own part."""
    package = root / "src" / "arboleda"
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        part = inside.parts[0].removesuffix(".py")
        if part == "__init__":  # it names every part, lazily
            continue
        if part not in PYTHON:
            yield f"{path.relative_to(root)}: {part} is no known part; name it in {_me()}"
            continue
        for line, other in _imported_parts(path, inside):
            where = f"{path.relative_to(root)}:{line}"
            if other not in PYTHON:
                yield f"{where}: arboleda.{other} is no known part; import a name from its own part"
            elif other != part and other not in PYTHON[part]:
                yield f"{where}: {part} must not import arboleda.{other}"


def _includes(folder: Path) -> Iterator[tuple[Path, int, str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix not in CPP_SUFFIXES or "build" in path.relative_to(folder).parts:
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            # The match may begin with the line ends before it, so count up to its opening quote.
            yield path, text.count("\n", 0, match.start(1)) + 1, match[1], match[2]


def _imported_parts(path: Path, inside: Path) -> Iterator[tuple[int, str]]:
    """The parts of arboleda a module imports: also in functions and for type checking only."""
    home = ["arboleda", *inside.parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = home[: len(home) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            # `from arboleda import x` may mean the part x or a public name of the package.
            names = (
                [f"arboleda.{alias.name}" for alias in node.names]
                if module == "arboleda"
                else [module]
            )
        elif isinstance(node, ast.Call) and _is_import_call(node):
            argument = node.args[0] if node.args else None
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                names = [argument.value]
        for name in names:
            words = name.split(".")
            if words[0] == "arboleda" and len(words) > 1 and words[1] != "__version__":
                yield node.lineno, words[1]


def _is_import_call(node: ast.Call) -> bool:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in {"import_module", "__import__"}


def _me() -> str:
    return "tools/check_layers.py"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
