"""The layer check finds a planted violation of each kind, and none in this repository."""

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


def test_this_repository_keeps_its_layers() -> None:
    result = run_check(ROOT)
    assert result.stdout + result.stderr == ""
    assert result.returncode == 0


def test_lawful_imports_pass(tmp_path: Path) -> None:
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
