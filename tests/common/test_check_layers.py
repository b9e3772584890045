"""The layer check finds a planted violation of each kind and passes on this repository."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_layers.py", root],
        capture_output=True,
        text=True,
        check=False,
    )


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_this_repository_passes() -> None:
    result = run_check(ROOT)
    assert result.stdout + result.stderr == ""
    assert result.returncode == 0


def test_allowed_imports_pass(tmp_path: Path) -> None:
    write(tmp_path, "core/data/column.cc", '#include "data/column.h"\n#include "base/types.h"\n')
    write(tmp_path, "core/data/column_test.cc", '#include "predict/predict.h"\n')
    write(
        tmp_path, "bindings/tree.cpp", '#include <nanobind/nanobind.h>\n#include "data/column.h"\n'
    )
    write(tmp_path, "src/arboleda/_engine/tables.py", "from arboleda import _native\n")
    write(tmp_path, "src/arboleda/study/__init__.py", "from ..reports import render\nimport os\n")
    write(tmp_path, "src/arboleda/cli/__init__.py", "from arboleda import __version__\n")
    result = run_check(tmp_path)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "core/data/column.h",
            '#pragma once\n\n#include "grow/grower.h"\n',
            "core/data/column.h:3: data stands above grow and must not include grow/grower.h",
        ),
        ("core/base/types.h", "#include <Python.h>\n", "knows nothing of Python"),
        ("core/base/types.h", "#include <nanobind/ndarray.h>\n", "knows nothing of Python"),
        ("core/base/types.h", '#include "error.h"\n', 'write "error.h" as "layer/file.h"'),
        ("core/base/types.h", '#include "bindings/array.h"\n', "knows nothing of Python"),
        ("core/extra/types.h", '#include "base/error.h"\n', "core/extra is no layer"),
        ("bindings/tree.cpp", '#include "../src/x.h"\n', "neither of core/ nor of bindings/"),
        ("src/arboleda/tree/cart.py", "from arboleda._native import fit\n", "tree must not import"),
        ("src/arboleda/tree/cart.py", "from .. import _native\n", "arboleda._native"),
        ("src/arboleda/tree/cart.py", "from .._native import fit\n", "arboleda._native"),
        ("src/arboleda/reports/x.py", "import arboleda.study\n", "reports must not import"),
        (
            "src/arboleda/reports/x.py",
            "def f():\n    from ..tree import T\n",
            ":2: reports must not",
        ),
        ("src/arboleda/cli/__init__.py", "from ..reports import x\n", "cli must not import"),
        (
            "src/arboleda/cli/__init__.py",
            "from importlib import import_module\nimport_module('arboleda._engine')\n",
            ":2: cli must not import arboleda._engine",
        ),
        ("src/arboleda/novel/x.py", "", "novel is no known part"),
        ("src/arboleda/tree/cart.py", "import arboleda.novel\n", "no known part"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, name: str, text: str, message: str) -> None:
    write(tmp_path, name, text)
    result = run_check(tmp_path)
    assert result.returncode == 1
    assert message in result.stdout
    assert len(result.stdout.splitlines()) == 1


def test_private_modules_are_imported_by_their_own_package(tmp_path: Path) -> None:
    write(tmp_path, "src/arboleda/tree/_nodes.py", "")
    write(tmp_path, "src/arboleda/tree/cart.py", "from arboleda.tree._nodes import Node\n")
    write(tmp_path, "src/arboleda/tree/_grow/__init__.py", "from .. import _nodes\n")
    write(tmp_path, "src/arboleda/tree/_grow/loop.py", "from arboleda.tree import _nodes\n")
    write(tmp_path, "src/arboleda/_engine/tables.py", "")
    write(tmp_path, "src/arboleda/tree/deep/er.py", "from ..._engine.tables import Table\n")
    result = run_check(tmp_path)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("text", "target", "holder"),
    [
        ("from arboleda.tree._nodes import Node\n", "arboleda.tree._nodes", "arboleda.tree"),
        ("from arboleda.tree import _nodes\n", "arboleda.tree._nodes", "arboleda.tree"),
        ("import arboleda.tree._nodes\n", "arboleda.tree._nodes", "arboleda.tree"),
        ("from ..tree._nodes import Node\n", "arboleda.tree._nodes", "arboleda.tree"),
        ("from arboleda._engine._x import f\n", "arboleda._engine._x", "arboleda._engine"),
        ("from arboleda.tree._a.b import f\n", "arboleda.tree._a.b", "arboleda.tree"),
        (
            "def f():\n    from arboleda.tree._nodes import Node\n",
            "arboleda.tree._nodes",
            "arboleda.tree",
        ),
    ],
)
def test_private_modules_of_another_package_are_refused(
    tmp_path: Path, text: str, target: str, holder: str
) -> None:
    for name in ("tree/_nodes", "tree/_a/b", "_engine/_x"):
        write(tmp_path, f"src/arboleda/{name}.py", "")
    write(tmp_path, "src/arboleda/forest/fit.py", text)
    result = run_check(tmp_path)
    assert result.returncode == 1
    (line,) = result.stdout.splitlines()
    number = text.count("\n")
    assert line.startswith(f"src/arboleda/forest/fit.py:{number}: {target} is private to {holder};")


def test_a_private_module_of_a_folder_is_private_in_its_own_part_too(tmp_path: Path) -> None:
    write(tmp_path, "src/arboleda/study/data/_cells.py", "")
    write(tmp_path, "src/arboleda/study/search/x.py", "from arboleda.study.data import _cells\n")
    result = run_check(tmp_path)
    assert "arboleda.study.data._cells is private to arboleda.study.data" in result.stdout


@pytest.mark.parametrize(
    ("imports", "circle"),
    [
        ({"a": "from arboleda.tree.b import x", "b": "from arboleda.tree.a import y"}, "a b a"),
        ({"a": "from . import b", "b": "import arboleda.tree.a"}, "a b a"),
        (
            {"a": "from .b import x", "b": "try:\n    from .c import x\nexcept ImportError: 1"}
            | {"c": "class C:\n    from .a import y"},
            "a b c a",
        ),
        # The shortest circle through the first module of a component is shown.
        ({"a": "from . import b, c", "b": "from .c import x", "c": "from .a import y"}, "a c a"),
    ],
)
def test_an_import_circle_is_shown(tmp_path: Path, imports: dict[str, str], circle: str) -> None:
    for name, text in imports.items():
        write(tmp_path, f"src/arboleda/tree/{name}.py", text + "\n")
    result = run_check(tmp_path)
    assert result.returncode == 1
    shown = " -> ".join(f"arboleda.tree.{name}" for name in circle.split())
    assert result.stdout == f"src/arboleda/tree/a.py: import circle: {shown}\n"


def test_a_package_and_its_module_can_form_a_circle(tmp_path: Path) -> None:
    write(tmp_path, "src/arboleda/tree/__init__.py", "from arboleda.tree.cart import Tree\n")
    write(tmp_path, "src/arboleda/tree/cart.py", "from arboleda.tree import Rules\n")
    shown = "arboleda.tree -> arboleda.tree.cart -> arboleda.tree"
    assert run_check(tmp_path).stdout == f"src/arboleda/tree/__init__.py: import circle: {shown}\n"


def test_imports_that_run_later_or_never_make_no_circle(tmp_path: Path) -> None:
    write(tmp_path, "src/arboleda/tree/a.py", "from .b import x\n")
    later = "def f():\n    from .a import y\n"
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import y\n"
    for text in (later, for_types):
        write(tmp_path, "src/arboleda/tree/b.py", text)
        result = run_check(tmp_path)
        assert (result.returncode, result.stdout) == (0, "")
    write(tmp_path, "src/arboleda/tree/b.py", for_types + "else:\n    from .a import y\n")
    assert "import circle" in run_check(tmp_path).stdout


def test_a_facade_names_what_stands_above_it_without_importing_it(tmp_path: Path) -> None:
    lazily = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from arboleda.{} import x\n"
    write(tmp_path, "src/arboleda/study/__init__.py", lazily.format("analysis"))
    assert run_check(tmp_path).stdout == ""
    write(tmp_path, "src/arboleda/study/__init__.py", lazily.format("cli"))
    assert "study must not import arboleda.cli" in run_check(tmp_path).stdout
    write(tmp_path, "src/arboleda/study/__init__.py", "from arboleda.analysis import x\n")
    assert "study must not import arboleda.analysis" in run_check(tmp_path).stdout
    write(tmp_path, "src/arboleda/study/__init__.py", "")
    write(tmp_path, "src/arboleda/study/plan.py", lazily.format("analysis"))
    assert "study must not import arboleda.analysis" in run_check(tmp_path).stdout


def test_parts_form_no_circle(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    shutil.copytree(ROOT / "tools", tools)
    script = tools / "check_layers.py"
    script.write_text(
        script.read_text().replace('"persist": {"_engine"', '"persist": {"_base", "_engine"')
    )
    result = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=False
    )
    assert "persist imports _base, which does not stand before it" in result.stdout


def test_modules_of_facts_import_no_prose(tmp_path: Path) -> None:
    write(tmp_path, "src/arboleda/tree/sentences.py", "")
    write(tmp_path, "src/arboleda/tree/facts.py", "from arboleda.tree.cart import x\n")
    write(tmp_path, "src/arboleda/tree/page.py", "from arboleda.tree import facts, sentences\n")
    assert run_check(tmp_path).returncode == 0
    write(tmp_path, "src/arboleda/tree/model_facts.py", "from .sentences import describe\n")
    result = run_check(tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith(
        "src/arboleda/tree/model_facts.py:1: facts are computed without"
    )


def test_violations_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "core/base/types.h", "#include <Python.h>\n#include <Python.h>\n")
    assert run_check(tmp_path).stderr == "2 violations\n"
