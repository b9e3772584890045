"""Loading a model executes nothing and touches nothing but the file it reads."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.combine.saved import MODELS as COMBINATIONS
from tests.persist.models import MODELS

from arboleda.persist._files import model_to_bytes

# Events of the interpreter that mean: code, other programs, other machines, other files.
_WATCH = """
import json, sys
import arboleda
warm, path = sys.argv[1:]
arboleda.load(warm)  # imports what estimators need

seen = []

def watch(event, details):
    if event == "open":
        seen.append([event, str(details[0]), str(details[1]), details[2]])
    elif event.split(".")[0] in {
        "exec", "compile", "import", "marshal", "pickle", "os", "subprocess", "socket", "ctypes",
        "shutil", "tempfile", "code", "mmap", "urllib", "winreg", "sqlite3", "sys",
    }:
        seen.append([event, *map(str, details)])

sys.addaudithook(watch)
try:
    model = arboleda.load(path)
except arboleda.ModelFormatError as error:
    model = None
print(json.dumps(seen[:]))
"""


def events(folder: Path, content: bytes, known: bytes | None = None) -> list[list[object]]:
    warm, path = folder / "warm", folder / "model"
    warm.write_bytes(known or model_to_bytes(MODELS["classifier"]()))
    path.write_bytes(content)
    result = subprocess.run(
        [sys.executable, "-c", _WATCH, str(warm), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    seen = json.loads(result.stdout)
    assert isinstance(seen, list)
    return seen


def is_reading(event: list[object], path: Path) -> bool:
    name, opened, _, flags = event
    assert isinstance(flags, int)
    return name == "open" and opened == str(path) and flags & os.O_ACCMODE == os.O_RDONLY


def test_loading_only_opens_its_file_for_reading(tmp_path: Path) -> None:
    seen = events(tmp_path, model_to_bytes(MODELS["texts"]()))
    assert len(seen) == 1
    assert is_reading(seen[0], tmp_path / "model")


def test_loading_a_combination_runs_nothing(tmp_path: Path) -> None:
    content = model_to_bytes(COMBINATIONS["stack"]())
    seen = events(tmp_path, content, known=content)
    assert len(seen) == 1
    assert is_reading(seen[0], tmp_path / "model")


def test_refusing_a_malicious_pickle_runs_nothing(tmp_path: Path) -> None:
    evil = b"cos\nsystem\n(S'echo hacked'\ntR."
    for content in (evil, b"\x80\x04" + evil):
        seen = events(tmp_path, content)
        assert len(seen) == 1
        assert is_reading(seen[0], tmp_path / "model")
