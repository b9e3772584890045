"""The engine of a page, run by Node, computes the numbers of the model."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.page_export.page_models import (
    NAMES,
    WITH_EXPONENTIALS,
    expected_outputs,
    expected_scores,
    make_case,
)

import arboleda as ab
from arboleda.explain import shap_values

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


class Computed:
    """What the engine of a page computed."""

    def __init__(self, folder, n_rows):
        self.outputs, self.scores, self.sums = (
            np.fromfile(folder / f"{name}.f64").reshape(n_rows, -1)
            for name in ("outputs", "scores", "sums")
        )
        shap = folder / "shap.json"
        self.shap = json.loads(shap.read_text()) if shap.exists() else None

    def raw_scores(self, case):
        """The scores that the model adds up, before exponentials."""
        if hasattr(case.model, "_raw_scores"):
            return self.sums
        expected = expected_scores(case)
        has_scores = hasattr(case.model, "decision_function")
        return (self.scores if has_scores else self.outputs)[:, -expected.shape[1] :]


def run_engine(*folders):
    script = Path(__file__).parent / "engine.cjs"
    done = subprocess.run([NODE, script, *folders], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """The cases of all kinds, with what one process of Node computed for them."""
    cases, folders = {}, []
    for name in NAMES:
        case = make_case(name)
        folder = tmp_path_factory.mktemp("page")
        (folder / "page.html").write_text(ab.to_page(case.model), encoding="utf-8")
        case.numbers.tofile(folder / "rows.f64")
        cases[name] = case
        folders.append(folder)
    run_engine(*folders)
    return {
        name: (case, Computed(folder, len(case.numbers)))
        for (name, case), folder in zip(cases.items(), folders, strict=True)
    }


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_the_model(name, computed):
    case, page = computed[name]
    expected = expected_outputs(case)
    if name.startswith("regressor") and not name.endswith("poisson"):
        assert_array_equal(page.outputs, expected)
    else:
        assert_allclose(page.outputs, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("classifier")])
def test_labels_are_those_of_the_model(name, computed):
    case, page = computed[name]
    labels = case.model.classes_[page.scores.argmax(axis=1)]
    assert_array_equal(labels, case.model.predict(case.rows))


@pytest.mark.parametrize("name", [n for n in NAMES if not n.endswith(WITH_EXPONENTIALS)])
def test_raw_scores_have_the_bits_of_the_model(name, computed):
    case, page = computed[name]
    assert_array_equal(page.raw_scores(case), expected_scores(case))


@pytest.mark.parametrize("name", NAMES)
def test_shapley_values_are_those_of_the_library(name, computed):
    case, page = computed[name]
    if page.shap is None:
        with pytest.raises((TypeError, ValueError)):
            shap_values(case.model, case.rows[:1])
        return
    n = len(page.shap)
    expected = shap_values(case.model, case.rows[:n])
    values = np.array([row["values"] for row in page.shap])
    assert_allclose(values, expected.values.reshape(n, -1), rtol=1e-9, atol=1e-12)
    base = np.array([row["base"] for row in page.shap])
    assert_allclose(base, expected.base_values.reshape(n, -1), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n_rows", [31, 1000])
def test_blocks_and_groups_of_rows_do_not_change_the_bits(n_rows, tmp_path):
    case = make_case("regressor: hist", n_rows)  # groups of 4, blocks of 256
    (tmp_path / "page.html").write_text(ab.to_page(case.model), encoding="utf-8")
    case.numbers.tofile(tmp_path / "rows.f64")
    run_engine(tmp_path)
    assert_array_equal(np.fromfile(tmp_path / "outputs.f64"), case.model.predict(case.rows))
