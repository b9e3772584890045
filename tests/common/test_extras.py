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


def test_the_command_names_its_missing_extra():
    """The command names the extra to install."""
    done = run_without({"typer"}, "from arboleda.cli import main; main([])")
    assert done.returncode != 0
    assert "pip install 'arboleda[study]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_study_names_its_missing_extra():
    """``arboleda.Study`` names the missing package and the extra."""
    done = run_without(
        {"pyarrow"}, "import arboleda\ntry: arboleda.Study\nexcept ImportError as e: print(e)"
    )
    assert done.returncode == 0, done.stderr
    assert "pyarrow" in done.stdout
    assert "arboleda[study]" in done.stdout


def test_to_frame_requires_pandas():
    """``to_frame`` states that it needs pandas."""
    then = (
        "from arboleda.metrics import regression_table\n"
        "try: regression_table([1, 2], [1, 3]).to_frame()\nexcept ImportError as e: print(e)"
    )
    done = run_without({"pandas"}, then)
    assert done.returncode == 0, done.stderr
    assert "pip install pandas" in done.stdout


def test_a_study_runs_without_pandas():
    """A study reads and reports without pandas being installed."""
    then = (
        "import tempfile, arboleda\n"
        "from arboleda.tables.reading import read_table\n"
        "print(read_table('iris').n_rows)"
    )
    done = run_without({"pandas"}, then)
    assert done.stdout.strip() == "150", done.stderr


def test_trees_are_described_without_matplotlib():
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


EXTRAS = {
    "charset_normalizer",
    "jinja2",
    "matplotlib",
    "optuna",
    "pyarrow",
    "pydantic",
    "rich",
    "skops",
    "typer",
}


def test_all_names_import_without_extras():
    """``from arboleda import *``, ``dir`` and ``help`` work; `Study` still names the remedy."""
    then = (
        "import doctest, inspect, pydoc\n"
        "from arboleda import *\n"
        "import arboleda\n"
        "print(RandomForestClassifier.__name__, 'Study' in dir(arboleda))\n"
        "for name in ('arboleda', *sorted('arboleda.' + m for m in arboleda._MODULES), "
        "'arboleda.study'):\n"
        "    module = __import__(name, fromlist=['x'])\n"
        "    exec(f'from {name} import *')\n"
        "    inspect.getmembers(module)\n"
        "    pydoc.plain(pydoc.render_doc(module))\n"
        "    doctest.DocTestFinder().find(module)\n"
        "for call in (lambda: arboleda.Study, lambda: arboleda.predict_file, "
        "lambda: arboleda.study.explore, lambda: arboleda.study.compare, "
        "lambda: arboleda.study.explain):\n"
        "    try: call()\n"
        "    except ImportError as e: print(e)\n"
    )
    done = run_without(EXTRAS, then)
    assert done.returncode == 0, done.stderr
    first, *refusals = done.stdout.splitlines()
    assert first == "RandomForestClassifier False"
    assert len(refusals) == 5
    assert all("pip install 'arboleda[study]'" in line for line in refusals)


def test_all_names_exist_with_the_extras():
    """With the packages installed nothing is left out, and looking into modules works."""
    then = (
        "import arboleda, inspect, importlib\n"
        "from arboleda import *\n"
        "names = set(arboleda._PUBLIC) | arboleda._MODULES | {'__version__'}\n"
        "print(names == set(arboleda.__all__), Study.__name__)\n"
        "for name in ('arboleda', 'arboleda.study'):\n"
        "    module = importlib.import_module(name)\n"
        "    found = dict(inspect.getmembers(module))\n"
        "    assert all(n in found for n in module.__all__) and module.__all__\n"
    )
    done = run_without(set(), then)
    assert done.stdout.strip() == "True Study", done.stderr


def test_all_packages_of_a_study_are_checked():
    """What loading a study imports beyond the requirements is what `can_study` looks for."""
    then = (
        "import sys, arboleda, arboleda._utils.errors as e\n"
        "arboleda.Study, arboleda.predict_file\n"
        "from arboleda.study import compare, explain, explore\n"
        f"print(sorted({EXTRAS!r} & set(sys.modules)) == sorted(e._STUDY))"
    )
    done = run_without(set(), then)
    assert done.stdout.strip() == "True", done.stderr
