"""The cells of CSV files, as the scripts of a page read them, run by Node."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from arboleda.page_export import _html
from arboleda.study.artifacts.pages import _describe_format
from arboleda.tables.date_parsing import MONTHS, ZONES, ClockFormat, DateFormat
from arboleda.tables.number_parsing import MONEY, NumberFormat

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

NUMBERS = """
1234|1,234|1.234|1,234.5|1.234,5|1 234,5|1'234|12,34,567.5|-3|(3)|3-|+3|-(3)|.5|5.|1e3|1e999
12 kg|12kg|350 g|12 lb|12 parsecs|$5|5 $|€ 5|5 EUR|US$ 7|$-5|-$5|3k|2.5 M|7 %|7‰|about 5
5 to 6|n. a.|0012|1,23|12,3456|− 4|5 m²|60 km/h|3 constructor
"""
DATES = """
2020-01-31|2020/1/31|20200131|31.12.2020|31.12.20|12/31/2020|1/2/69|1/2/68|01-02-2020
2020-13-01|2020-02-30|3 March 2015|March 3, 2015|Mon, 3rd Mar. 2015|2015-Mar-03
3 de marzo de 2015|Sept 2015|2015-03|03/2015|0999-01-01|2020-01-31T10:30
2020-01-31 10:30:15.25|31.12.2020 7:05 PM|31.12.2020 12:05 am|2020-01-31 10:30+02:00
2020-01-31 10:30 EST|2020-01-31 25:30|10:30 31/12/2020|10:30, 3 Mar 2015|soon
31.12.2020 10:30 XYZ|99-01-02
"""
CLOCKS = "10:30|7:05 PM|12:00 am|24:00|25:00|7:61|10:30:15.5|10:30 z|noon"


def call(expression, value):
    folder = Path(_html.__file__).parent / "page"
    script = Path(__file__).parent / "calls.cjs"
    done = subprocess.run(
        [NODE, script, folder, "csv.js formats.js cells.js", expression],
        input=json.dumps(value),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def split(texts):
    return [text for line in texts.strip().splitlines() for text in line.split("|")]


def write(form):
    return {"form": _describe_format(form), "money": MONEY, "months": MONTHS, "zones": ZONES}


@pytest.mark.parametrize(
    ("kind", "form", "texts"),
    [
        ("NumberFormat", NumberFormat(".", ",", {"": 1.0, "kg": 1.0, "g": 1e-3}), NUMBERS),
        ("NumberFormat", NumberFormat(",", ".", {"": 1.0}, ("$",)), NUMBERS),
        (
            "NumberFormat",
            NumberFormat(",", " ", {"": 1.0, "k": 1e3, "m": 1e6}, ("$", "€")),
            NUMBERS,
        ),
        ("NumberFormat", NumberFormat(".", "'", {"%": 1.0, "km/h": 1.0, "m²": 1.0}), NUMBERS),
        ("NumberFormat", NumberFormat(), NUMBERS),
        *(("DateFormat", DateFormat(order), DATES) for order in ("dmy", "mdy", "ymd")),
        ("DateFormat", DateFormat(epoch=1e3), "1580428800000|-5|1e3|2020-01-31"),
        ("ClockFormat", ClockFormat(), CLOCKS),
    ],
)
def test_values_are_those_of_the_table_reader(kind, form, texts):
    texts = split(texts)
    arguments = {"NumberFormat": "input.money", "DateFormat": "input", "ClockFormat": ""}[kind]
    made = f"new {kind}(input.form, {arguments})" if arguments else f"new {kind}(input.zones)"
    found = call(f"input.texts.map((text) => {made}.read(text))", {**write(form), "texts": texts})
    values, words = form.parse(pa.array(texts))
    for text, one, value, word in zip(texts, found, values, words.to_pylist(), strict=True):
        assert float(one["value"]) == pytest.approx(value, rel=1e-15, nan_ok=True), text
        assert one["word"] == (word or ""), text


def test_numbers_of_cells_are_the_nearest_ones():
    rng = np.random.default_rng(0)
    texts = ["-0", "0", ".5", "5.", "-.25", "007", "1" * 40, "0." + "0" * 30 + "1"]
    for digits in (1, 3, 7, 15, 16, 17, 18, 25):
        for _ in range(100):
            letters = rng.integers(0, 10, digits).astype(str)
            place = int(rng.integers(0, digits + 1))
            texts.append("".join(["-"[: rng.integers(2)], *letters[:place], ".", *letters[place:]]))
    others = ["", "-", ".", "1e5", "0x10", " 1", "1,5", "Infinity", "1.2.3", "--1", "١"]
    table = ";".join([*texts, *others])
    found = call(
        '(() => { const csv = new Csv(input, ";"); csv.next();'
        " return Array.from({length: csv.count}, (_, j) => [csv.numbers[j], +csv.cell(j)]); })()",
        table,
    )
    assert len(found) == len(texts) + len(others)
    assert all(one == other != "NaN" for one, other in found[: len(texts)])
    assert [one for one, _ in found[len(texts) :]] == ["NaN"] * len(others)


CSVS = [
    "a,b\n1,2\n",
    'a,b\r\n1,"x, ""y""\r\nz"\r\n\r\n3,4',
    '"a",b\n"",""\n,\n" c",d "e" f\n',
    'a,b\n5" pipe,3\n',
    "a\n\n1\n",
]


@pytest.mark.parametrize("text", CSVS)
def test_cells_are_those_of_python(text):
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row not in ([], [""])]
    assert call('parseRows(input, ",")', text) == expected


@pytest.mark.parametrize("text", CSVS)
def test_a_part_ends_with_a_row_wherever_it_is_cut(text):
    rows = call('parseRows(input, ",")', text)
    cuts = [[text[:n], text[n:]] for n in range(len(text) + 1)]
    found = call(
        "input.map(([first, rest]) => { const end = findEnd(first, ',');"
        " return [...parseRows(first.slice(0, end), ','),"
        " ...parseRows(first.slice(end) + rest, ',')]; })",
        cuts,
    )
    assert all(part == rows for part in found)


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("a;b", ";"),
        ("a\tb\n", "\t"),
        ("x,1;a;b", ";"),
        ('"a, b, c";b;d', ";"),
        ("a", ","),
        ("", ","),
    ],
)
def test_the_separator_is_that_with_the_columns(header, separator):
    assert call("findSeparator(input, ['a', 'b'])", header) == separator
