"""Guarantees of the package as a whole: names, types, import time, linked libraries."""

import doctest
import importlib
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import metadata, resources
from pathlib import Path

import pytest

import arboleda

ROOT = Path(__file__).resolve().parents[2]
# Public names that stand for a module of another name.
OTHER_NAMES = {"diagnostics": "diagnose"}


def modules() -> Iterator[str]:
    """Every module of the package, found by its file: nothing is imported to list them."""
    assert arboleda.__file__ is not None
    folder = Path(arboleda.__file__).parent
    for path in folder.rglob("*.py"):
        words = path.relative_to(folder).with_suffix("").parts
        if words[-1] not in {"__init__", "__main__"}:
            yield ".".join(["arboleda", *words])
        elif words[-1] == "__init__":
            yield ".".join(["arboleda", *words[:-1]])


MODULES = sorted(modules())


def in_fresh_interpreter(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("name", arboleda.__all__)
def test_public_names_import_and_are_documented(name: str) -> None:
    member = getattr(arboleda, name)
    if name != "__version__":
        assert inspect.getdoc(member)
        assert member.__name__.split(".")[-1] == OTHER_NAMES.get(name, name)
    assert name in dir(arboleda)


@pytest.mark.parametrize(
    "code",
    [
        "import arboleda.diagnostics as found",
        "from arboleda import diagnostics as found",
        "import arboleda; found = arboleda.diagnostics",
        "import arboleda.diagnose; import arboleda.diagnostics as found",
    ],
)
def test_diagnostics_is_the_module_diagnose(code: str) -> None:
    check = (
        "import sys, arboleda.diagnose\n"
        "from arboleda.diagnostics import compare\n"
        "assert found is arboleda.diagnose is sys.modules['arboleda.diagnostics']\n"
        "assert compare is found.compare"
    )
    in_fresh_interpreter(f"{code}\n{check}")


def test_an_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tre'"):
        arboleda.Tre


@pytest.mark.parametrize("module", MODULES)
def test_every_listed_name_of_a_module_exists(module: str) -> None:
    loaded = importlib.import_module(module)
    for name in getattr(loaded, "__all__", []):
        member = getattr(loaded, name)
        if inspect.isclass(member) or inspect.isfunction(member):
            assert inspect.getdoc(member), f"{module}.{name} has no docstring"


def public_callables() -> Iterator[tuple[str, Callable[..., object]]]:
    """Return public classes and functions with their public methods."""
    for name in arboleda.__all__:
        member = getattr(arboleda, name)
        if inspect.ismodule(member):
            yield from ((f"{name}.{inner}", getattr(member, inner)) for inner in member.__all__)
        elif inspect.isfunction(member):
            yield name, member
        elif inspect.isclass(member) and not issubclass(member, Exception):
            yield name, member
            for attribute, value in vars(member).items():
                if inspect.isfunction(value) and not attribute.startswith("_"):
                    yield f"{name}.{attribute}", value


def test_every_parameter_is_documented() -> None:
    silent = [
        f"{name}({parameter})"
        for name, member in public_callables()
        for parameter in inspect.signature(member).parameters
        if parameter != "self" and not re.search(rf"\b{parameter}\b", inspect.getdoc(member) or "")
    ]
    assert silent == []


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(
    module: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # an example that writes must not write here
    result = doctest.testmod(
        importlib.import_module(module),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert result.failed == 0


def test_the_package_is_typed() -> None:
    assert resources.files("arboleda").joinpath("py.typed").is_file()


def test_the_version_is_defined_once() -> None:
    """The build reads it from the package; tests/common/test_metadata.py checks other files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert metadata.version("arboleda") == arboleda.__version__


def test_import_loads_nothing_heavy() -> None:
    loaded = json.loads(
        in_fresh_interpreter("import sys, json, arboleda; print(json.dumps(sorted(sys.modules)))")
    )
    heavy = {"sklearn", "pandas", "scipy", "matplotlib", "rich", "typer", "pyarrow", "jinja2"}
    assert heavy.isdisjoint(loaded)


def test_import_takes_less_than_a_third_of_a_second() -> None:
    code = "import time; t = time.perf_counter(); import arboleda; print(time.perf_counter() - t)"
    # The best of several: other work on the machine only ever makes it slower.
    assert min(float(in_fresh_interpreter(code)) for _ in range(7)) < 0.3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads an ELF file")
def test_no_openmp_runtime_is_linked() -> None:
    native = importlib.import_module("arboleda._native")
    needed = needed_libraries(Path(str(native.__file__)).read_bytes())
    assert any(name.startswith("libc.so") for name in needed)
    assert not [name for name in needed if re.search(r"gomp|iomp|libomp", name)]


def needed_libraries(elf: bytes) -> list[str]:
    """The DT_NEEDED entries of a 64-bit little-endian ELF file (System V ABI, chapter 5)."""
    assert elf[:6] == b"\x7fELF\x02\x01"

    def number(offset: int, size: int) -> int:
        return int.from_bytes(elf[offset : offset + size], "little")

    table, entry_size, count = number(0x28, 8), number(0x3A, 2), number(0x3C, 2)
    sections = [table + entry_size * index for index in range(count)]
    dynamic = next(at for at in sections if number(at + 4, 4) == 6)
    strings = number(sections[number(dynamic + 0x28, 4)] + 0x18, 8)
    start, size = number(dynamic + 0x18, 8), number(dynamic + 0x20, 8)
    entries = range(start, start + size, 16)
    names = [strings + number(entry + 8, 8) for entry in entries if number(entry, 8) == 1]
    return [elf[at : elf.index(b"\0", at)].decode() for at in names]
