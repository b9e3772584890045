"""Corrupted tables: a study reads them or refuses them in one line, and never fails otherwise."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from arboleda._utils.errors import StudyError
from arboleda.cli import main
from arboleda.study.config.options import make_settings
from arboleda.study.plan import make_plan
from arboleda.study.results.data_checks import find_cautions
from arboleda.tables.describe import describe_table
from arboleda.tables.reading import read_table

ROWS = "".join(
    f"{i % 7},{i / 3:.3f},{'red green blue'.split()[i % 3]},2024-0{i % 9 + 1}-11,{'pq'[i % 2]}\n"
    for i in range(40)
)
SEEDS = [
    f"a,b,c,d,y\n{ROWS}".encode(),
    f"a;b;c;d;y\r\n{ROWS}".replace(",", ";").replace(".", ",").encode("utf-16"),
    ("\ufeff" + f'a,b,"c ""x""",d,y\n{ROWS}').replace("red", '"re,d"').encode(),
    f"a\tb\tc\td\ty\n{ROWS}".replace(",", "\t").replace("green", "gr\xfcn").encode("latin-1"),
]
# What is put into a table, or in place of a part of it.
PIECES = [
    *(b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b'""', b"'", b",", b";", b"\t", b"|"),
    *(b"\n", b"\r\n", b"\r", b"\n\n\n", b"1e400", b"-1e308", b"1e308", b"inf", b"nan", b"NA"),
    *(b"1,5", b"1.234.567", b"0x1F", b"1_000", b"\xe2\x88\x92" + b"5", b"9" * 400, b"-0"),
    *(b"true", b"2024-13-45", b"9999-12-31", b"0001-01-01", b"</script>", b"=1+1", b"\x1a"),
    *("\u2028\u202e\U0001f600".encode(), b"x" * 5000, b"a,b,c,d,y\n", b"PAR1", b"\x1f\x8b", b"y"),
]


def mutated(random: np.random.Generator) -> bytes:
    """A table with a few pieces put in, cut out or moved."""
    content = SEEDS[random.integers(len(SEEDS))]
    for _ in range(random.integers(1, 6)):
        start, end = np.sort(random.integers(0, len(content) + 1, 2)).tolist()
        if random.random() < 0.8:
            end = min(end, start + int(random.integers(0, 4)))
        piece = PIECES[random.integers(len(PIECES))]
        if random.random() < 0.15:
            piece = content[start:end] * int(random.integers(0, 4))
        content = content[:start] + piece + content[end:]
    return content


def prepare(path: Path) -> None:
    """Everything that a study does before it fits a model."""
    plan = make_plan(read_table(path), "y", make_settings(models="cart"))
    describe_table(plan.table, plan.target, plan.roles, 5)
    find_cautions(plan)


def fuzz(path: Path, n: int, seed: int) -> tuple[int, int]:
    """How many tables were taken, and how many refused."""
    random = np.random.default_rng(seed)
    taken = 0
    for i in range(n):
        content = mutated(random)
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                prepare(path)
            taken += 1
        except StudyError as error:
            text = str(error)
            assert text.endswith(".")
            assert len(text.splitlines()) == 1
        except Exception as error:
            error.add_note(f"table {i} of seed {seed}: {content[:2000]!r}")
            raise
    return taken, n - taken


def test_corrupted_tables_are_read_or_refused(tmp_path: Path) -> None:
    taken, refused = fuzz(tmp_path / "t.csv", 100, seed=0)
    assert taken > 10
    assert refused > 10


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(1, 5))
def test_thousands_of_corrupted_tables_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    fuzz(tmp_path / "t.csv", 2500, seed)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_command_ends_in_success_or_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(9)
    codes = set()
    for i in range(60):
        table = tmp_path / "t.csv"
        table.write_bytes(mutated(random))
        words = ["study", str(table), "--target", "y", "--models", "cart", "--cv", "2"]
        with pytest.raises(SystemExit) as stop:
            main([*words, "--jobs", "1", "--out", str(tmp_path / str(i))])
        message = capsys.readouterr().err
        codes.add(stop.value.code)
        assert "Traceback" not in message
        if stop.value.code == 2:
            assert message.splitlines()[-1].startswith("arboleda: error: ")
    assert codes == {0, 2}


@pytest.mark.parametrize(
    "place", [pytest.param("folder", marks=pytest.mark.slow), "nowhere", "file", "itself"]
)
def test_links_in_place_of_folders_are_handled(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(SEEDS[0])
    Path("folder").mkdir()
    Path("file").write_text("mine")
    Path("link").symlink_to("link" if place == "itself" else place)
    with pytest.raises(SystemExit) as stop:
        main(["study", "t.csv", "--target", "y", "--models", "cart", "--out", "link"])
    message = capsys.readouterr()
    if place == "folder":
        assert stop.value.code == 0
        assert Path("folder/results.json").is_file()
    else:
        assert stop.value.code == 2
        assert len(message.err.splitlines()) == 1
        assert "link" in message.err
    assert Path("link").is_symlink()
    assert Path("file").read_text() == "mine"


def test_a_table_behind_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(SEEDS[0])
    (tmp_path / "link.csv").symlink_to("t.csv")
    assert read_table(tmp_path / "link.csv").n_rows == 40
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StudyError, match="cannot be read"):
        read_table(tmp_path / "loop")


def test_paths_that_are_not_tables_are_refused() -> None:
    for place in ("/dev/null", "/proc/self/mem"):
        with pytest.raises(StudyError):
            read_table(place)
