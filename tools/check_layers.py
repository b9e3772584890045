"""Check what files include and import: the C++ core, the bindings and the Python package.

    python tools/check_layers.py [ROOT]

A file uses only the layers below its own; the tables are here. In Python, moreover, modules import
each other in no circle, nor do the parts of the package; a private module (``_x.py``) is imported
only inside the package that holds it, and modules that compute facts import none that puts them
into words. Prints one line per violation, with their number on standard error, and exits with 1 if
there is any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from module_imports import find_circles, read_imports, read_package

# The folders of core/, lowest first: a file includes from its own folder and those before it.
# A test may include from all of them: nothing stands on a test.
CORE = (
    "base",
    "simd",
    "data",
    "layout",
    "criterion",
    "objective",
    "tree",
    "bagging",
    "predict",
    "split",
    "grow",
    "learn",
    "explain",
    "combine",
    "bart",
    "io",
)

# Headers that tie C++ to Python; only the bindings may name them.
PYTHON_HEADERS = re.compile(r"^(Python\.h|nanobind/|pybind11/|numpy/|bindings/)")

# The parts of src/arboleda, lowest first, and the other parts each may import: parts before it.
PYTHON = {
    "_native": set[str](),
    "_locale": set[str](),
    "facts": set[str](),
    "_utils": {"_locale"},
    "_engine": {"_native", "_utils"},
    "_tree_rendering": {"_locale", "_utils"},
    "datasets": {"_utils"},
    "metrics": {"_utils"},
    "persist": {"_engine", "_utils"},
    "reports": {"_locale", "_tree_rendering", "_utils", "facts"},
    "tables": {"_engine", "_utils", "reports"},
    "_base": {"_engine", "_utils", "persist"},
    "bart": {"_base", "_engine", "_utils", "persist"},
    "learners": {"_base", "_engine", "_tree_rendering", "_utils"},
    "tree": {"_base", "_engine", "_tree_rendering", "_utils", "persist"},
    "bagging": {"_base", "_engine", "_utils", "persist", "tree"},
    "boosting": {"_base", "_engine", "_utils", "persist", "tree"},
    "forest": {"_base", "_engine", "_utils", "persist", "tree"},
    "survival": {"_base", "_engine", "_utils", "boosting", "forest", "persist"},
    "plot": {"_tree_rendering", "_utils", "metrics", "tree"},
    "adaboost": {"_base", "_engine", "_utils", "bagging", "persist", "tree"},
    "combine": {"_base", "_engine", "_utils", "bagging", "persist"},
    "dask": {"_base", "_engine", "_utils", "boosting", "forest", "persist", "survival", "tree"},
    "features": {"_base", "_engine", "_utils", "boosting", "forest"},
    "importers": {"_engine", "_utils", "boosting"},
    "model_selection": {"_base", "_engine", "_utils", "boosting", "dask", "forest"},
    "decide": {"_base", "_utils", "combine", "metrics"},
    "diagnose": {"_base", "_utils", "combine"},
    "explain": {
        "_base",
        "_engine",
        "_utils",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "forest",
        "plot",
        "tree",
    },
    "onnx_export": {
        "_engine",
        "_utils",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "forest",
        "tree",
    },
    "c_export": {
        "_engine",
        "_utils",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "forest",
        "onnx_export",
        "tree",
    },
    "page_export": {
        "_engine",
        "_locale",
        "_utils",
        "boosting",
        "explain",
        "forest",
        "onnx_export",
        "reports",
        "survival",
    },
    "diagnostics": {"diagnose"},
    "catalogue": {
        "_engine",
        "_utils",
        "adaboost",
        "bagging",
        "boosting",
        "combine",
        "features",
        "forest",
        "learners",
        "reports",
        "survival",
        "tables",
        "tree",
    },
    "scoring": {
        "_utils",
        "catalogue",
        "decide",
        "diagnose",
        "facts",
        "metrics",
        "model_selection",
        "reports",
        "tables",
    },
    "study": {
        "_engine",
        "_locale",
        "_utils",
        "adaboost",
        "bagging",
        "boosting",
        "catalogue",
        "combine",
        "dask",
        "decide",
        "diagnose",
        "explain",
        "facts",
        "features",
        "forest",
        "learners",
        "metrics",
        "model_selection",
        "onnx_export",
        "page_export",
        "persist",
        "reports",
        "scoring",
        "tables",
        "tree",
    },
    "analysis": {
        "_utils",
        "catalogue",
        "diagnose",
        "explain",
        "facts",
        "features",
        "forest",
        "reports",
        "scoring",
        "study",
        "tables",
    },
    "cli": {"_utils", "dask", "study", "tables"},
    "__main__": {"cli"},
}

# Packages that also name, without importing them, what parts above them define.
FACADES = {"arboleda.study": {"analysis"}}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
CPP_SUFFIXES = {".h", ".inc", ".cc", ".cpp"}

# Modules that compute facts and modules that word them, by the last part of their names. `_numbers`
# is not among the latter: it rounds, and its words come from elsewhere.
FACTS = re.compile(r"(^|_)facts$")
PROSE = re.compile(r"(^|_)(sentences|texts|prose|wording|pages?|html|templates|locales?)$")


def main(root: Path) -> int:
    """Print the violations below a folder; return 1 if there are any."""
    violations = [*check_core(root), *check_bindings(root), *check_python(root)]
    for violation in violations:
        print(violation)
    if violations:
        print(f"{len(violations)} violations", file=sys.stderr)
    return 1 if violations else 0


def check_core(root: Path) -> Iterator[str]:
    """Check that core/ includes earlier folders or its own, and nothing of Python."""
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
    """Check that bindings include the core, or a header of bindings/ beside them."""
    for path, line, quote, target in _includes(root / "bindings"):
        if quote == "<":
            continue
        beside = "/" not in target and (path.parent / target).is_file()
        if not beside and target.split("/")[0] not in CORE:
            yield f"{path.relative_to(root)}:{line}: {target} is neither of core/ nor of bindings/"


def check_python(root: Path) -> Iterator[str]:
    """Check the imports between the modules of src/arboleda."""
    yield from check_table()
    modules = read_package(root / "src" / "arboleda")
    edges = {name: set[str]() for name in modules}
    for name, path in modules.items():
        here = str(path.relative_to(root))
        part = name.split(".")[1] if "." in name else ""  # the root names every part, lazily
        if part and part not in PYTHON:
            yield f"{here}: {part} is no known part; name it in {_me()}"
            continue
        for imported in read_imports(name, modules):
            where, target = f"{here}:{imported.line}", imported.target
            named = set() if imported.at_import_time else FACADES.get(name, set())
            if part:
                yield from _check_part(where, part, target, PYTHON[part] | named)
            yield from _check_private(where, name, target)
            yield from _check_facts(where, name, target)
            if imported.at_import_time:
                edges[name] |= {_nearest_module(target, modules)} & edges.keys()
    for circle in find_circles(edges):
        here = modules[circle[0]].relative_to(root)
        yield f"{here}: import circle: {' -> '.join(circle)}"


def check_table() -> Iterator[str]:
    """Check that each part of the table imports from parts before it: none form a circle."""
    earlier = set[str]()
    for part, others in PYTHON.items():
        for other in sorted(others - earlier):
            yield f"{_me()}: {part} imports {other}, which does not stand before it in the table"
        earlier.add(part)


def _check_part(where: str, part: str, target: str, allowed: set[str]) -> Iterator[str]:
    """Check that a part may import from the part of the target."""
    other = target.split(".")[1] if "." in target else "__version__"
    if other == "__version__":
        return
    if other not in PYTHON:
        yield f"{where}: arboleda.{other} is no known part; import a name from its own part"
    elif other != part and other not in allowed:
        yield f"{where}: {part} must not import arboleda.{other}"


def _check_private(where: str, importer: str, target: str) -> Iterator[str]:
    """Check that each private part of the target's name is held by a package of the importer.

    What is private to ``arboleda`` itself (``arboleda._engine``) is for all of it, as far as the
    table allows.
    """
    parts = target.split(".")
    for depth, part in enumerate(parts):
        holder = ".".join(parts[:depth])
        is_private = part.startswith("_") and not part.startswith("__")
        if is_private and not f"{importer}.".startswith(f"{holder}."):
            yield f"{where}: {target} is private to {holder}; import a public module or name"
            return


def _check_facts(where: str, importer: str, target: str) -> Iterator[str]:
    """Check that a module of facts imports no module of prose."""
    if FACTS.search(_last(importer)) and any(PROSE.search(part) for part in target.split(".")):
        yield f"{where}: facts are computed without words, but {target} writes them"


def _last(module: str) -> str:
    return module.rsplit(".", maxsplit=1)[-1]


def _nearest_module(target: str, modules: dict[str, Path]) -> str:
    """Return the module that a name is imported from: itself, or the package that defines it."""
    while target not in modules and "." in target:
        target = target.rpartition(".")[0]
    return target


def _includes(folder: Path) -> Iterator[tuple[Path, int, str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix not in CPP_SUFFIXES or "build" in path.relative_to(folder).parts:
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            # The match may begin with the line ends before it, so count up to its opening quote.
            yield path, text.count("\n", 0, match.start(1)) + 1, match[1], match[2]


def _me() -> str:
    return "tools/check_layers.py"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
