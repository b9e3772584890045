"""Without an extra's packages there is one sentence that names the remedy, no traceback."""

import subprocess
import sys

# Hides packages as if they were not installed, then runs the rest of the arguments.
HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
{then}
"""


def run_without(hidden: set[str], then: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process where some packages are missing."""
    code = HIDE.format(hidden=hidden, then=then)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_command_without_its_extra():
    """The command says which extra to install."""
    done = run_without({"typer"}, "from arboleda.cli import main; main([])")
    assert done.returncode != 0
    assert "pip install 'arboleda[study]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_study_without_its_extra():
    """``arboleda.Study`` names the missing package and the extra."""
    done = run_without(
        {"pyarrow"}, "import arboleda\ntry: arboleda.Study\nexcept ImportError as e: print(e)"
    )
    assert done.returncode == 0, done.stderr
    assert "pyarrow" in done.stdout
    assert "arboleda[study]" in done.stdout


def test_frame_without_pandas():
    """``to_frame`` says that it needs pandas."""
    then = (
        "from arboleda.metrics import regression_table\n"
        "try: regression_table([1, 2], [1, 3]).to_frame()\nexcept ImportError as e: print(e)"
    )
    done = run_without({"pandas"}, then)
    assert done.returncode == 0, done.stderr
    assert "pip install pandas" in done.stdout


def test_study_without_pandas():
    """A study reads and reports without pandas being installed."""
    then = (
        "import tempfile, arboleda\n"
        "from arboleda.study.reading import read_table\n"
        "print(read_table('iris').n_rows)"
    )
    done = run_without({"pandas"}, then)
    assert done.stdout.strip() == "150", done.stderr


def test_reading_a_tree_without_matplotlib():
    """Only ``plot_tree`` needs matplotlib, and names the extra."""
    then = (
        "import arboleda\n"
        "tree = arboleda.DecisionTreeClassifier().fit([[1], [2]], [0, 1])\n"
        "print(len(tree.rules()), tree.to_svg()[:4], arboleda.export_text(tree)[:4])\n"
        "try: arboleda.plot_tree(tree)\nexcept ImportError as e: print(e)"
    )
    done = run_without({"matplotlib", "pandas", "markupsafe", "jinja2"}, then)
    assert done.returncode == 0, done.stderr
    assert "2 <svg |---" in done.stdout
    assert "pip install 'arboleda[plot]'" in done.stdout
