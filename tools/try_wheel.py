"""Run both main commands, `study` and `predict`, with an installed wheel and without a compiler.

python tools/try_wheel.py          # what this interpreter has installed (in cibuildwheel)
python tools/try_wheel.py FOLDER   # the wheel in a folder, installed into an empty environment

The commands run in a temporary folder, with a PATH that has no program.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

from check_wheel import find_wheel

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl")
# Saves and loads a model as well, whose file the engine reads.
LIBRARY = """
import arboleda
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
forest = arboleda.RandomForestClassifier(10, random_state=0).fit(X, y)
forest.save("forest.arboleda")
loaded = arboleda.load("forest.arboleda")
assert (loaded.predict_proba(X) == forest.predict_proba(X)).all()
print(arboleda.__version__, arboleda.__file__)
"""
NEW_ROWS = """\
sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)
5.1,3.5,1.4,0.2
6.3,3.3,6.0,2.5
"""


def main(folder: Path | None = None) -> int:
    """Try the wheel of a folder, or what is installed here; print how long each part took."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        scripts = Path(sysconfig.get_path("scripts"))
        if folder is not None:
            scripts = install_wheel(find_wheel(folder), root / "environment")
            print(f"Installed in {time.perf_counter() - started:.0f} s")
        started = time.perf_counter()
        run_commands(scripts, root)
        print(f"Both commands ran, in {time.perf_counter() - started:.0f} s")
    return 0


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install a wheel with the extra `study` into a new environment; return its scripts."""
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    # No package may be built: whoever installs the wheel has no compiler. Python compiles
    # what it imports.
    options = ["--quiet", "--no-compile", "--only-binary", ":all:"]
    command = [find_program(scripts, "python"), "-m", "pip", "install", *options]
    subprocess.run([*command, f"{wheel}[study]"], check=True)
    return scripts


def run_commands(scripts: Path, root: Path) -> None:
    """Use the library, study a table and predict new rows; raise if anything fails."""
    folder = root / "tried"
    nothing = root / "no_programs"
    folder.mkdir()
    nothing.mkdir()
    environment = {**os.environ, "PATH": str(nothing)}
    environment.pop("PYTHONPATH", None)  # the wheel is tried, not a checkout
    assert not any(shutil.which(name, path=environment["PATH"]) for name in COMPILERS)
    (folder / "new.csv").write_text(NEW_ROWS, encoding="utf-8")

    def run(program: str, *arguments: str) -> None:
        command = [find_program(scripts, program), *arguments]
        subprocess.run(command, cwd=folder, env=environment, check=True)

    run("python", "-c", LIBRARY)
    run("arboleda", "study", "iris", "--target", "target", "--models", "cart", "--out", "iris")
    run("arboleda", "predict", "iris", "new.csv")
    predicted = (folder / "new-predicted.csv").read_text(encoding="utf-8").splitlines()
    assert len(predicted) == 3, predicted
    assert (folder / "iris" / "report.html").stat().st_size > 100_000


def find_program(scripts: Path, name: str) -> str:
    """Return the path of a program of an environment."""
    found = shutil.which(name, path=str(scripts))
    if found is None:
        raise FileNotFoundError(f"There is no {name} in {scripts}.")
    return found


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
