"""Each option is declared once: Python, the command line and study.toml agree with it."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arboleda.cli import _run, main
from arboleda.study import Study, StudyError
from arboleda.study.config.declaration import Declared
from arboleda.study.config.options import NAMES, config_text, make_settings, read_config
from arboleda.study.config.other_names import OTHER_NAMES, RETIRED
from arboleda.study.config.settings import OPTIONS

EACH = pytest.mark.parametrize("declared", OPTIONS.values(), ids=OPTIONS)


def squeeze(text: str) -> str:
    return " ".join(text.split())


def test_the_class_has_the_options_in_their_order() -> None:
    parameters = (*inspect.signature(Study).parameters,)
    assert parameters == ("table", "target", "output_dir", *NAMES, "client")


@EACH
def test_the_class_has_the_declared_default(declared: Declared) -> None:
    is_value = isinstance(declared.value, (bool, int, float, str)) and not declared.is_inferred
    default = inspect.signature(Study).parameters[declared.name].default
    assert default == (declared.value if is_value else None)
    assert type(default) is (type(declared.value) if is_value else type(None))


@EACH
def test_the_class_documents_the_option(declared: Declared) -> None:
    entry = f"{declared.name} : {declared.accepts}, "
    assert entry in (Study.__doc__ or "")
    after = (Study.__doc__ or "").split(entry)[1]
    assert squeeze(declared.description) in squeeze(after)


def test_the_docstring_has_no_placeholder() -> None:
    assert "{options}" not in (Study.__doc__ or "")


@pytest.fixture(scope="module")
def help_text() -> str:
    wide = {"COLUMNS": "300"}
    return CliRunner().invoke(_run.app, ["study", "--help"], env=wide).output


@EACH
def test_the_command_documents_the_flag(declared: Declared, help_text: str) -> None:
    _, _, after = help_text.partition(f"\n{declared.option.group}:\n")
    section = after.partition("\n\n")[0]
    assert f"  {declared.flag} " in section
    assert squeeze(declared.plain_text) in squeeze(section)


@EACH
def test_the_file_documents_the_key(declared: Declared) -> None:
    text = config_text("iris", "target", make_settings())
    assert f"# -- {declared.option.group} --" in text
    assert squeeze(declared.plain_text) in squeeze(text.replace("\n# ", " "))
    assert f"\n{declared.name} = " in text or f"\n# {declared.name} =" in text


@pytest.mark.parametrize(("former", "name"), RETIRED.items())
def test_a_former_name_names_the_new_one(tmp_path: Path, former: str, name: str) -> None:
    options: dict[str, Any] = {former: 1}
    with pytest.raises(
        TypeError, match=f"^A study has no parameter '{former}'; it is '{name}' now"
    ):
        Study("iris", target="target", **options)
    path = tmp_path / "study.toml"
    path.write_text(f"{former} = 1\n")
    with pytest.raises(StudyError, match=rf"has the key '{former}', which is '{name}' now; rename"):
        read_config(path)
    assert name in (*NAMES, "output_dir")
    assert former not in NAMES


@pytest.mark.parametrize(("theirs", "ours"), OTHER_NAMES.items())
def test_the_name_of_another_library_names_ours(tmp_path: Path, theirs: str, ours: str) -> None:
    own = ("table", "target", "output_dir", *NAMES)
    assert theirs not in own
    assert ours in own
    options: dict[str, Any] = {theirs: 1}
    message = f"has no parameter '{theirs}'; here it is '{ours}'"
    with pytest.raises(TypeError, match=message):
        Study("iris", target="target", **options)
    with pytest.raises(TypeError, match=message):
        Study(**options)
    with pytest.raises(TypeError, match=f"here it is the parameter '{ours}' of Study"):
        Study().fit([[1.0]], [1.0], **options)
    path = tmp_path / "study.toml"
    path.write_text(f"{theirs} = 1\n")
    with pytest.raises(StudyError, match=f"has the key '{theirs}', which is '{ours}' here; rename"):
        read_config(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("time_budget", "here it is the parameter 'time_budget' of Study"),
        ("task", "here it is the parameter 'task' of Study"),
        ("jobs", "here it is the parameter 'n_jobs' of Study"),
        ("X_train", "here it is 'X'"),
        ("no_such_name", "unexpected keyword argument 'no_such_name'"),
    ],
)
def test_fit_names_our_argument(name: str, message: str) -> None:
    options: dict[str, Any] = {name: 1}
    with pytest.raises(TypeError, match=message):
        Study().fit([[1.0]], [1.0], **options)


def test_an_unknown_parameter_stays_a_type_error() -> None:
    options: dict[str, Any] = {"folds": 5}
    with pytest.raises(TypeError, match="unexpected keyword argument 'folds'"):
        Study("iris", target="target", **options)


@pytest.mark.parametrize("flag", ["--seed", "--jobs", "--out"])
def test_flags_that_stay(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}
    monkeypatch.setattr(Study, "__init__", lambda _, **options: found.update(options))
    monkeypatch.setattr(Study, "run", lambda *_, **__: None)
    monkeypatch.setattr("arboleda.cli._study._print_leaderboard", lambda _: None)
    monkeypatch.setattr("arboleda.cli._study._print_next_steps", lambda *_: None)
    with pytest.raises(SystemExit):
        main(["study", "iris", "--target", "target", flag, "3"])
    name = {"--seed": "random_state", "--jobs": "n_jobs", "--out": "output_dir"}[flag]
    assert str(found[name]) == "3"
