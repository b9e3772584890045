"""One version everywhere; extras hold what messages recommend; workflows build what is promised."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import arboleda
from arboleda._utils import errors

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
# Packages whose module has another name.
MODULES = {"scikit-learn": "sklearn", "charset-normalizer": "charset_normalizer"}
IMPORTS = {"import_module", "importlib.import_module"}
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def modules_of(extra: str) -> set[str]:
    """The modules that an extra installs, those of the extras it names included."""
    modules = set()
    for requirement in EXTRAS[extra]:
        name, inner = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
        if name == "arboleda":
            modules |= set().union(*(modules_of(other) for other in inner.split(",")))
        else:
            modules.add(MODULES.get(name, name))
    return modules


def recommended() -> Iterator[tuple[str, str, set[str]]]:
    """File, what `pip install` is to install, and the modules whose absence leads there."""
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Try):
                continue
            texts = [
                text.value
                for handler in node.handlers
                for text in ast.walk(handler)
                if isinstance(text, ast.Constant) and isinstance(text.value, str)
            ]
            imported = set()
            for statement in (part for body in node.body for part in ast.walk(body)):
                if isinstance(statement, ast.Import):
                    imported |= {alias.name.split(".")[0] for alias in statement.names}
                if isinstance(statement, ast.ImportFrom):
                    imported.add((statement.module or "").split(".")[0])
                if isinstance(statement, ast.Call) and ast.unparse(statement.func) in IMPORTS:
                    imported |= {
                        str(x.value) for x in statement.args if isinstance(x, ast.Constant)
                    }
            for name in re.findall(r"pip install ['\"]?([\w\[\]-]+)", " ".join(texts)):
                yield path.relative_to(ROOT / "src").as_posix(), name, imported - {"arboleda"}


RECOMMENDED = list(recommended())


def test_every_recommendation_is_found() -> None:
    """Every `pip install` of the sources is in the handler of an import, or in a docstring."""
    named = {path for path, _, _ in RECOMMENDED}
    texts = {
        path.relative_to(ROOT / "src").as_posix(): path.read_text(encoding="utf-8")
        for path in SOURCES
    }
    mentioned = {path for path, text in texts.items() if re.search(r"[:] pip install", text)}
    assert mentioned == named
    assert {name for _, name, _ in RECOMMENDED} >= {
        "arboleda[study]",
        "arboleda[plot]",
        "arboleda[onnx]",
    }


@pytest.mark.parametrize(("path", "name", "modules"), RECOMMENDED)
def test_what_a_message_recommends_installs_what_is_missing(
    path: str, name: str, modules: set[str]
) -> None:
    extra = re.fullmatch(r"arboleda\[(\w+)\]", name)
    if extra is None:
        assert modules == {name}, path
        return
    assert modules <= modules_of(extra[1]), path
    assert modules_of(extra[1]) <= modules_of("all")


def test_the_extra_of_studies_holds_what_a_study_imports() -> None:
    assert set(errors._STUDY) | {"typer", "skops", "optuna"} <= modules_of("study")


def test_extras_in_the_documentation_exist() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "Makefile"]
    for page in pages:
        for names in re.findall(
            r"(?:arboleda|\.|\$\$wheel)\[([a-z,]+)\]", page.read_text(encoding="utf-8")
        ):
            assert set(names.split(",")) <= EXTRAS.keys(), page
    table = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    documented = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.M)))
    assert set(documented) == EXTRAS.keys()


def test_the_version_is_read_from_the_package() -> None:
    """The build takes it from `__version__`; no other file of the package states one."""
    assert "version" in PYPROJECT["project"]["dynamic"]
    provider = PYPROJECT["tool"]["scikit-build"]["metadata"]["version"]
    text = (ROOT / provider["input"]).read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*?)"', text, re.M) == [arboleda.__version__]


def test_other_files_state_the_same_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.M) == [arboleda.__version__]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"arboleda (\d+\.\d+\.\d+)", readme)) == {arboleda.__version__}
    configuration = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert "release = arboleda.__version__" in configuration


def test_the_citation_is_complete() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    keys = set(re.findall(r"^([a-z-]+):", text, re.M))
    assert keys >= {"cff-version", "message", "title", "authors", "version", "date-released"}
    assert f"license: {PYPROJECT['project']['license']}" in text


def test_wheels_are_built_for_every_python() -> None:
    wheels = PYPROJECT["tool"]["cibuildwheel"]
    listed = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert [f"cp{version.replace('.', '')}-*" for version in listed] == wheels["build"]
    assert PYPROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    assert wheels["manylinux-x86_64-image"] == wheels["manylinux-aarch64-image"]
    build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert "${SKBUILD_SABI_COMPONENT}" in build  # required, not optional: see tools/check_wheel.py


def test_the_workflows_build_for_every_platform() -> None:
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    jobs = set(re.findall(r"\{ system: ([\w.-]+), kind: (\w+) \}", text))
    assert jobs == {
        ("ubuntu-24.04", "manylinux"),
        ("ubuntu-24.04", "musllinux"),
        ("ubuntu-24.04-arm", "manylinux"),
        ("ubuntu-24.04-arm", "musllinux"),
        ("macos-15-intel", "macosx"),
        ("macos-15", "macosx"),
        ("windows-2022", "win"),
    }
    for tool in re.findall(r"tools/\w+\.py", text):
        assert (ROOT / tool).is_file()


def test_the_front_page_is_short() -> None:
    """One picture, six lines of Python (which `test_docs` runs), both commands, on one page."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150
    start = lines.index("```python") + 1
    example = [line for line in lines[start : lines.index("```", start)] if line]
    assert len(example) == 6
    assert {"$ make study", "$ make test"} <= set(lines)
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", "\n".join(lines))
    content = (ROOT / picture).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 300_000


def test_tables_of_the_front_page_are_complete() -> None:
    """Every row of a table has as many cells as its heading."""
    widths: list[int] = []
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            assert len(set(widths)) <= 1
            widths = []
        else:
            widths.append(line.count("|"))
