"""The figures on names: which functions count, what begins with a verb, which words are counted."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_report(root: Path) -> tuple[int, list[str]]:
    result = subprocess.run(
        [sys.executable, ROOT / "tools" / "report_names.py", root],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    return result.returncode, result.stdout.splitlines()


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def define(*names: str) -> str:
    return "".join(f"def {name}(): ...\n" for name in names)


def test_verbs_statements_and_conversions_count(tmp_path: Path) -> None:
    verbs = (
        "read",
        "_fit_members",
        "count_rows",
        "is_fitted",
        "has_missing",
        "to_dict",
        "from_file",
    )
    staged = ("staged_predict_proba",)
    nouns = ("count", "count_of_rows", "row_count", "mean", "is_", "staged_scores")
    write(tmp_path, "src/x.py", define(*verbs, *staged))
    write(tmp_path, "src/folder/y.py", define(*nouns))
    code, lines = run_report(tmp_path)
    assert lines[0] == "57.1% of 14 functions in src begin with a verb (at least 60%)"
    assert code == 1


def test_names_of_others_and_nested_functions_do_not_count(tmp_path: Path) -> None:
    text = """
class C:
    def __init__(self): ...
    @property
    def weights(self): ...
    @weights.setter
    def weights(self, value): ...
    @functools.cached_property
    def lengths(self): ...
    @overload
    def rows(self): ...
    def decision_function(self): ...
    def fit(self):
        def derivative(): ...
    class D:
        def predict(self): ...
"""
    write(tmp_path, "src/x.py", text)
    code, lines = run_report(tmp_path)
    assert lines[0].startswith("100.0% of 2 functions")
    assert code == 0


def test_each_form_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "src/x.py", define("read_rows"))
    text = 'def f_says(told):\n    """Tell it.\n\n    It says."""\n    return "ask", told  # say\n'
    write(tmp_path, "tests/x.py", text)
    write(tmp_path, "core/x.cc", '// asks\nint asked = said("told"); // essay\n')
    code, lines = run_report(tmp_path)
    assert "tests: 6 forms of tell, say and ask" in lines
    assert "core: 3 forms of tell, say and ask" in lines
    assert lines[-1] == "all folders: 9 (at most 150)"
    assert code == 0


def test_too_many_forms_miss_the_bar(tmp_path: Path) -> None:
    write(tmp_path, "src/x.py", define("read_rows") + "# told\n" * 151)
    assert run_report(tmp_path)[0] == 1
