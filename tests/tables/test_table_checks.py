"""Files that are no plain tables are recognized, and the remedy is stated in one sentence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from arboleda.study import StudyError
from arboleda.tables.reading import read_table
from arboleda.tables.target import make_target

Write = Callable[[str | bytes], Path]


def notes(path: Path) -> list[str]:
    return [note.text for note in read_table(path).notes]


@pytest.mark.parametrize("separator", [":", "^", "~", "  "])
def test_an_unsupported_separator_is_named(csv: Write, separator: str) -> None:
    rows = ["a{0}b{0}c", *(f"{i}{{0}}x{{0}}{i * 2}" for i in range(9))]
    with pytest.raises(StudyError, match="separated by .*; save the table with commas"):
        read_table(csv("\n".join(rows).format(separator)))


def test_one_column_is_a_table(csv: Write) -> None:
    assert read_table(csv("time\n10:30\n11:30\n12:45\n13:00\n")).columns[0].kind == "numeric"


@pytest.mark.parametrize(
    "header", ["39,State-gov,13", "5.1,Private,1"], ids=["a text again", "numbers"]
)
def test_a_missing_header_is_reported(csv: Write, header: str) -> None:
    path = csv("\n".join([header, *["40,State-gov,9", "50,Private,7"] * 5]))
    assert "add a header line" in notes(path)[0]
    with pytest.raises(StudyError, match="no column 'income'.*add a header line"):
        read_table(path).column("income")


@pytest.mark.parametrize("title", ["Sales of 2021", "# exported", "sep=,"])
def test_a_title_above_the_header_is_named(csv: Write, title: str) -> None:
    with pytest.raises(StudyError, match="if the first line is a title, remove the lines"):
        read_table(csv(f"{title}\na,b,c\n1,2,3\n4,5,6\n"))


def test_a_title_of_as_many_fields_is_reported(csv: Write) -> None:
    path = csv("Sales of 2021,,\na,b,c\n" + "1,2,x\n" * 30)
    assert notes(path)[0].startswith(
        "Most columns have no name in the first line; if it is a title"
    )
    with pytest.raises(StudyError, match=r"no column 'c'.* remove the lines above the names"):
        read_table(path).column("c")


def test_a_repeated_header_is_reported(csv: Write) -> None:
    rows = "".join(f"{i},{'xy'[i % 2]},{'no' if i % 3 else 'yes'}\n" for i in range(40))
    table = read_table(csv(f"n,kind,y\n{rows}n,kind,y\n{rows}"))
    (note,) = [note.text for note in table.notes]
    assert note == (
        "Row 41 repeats the names of the columns, as in joined files; leave such rows out with "
        "--where 'n is not missing'."
    )
    with pytest.raises(
        StudyError, match=r"class 'y' .* a single row .*\. Row 41 repeats the names"
    ):
        make_target(table, "y")
    (note,) = notes(csv("kind,y\n" + "a,b\n" * 9 + "kind,y\n"))
    assert "--where 'kind != kind'" in note


def test_totals_without_a_target_are_named(csv: Write) -> None:
    rows = "".join(f"{i},{'no' if i % 3 else 'yes'}\n" for i in range(40))
    with pytest.raises(StudyError, match=r"'y' is missing in 1 of 41 rows.*last row holds Total"):
        make_target(read_table(csv(f"n,y\n{rows}Total,\n")), "y")


def test_a_header_is_no_row_of_values(csv: Write) -> None:
    assert notes(csv("age,work,2019\n40,State-gov,9\n50,Private,7\n")) == []


def test_units_below_the_header_are_reported(csv: Write) -> None:
    rows = "\n".join(f"{i},{i * 2}" for i in range(40))
    path = csv(f"weight,height\n(kg),cm\n{rows}\n")
    (note,) = notes(path)
    assert note == (
        "The first row holds (kg) in the column 'weight', which is no value: if the row holds "
        "units, leave it out with --where 'weight is not missing'."
    )


@pytest.mark.parametrize(
    ("last", "condition"),
    [("Total,780", "region != Total"), ("x,total", "n is not missing")],
)
def test_totals_at_the_end_are_reported(csv: Write, last: str, condition: str) -> None:
    rows = "\n".join(f"r{i % 3},{i}" for i in range(40))
    (note,) = notes(csv(f"region,n\n{rows}\n{last}\n"))
    assert note.startswith("The last row holds ")
    assert f"leave it out with --where '{condition}'" in note
