"""More of the damage of ``test_damaged_studies``, to studies of classes and of a quantity."""

import json
from pathlib import Path

import pytest
from tests.security.damaged_studies import Reader, copy_study, mend_sum, run_study
from tests.security.test_damaged_studies import COSTS, QUICK, check, sweep

ALL = (*QUICK, "row", "explain")
FILES = ("results.json", "models/index.json", "greedy_selection", "stacking", "soft_vote")


@pytest.fixture(scope="module", params=["rich", "wealth"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("studies")
    run_study(found / "first", request.param, **(COSTS if request.param == "rich" else {}))
    run_study(found / "second", request.param)
    return Path(found)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", FILES)
def test_damaged_values_are_refused_or_usable(folder: Path, tmp_path: Path, name: str) -> None:
    reader = Reader(copy_study(folder / "first", tmp_path / "study"), folder / "second", tmp_path)
    file = name if name.endswith(".json") else f"models/{name}.combined"
    every = {"results.json": 97, "models/index.json": 5}.get(name, 3)
    assert sweep(reader, file, every, ALL if name == "results.json" else QUICK, start=1) > 100


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_damaged_bytes_with_valid_checksums_are_refused_or_usable(
    folder: Path, tmp_path: Path
) -> None:
    """Any byte of the rows and of the held-out predictions."""
    reader = Reader(copy_study(folder / "first", tmp_path / "study"), folder / "second", tmp_path)
    index = reader.folder / "models/index.json"
    listed = index.read_bytes()
    stored = json.loads(listed)
    for name in (*stored["rows"], *stored["held_out"]):
        path = reader.folder / "models" / name
        content = path.read_bytes()
        for at in range(0, len(content), max(1, len(content) // 150)):
            path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
            mend_sum(reader.folder, name)
            check(reader, QUICK, (name, at))
        path.write_bytes(content)
        index.write_bytes(listed)
