"""The word check finds retired words in the names of every folder and language, and only there."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_words.py", root],
        capture_output=True,
        text=True,
        check=False,
    )


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "violation"),
    [
        ("src/arboleda/x.py", "def f():\n    said = 1\n", "src/arboleda/x.py:2: said has the word"),
        ("src/arboleda/x.py", "class RowAsker: ...\n", ":1: RowAsker has the word 'asker'"),
        ("src/arboleda/x.py", "telling_s = 1\n", "telling_s has the word 'telling'"),
        ("src/arboleda/x.py", "CodedOnce = 1\n", "CodedOnce is retired; use SharedBinning"),
        ("src/arboleda/answers.py", "", "src/arboleda/answers.py: the module has the word"),
        ("tests/test_x.py", "def test_weights_that_are_none(): ...\n", "has the word 'none'"),
        ("tools/x.py", "sureness = 1\n", "sureness has the word 'sureness'"),
        ("benchmarks/x.py", "KAsked = 1\n", "KAsked has the word 'asked'"),
        ("examples/x.py", "f(judge=1)\n", "judge has the word 'judge'"),
        ("docs/gallery/x.py", "crew = 1\n", "crew has the word 'crew'"),
        ("core/x.h", "\nstruct Bud {};\n", "core/x.h:2: Bud has the word 'bud'"),
        ("core/x.inc", "int n_told_ = 1'000;\n", "core/x.inc:1: n_told_ has the word 'told'"),
        ("bindings/x.cpp", 'm.def("f", &tell_all);', "bindings/x.cpp:1: tell_all has the word"),
    ],
)
def test_a_retired_word_is_found(tmp_path: Path, name: str, text: str, violation: str) -> None:
    write(tmp_path, name, text)
    result = run_check(tmp_path)
    assert result.returncode == 1
    (line,) = result.stdout.splitlines()
    assert violation in line
    assert result.stderr == f"{Path(name).parts[0]}: 1 violations\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # Words that only contain a retired one, Python's None, and names of other libraries.
        ("src/arboleda/x.py", "essay = task = measure = nonetheless = None\nstudy.tell(ask)\n"),
        ("src/arboleda/x.py", '"""Ask."""\nx = "told"  # said\ny = f"{x} says"\n'),
        (
            "core/x.cc",
            '// told\n/* asked\n answers */ f("said", R"(said " told)", \'"\', kNone);\n',
        ),
        ("core/build/x.cc", "int said;\n"),
    ],
)
def test_other_names_and_texts_pass(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    result = run_check(tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def test_a_name_is_reported_once_per_file(tmp_path: Path) -> None:
    write(tmp_path, "src/x.py", "told = 1\ntold = told + 1\n")
    write(tmp_path, "src/y.py", "told = 1\n")
    result = run_check(tmp_path)
    assert [line.split(" ")[0] for line in result.stdout.splitlines()] == [
        "src/x.py:1:",
        "src/y.py:1:",
    ]
    assert result.stderr == "src: 2 violations\n"
