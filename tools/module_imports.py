"""Read the imports of a package's modules without running them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Import:
    """One imported module, or a name in the package itself (``arboleda.load``)."""

    target: str
    line: int
    # Whether it runs when the importing module is imported: not in a function, not for types only.
    at_import_time: bool


def read_package(folder: Path) -> dict[str, Path]:
    """Return the file of each module below the folder of a package, by its dotted name."""
    modules = {}
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder.parent).with_suffix("").parts
        modules[".".join(inside[:-1] if inside[-1] == "__init__" else inside)] = path
    return modules


def read_imports(name: str, modules: dict[str, Path]) -> Iterator[Import]:
    """Yield what a module imports from its own package, in functions and for type checking too."""
    path = modules[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    tree = ast.parse(path.read_text("utf-8"), str(path))
    immediate = set(_statements_at_import_time(tree.body))
    for node in ast.walk(tree):
        for target in _imported_names(node, package, modules):
            if target.split(".")[0] == package[0]:
                yield Import(target, node.lineno, node in immediate)


def _imported_names(node: ast.AST, package: list[str], modules: dict[str, Path]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        start = package[: len(package) - node.level + 1] if node.level else []
        source = ".".join([*start, *([node.module] if node.module else [])])
        # `from package import x` may mean its module x or a name of its __init__.
        names = [f"{source}.{alias.name}" for alias in node.names]
        is_root = source == package[0]
        return list(dict.fromkeys(x if is_root or x in modules else source for x in names))
    if isinstance(node, ast.Call) and _is_import_call(node) and node.args:
        argument = node.args[0]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return [argument.value]
    return []


def _is_import_call(node: ast.Call) -> bool:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in {"import_module", "__import__"}


def _statements_at_import_time(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        yield statement
        if isinstance(statement, ast.If) and _is_type_checking(statement.test):
            yield from _statements_at_import_time(statement.orelse)
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _statements_at_import_time(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from _statements_at_import_time(handler.body)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def find_circles(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield a shortest circle of each strongly connected component of two or more modules.

    ``edges``: module -> modules it imports; each of these is a key too. A circle starts and ends
    with the module of its component that comes first in the alphabet.
    """
    reachable = {module: _reach(module, edges) for module in edges}
    seen: set[str] = set()
    for module in sorted(edges):
        if module in seen or module not in reachable[module]:
            continue
        component = {other for other in reachable[module] if module in reachable[other]}
        seen |= component
        if len(component) > 1:
            yield _shortest_circle(module, component, edges)


def _reach(start: str, edges: dict[str, set[str]]) -> set[str]:
    """Return the modules that are imported by a module, directly or by what it imports."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached


def _shortest_circle(start: str, component: set[str], edges: dict[str, set[str]]) -> list[str]:
    paths = [[start]]
    visited = {start}
    while True:  # a component holds a circle through each of its modules
        longer = []
        for path in paths:
            for module in sorted(edges[path[-1]] & component):
                if module == start and len(path) > 1:
                    return [*path, start]
                if module not in visited:
                    visited.add(module)
                    longer.append([*path, module])
        paths = longer
