"""A study whose folder is damaged is read, or refused by one error, in one sentence.

Every value of a study's JSON files gives way to strange ones (a sample of them here, all in the
slow test), with sums in the list that fit the damage, and every file is removed, cut short, emptied
and replaced by a folder. Whatever is left of the study is loaded, predicts, is explained, compared
and exported, and its run goes on.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.security.damaged_studies import (
    Reader,
    copy_study,
    is_one_sentence,
    mend_sum,
    raised,
    replaced,
    replacements,
    run_study,
    small_table,
    write_json,
)

from arboleda.cli import main
from arboleda.facts.study import StudyFacts
from arboleda.study import Study, StudyFormatError
from arboleda.study.artifacts.index import check_facts

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "src/arboleda/facts/study.schema.json").read_text("utf-8")
)
COSTS: dict[str, Any] = {
    "cost_matrix": {"yes": {"no": 2.0}, "no": {"yes": 1.0}},
    "reject_cost": 0.4,
    "score_by": "city",
}
# Of so many kinds of damage one is tried; the slow test tries more.
EVERY = {"results.json": 10_007, "models/index.json": 131, "models/stacking.combined": 41}
QUICK = ("models", "predict", "export", "compare")


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two studies of one table, and where to write."""
    folder = tmp_path_factory.mktemp("studies")
    run_study(folder / "first", "rich", models="lda,cart,neighbours", **COSTS)
    run_study(folder / "second", "rich", models="lda,cart")
    (folder / "out").mkdir()
    return {name: folder / name for name in ("first", "second", "out")}


@pytest.fixture
def damaged(studies: dict[str, Path], tmp_path: Path) -> Reader:
    """A copy of the first study, to be damaged."""
    return Reader(copy_study(studies["first"], tmp_path / "study"), studies["second"], tmp_path)


def check(reader: Reader, parts: tuple[str, ...], damage: Any) -> bool:
    """Whether the study could still be loaded; what is raised is in order."""
    found = reader.errors(parts)
    for part, error in found.items():
        assert is_one_sentence(error), (damage, part, repr(error))
    if "load" in found:
        assert isinstance(found["load"], StudyFormatError), (damage, repr(found["load"]))
        assert str(reader.folder) in str(found["load"]), damage
    return "load" not in found


def sweep(reader: Reader, name: str, every: int, parts: tuple[str, ...], start: int = 0) -> int:
    """Try one in so many kinds of damage to a JSON file; returns how many were tried."""
    file, index = reader.folder / name, reader.folder / "models/index.json"
    content, listed = file.read_bytes(), index.read_bytes()
    value = json.loads(content)
    tried = 0
    for number, (place, what, new) in enumerate(replacements(value)):
        if number % every != start % every:
            continue
        write_json(file, replaced(value, place, what, new))
        if name.endswith(".combined"):
            mend_sum(reader.folder, file.name)
        check(reader, parts, (name, place, what, str(new)[:60]))
        tried += 1
        file.write_bytes(content)
        index.write_bytes(listed)
    return tried


def test_undamaged_studies_are_read(damaged: Reader) -> None:
    assert damaged.errors() == {}


@pytest.mark.parametrize("name", EVERY)
def test_damaged_values_are_refused_or_usable(damaged: Reader, name: str) -> None:
    assert sweep(damaged, name, EVERY[name], QUICK) > 10


def test_damaged_values_of_explanations_are_refused_or_usable(damaged: Reader) -> None:
    places = [
        ("study", "positive_class"),
        ("study", "metric"),
        ("study", "seed"),
        ("models", 0, "best"),
        ("models", 0, "test"),
        ("models", 0, "test", "calibration"),
        ("models", 1, "key"),
        ("split", "n_train"),
        ("data", "n_rows"),
    ]
    file = damaged.folder / "results.json"
    content = file.read_bytes()
    for place in places:
        for new in (None, -1, 10**30, "unheard_of", []):
            write_json(file, replaced(json.loads(content), place, "replace", new))
            check(damaged, ("row",), (place, new))


def files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in {".svg", ".html", ".csv"}:
            yield str(path.relative_to(folder))


def harm(path: Path, how: str) -> None:
    content = path.read_bytes()
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "empty":
        path.touch()
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(
    "how",
    ["removed", "cut", *(pytest.param(h, marks=pytest.mark.slow) for h in ("empty", "folder"))],
)
def test_damaged_files_are_refused_or_usable(
    studies: dict[str, Path], tmp_path: Path, how: str
) -> None:
    names = [name for name in files(studies["first"]) if not name.startswith("predictions/")]
    assert len(names) > 12
    for name in names:
        folder = copy_study(studies["first"], tmp_path / "study")
        harm(folder / name, how)
        check(Reader(folder, studies["second"], tmp_path), QUICK, (name, how))


@pytest.mark.parametrize("name", ["held_out.npy", "rows.parquet", "split.parquet", "cart.arboleda"])
def test_truncated_files_with_valid_checksums_are_refused(damaged: Reader, name: str) -> None:
    path = damaged.folder / "models" / name
    content = path.read_bytes()
    for length in (0, 1, 9, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        mend_sum(damaged.folder, name)
        check(damaged, QUICK, (name, length))


def test_a_missing_member_is_refused(damaged: Reader, capsys: pytest.CaptureFixture[str]) -> None:
    """Each file of a member, taken from the list of the combination that needs it."""
    index = damaged.folder / "models/index.json"
    stored = json.loads(index.read_text("utf-8"))
    best = json.loads((damaged.folder / "results.json").read_text("utf-8"))["models"][0]["key"]
    n_refused = 0
    for key in ("stacking", "greedy_selection", best):
        for name in stored["models"][key]:
            write_json(index, replaced(stored, ("models", key, name), "remove", None))
            error = raised(lambda key=key: Study.load(damaged.folder).model(key))
            if error is not None:
                assert isinstance(error, StudyFormatError), name
                assert is_one_sentence(error)
                n_refused += 1
            if key != best:
                continue
            with pytest.raises(SystemExit) as stop:
                main(["export", str(damaged.folder), "--out", str(damaged.out / "m.onnx")])
            assert stop.value.code in (0, 2)
            assert "Traceback" not in capsys.readouterr().err
    assert n_refused > 6


def test_damaged_studies_resume_or_are_refused(studies: dict[str, Path], tmp_path: Path) -> None:
    """What a run needs of the folder it makes again, or it refuses."""
    config = studies["second"] / "study.toml"
    for name in (
        "ledger.sqlite",
        "predictions/cart-*-0.npy",
        "models/cart.skops",
        "models/index.json",
    ):
        for how in ("cut", "folder"):
            folder = copy_study(studies["second"], tmp_path / "study")
            harm(next(iter(folder.glob(name))), how)
            # The table was a frame, which the file can only name.
            options = {"table": small_table(), "output_dir": folder, "n_jobs": 1}
            error = raised(lambda options=options: Study.from_config(config, **options).run())
            if error is not None:
                assert is_one_sentence(error), (name, how, repr(error))
                continue
            left = Reader(folder, studies["first"], tmp_path).errors(QUICK)
            assert all(map(is_one_sentence, left.values())), (name, how, left)
            assert how == "folder" or not left, (name, how, left)  # no file where a folder is


def is_strict(value: Any) -> bool:
    """Whether a value is among those that are refused though JSON Schema takes them."""
    return (isinstance(value, float) and (value != value or value in (float("inf"), 7.0))) or (
        isinstance(value, int) and abs(value) >= 2**63
    )


def test_our_validator_agrees_with_jsonschema(studies: dict[str, Path]) -> None:
    facts = json.loads((studies["first"] / "results.json").read_text("utf-8"))
    assert check_facts(facts, StudyFacts) is None
    validator = jsonschema.Draft202012Validator(SCHEMA)
    valid = 0
    for number, (place, what, new) in enumerate(replacements(facts)):
        if number % 1_201 or is_strict(new):
            continue
        value = replaced(facts, place, what, new)
        wrong = check_facts(value, StudyFacts)
        assert (wrong is None) == validator.is_valid(value), (place, what, new, wrong)
        valid += wrong is None
    assert valid > 5
