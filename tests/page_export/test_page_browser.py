"""Pages in Chromium: what a reader sees and saves, without a request or a complaint."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from tests.browsing import BEYOND, CONTRAST
from tests.reports.study.test_accessibility import RUN, axe_script

import arboleda as ab

# Names and labels that would run or break something if they were not escaped.
HOSTILE = "<img src=x onerror=alert(1)>"
LABELS = ["</script><script>alert(2)</script>", "{{tables}}", '"; alert(3); //']


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            HOSTILE: rng.normal(size=n).round(3),
            "kind": pd.Categorical(rng.choice(LABELS, n)),
            "place": pd.Categorical(rng.choice([f"place {i}" for i in range(20)], n)),
            "years": rng.integers(1, 90, n).astype(float),
        }
    )
    frame.loc[::9, "years"] = np.nan
    y = np.where(frame[HOSTILE] + (frame["kind"] == LABELS[0]) > 0.3, "sí", "<b>no</b>")
    return frame, y


@pytest.fixture(scope="module")
def model(table):
    classifier = ab.HistGradientBoostingClassifier(max_iter=9, categorical_features="from_dtype")
    return classifier.fit(*table)


@pytest.fixture
def path(model, table, tmp_path):
    file = tmp_path / "page.html"
    ab.export_page(model, file, table[0], title=HOSTILE, target="<i>", include_rows=12)
    return file


@pytest.fixture
def opened(open_page, path):
    opened = open_page(path)
    wait_for_result(opened.page)
    return opened


def wait_for_result(page):
    page.wait_for_selector(".bars li")
    page.wait_for_selector(".plot rect")


def shown_shares(page):
    """The probabilities by class, as the page shows them."""
    names = page.locator(".classes .name").all_inner_texts()
    shares = page.locator(".classes b").all_inner_texts()
    return {name: float(share.rstrip("%")) / 100 for name, share in zip(names, shares, strict=True)}


def expected_shares(model, frame, **cells):
    row = frame.head(1).assign(**cells)
    for name, levels in zip(model.schema_.names, model.schema_.levels, strict=True):
        if levels is not None:
            row[name] = pd.Categorical(row[name], categories=list(levels))
    return dict(zip(model.classes_, model.predict_proba(row)[0], strict=True))


def check_shares(page, expected):
    page.wait_for_function(
        """expected => [...document.querySelectorAll(".classes li")].every(line =>
          Math.abs(parseFloat(line.querySelector("b").textContent) / 100
                   - expected[line.querySelector(".name").textContent]) < 0.0006)""",
        arg={name: float(share) for name, share in expected.items()},
    )


def test_the_page_shows_the_prediction_of_what_is_typed(opened, model, table):
    page, frame = opened.page, table[0]
    cells = {HOSTILE: 1.25, "kind": LABELS[1], "place": "place 7", "years": 40.0}
    page.fill("#field-0", "1.25")
    page.select_option("#field-1", LABELS[1])
    page.fill("#field-2", "place 7")
    page.fill("#field-3", "40")
    check_shares(page, expected_shares(model, frame, **cells))
    page.locator(".field").nth(3).locator(".missing").click()
    check_shares(page, expected_shares(model, frame, **{**cells, "years": np.nan}))
    page.fill("#field-2", "elsewhere")
    check_shares(page, expected_shares(model, frame, **{**cells, "years": np.nan, "place": None}))
    assert page.locator("#field-2-note").inner_text().startswith("An unknown category")
    page.fill("#field-0", "many")
    assert page.locator("#field-0").get_attribute("aria-invalid") == "true"


def test_nothing_is_fetched_and_nothing_of_the_user_is_run(opened, path):
    assert opened.requests[0] == path.as_uri()
    assert all(address.startswith("blob:") for address in opened.requests[1:])
    assert opened.complaints == []
    assert opened.page.locator("h1").inner_text() == HOSTILE
    assert opened.page.locator("main img").count() == 0
    assert opened.page.evaluate("typeof alerted") == "undefined"


def test_a_file_is_predicted_and_saved(opened, model, table, tmp_path):
    frame = table[0].copy()
    frame.insert(0, "note", 'a, "quoted"\ntext')
    frame.to_csv(tmp_path / "rows.csv", index=False)
    page = opened.page
    page.set_input_files("#file", tmp_path / "rows.csv")
    with page.expect_download() as download:
        page.click(".drop p a")
    download.value.save_as(tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert found["note"].tolist() == frame["note"].tolist()
    assert found["prediction"].tolist() == model.predict(table[0]).tolist()
    for name, share in zip(model.classes_, model.predict_proba(table[0]).T, strict=True):
        shown = found[f"probability of {name}"].astype(float)
        np.testing.assert_allclose(shown, share, rtol=0, atol=1e-15)


def test_a_file_without_a_column_or_with_words_for_numbers_is_refused(opened, table, tmp_path):
    page, frame = opened.page, table[0]
    frame.drop(columns="years").to_csv(tmp_path / "lacks.csv", index=False)
    page.set_input_files("#file", tmp_path / "lacks.csv")
    page.wait_for_selector("text=lacks the column years")
    frame.assign(years="young").to_csv(tmp_path / "words.csv", index=False)
    page.set_input_files("#file", tmp_path / "words.csv")
    page.wait_for_selector("text=Column years, row 1: 'young' cannot be read")


def test_files_of_spreadsheets_are_read(opened, model, table, tmp_path):
    page, frame = opened.page, table[0].head(40)
    text = frame.assign(place="Cádiz").to_csv(index=False, sep=";", decimal=",")
    files = {
        "windows": text.encode("cp1252"),
        "mark": text.replace("\n", "\r\n").encode("utf-8-sig"),
        "wide": text.replace(";", "\t").encode("utf-16"),
    }
    shares = []
    for name, content in files.items():
        (tmp_path / f"{name}.csv").write_bytes(content)
        page.set_input_files("#file", tmp_path / f"{name}.csv")
        with page.expect_download() as download:
            page.click(f".drop p a[download^={name}]")
        saved = download.value.path().read_text("utf-8-sig")
        found = pd.read_csv(io.StringIO(saved), sep=None, engine="python", dtype=str)
        assert found["place"].eq("Cádiz").all()
        shares.append(found["probability of sí"].str.replace(",", ".").astype(float).tolist())
    expected = model.predict_proba(frame.assign(place=None).astype({"place": "category"}))[:, 1]
    np.testing.assert_allclose(shares, [expected] * 3, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "The file has no rows."),
        (lambda text: text.split("\n")[0], "The file has no rows."),
        (lambda text: text + "1,2\n", "Row 6 is not as long as the header (2 cells instead of 4)"),
        (lambda text: text.replace("\n1", "\n0x1"), "cannot be read; leave it blank"),
        (lambda text: "PK\0\1" + text, "This is not a file of text"),
        (lambda text: text.replace("kind", "years", 1), "lacks the column kind"),
        (
            lambda text: f"{text}".replace("\n", ",5\n").replace(",5", ",kind", 1),
            "two columns kind",
        ),
    ],
)
def test_other_files_are_refused(opened, table, tmp_path, change, message):
    frame = table[0].head(5).copy()
    frame.iloc[0, 0] = 1.5
    (tmp_path / "rows.csv").write_text(change(frame.to_csv(index=False)))
    opened.page.set_input_files("#file", tmp_path / "rows.csv")
    opened.page.wait_for_selector(f"text={message}")


def test_a_pasted_row_fills_the_form(opened):
    page = opened.page
    page.click("summary")
    page.fill("textarea", "years;place;unused\n33;place 3;x")
    page.click("details button")
    assert page.input_value("#field-3") == "33"
    assert page.input_value("#field-2") == "place 3"
    assert page.input_value("#field-0") == ""


def test_a_click_on_the_curve_chooses_a_value(opened):
    page = opened.page
    page.locator(".charts select").first.select_option("3")
    page.wait_for_selector("text=With years alone changed")
    page.locator(".charts figure svg").first.click()
    assert float(page.input_value("#field-3")) == pytest.approx(45, abs=12)


@pytest.mark.parametrize(
    ("language", "scheme", "width"), [("en", "light", 1280), ("es", "dark", 360)]
)
def test_the_page_is_accessible(model, table, open_page, tmp_path, language, scheme, width):
    path = tmp_path / "page.html"
    frame = table[0].rename(columns={HOSTILE: "number"})
    plain = ab.HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    ab.export_page(plain.fit(frame, table[1]), path, frame, include_rows=5, language=language)
    page = open_page(path, width, color_scheme=scheme).page
    wait_for_result(page)
    assert page.evaluate("document.documentElement.lang") == language
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(CONTRAST) == []
    page.evaluate(axe_script())
    assert page.evaluate(RUN) == []


def test_every_control_is_reached_by_keys(opened):
    page = opened.page
    controls = page.evaluate(
        """[...document.querySelectorAll('a, button, input, select, summary')]
           .filter(e => e.checkVisibility()).map((e, place) => e.dataset.place = place).length"""
    )
    reached = set()
    for _ in range(controls + 1):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.place"))
    assert len(reached - {None}) == controls > 15
    status = page.locator(".answer [role=status]")
    page.fill("#field-0", "2")
    page.wait_for_function("() => document.querySelector('.answer [role=status]').textContent")
    assert re.match(r"Prediction: .+, [0-9.]+%", status.text_content())
