"""In Chromium a page computes the numbers of models of all kinds, 10,000 rows each."""

import base64

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

pytestmark = pytest.mark.slow
N_ROWS = 10_000

# Computes the outputs, the scores and the first sums of trees of rows, as bytes in base64.
COMPUTE = """async text => {
  const read = id => document.getElementById(id).textContent;
  const model = new Model(JSON.parse(read("spec")), await inflate(read("tables")));
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const {output, scores, steps} = model.spec;
  const trees = Math.max(steps.findIndex(step => step.op === "Trees"), 0);
  const found = model.compute(new Float64Array(bytes.buffer), [output, scores, trees]);
  return found.map(part => {
    const all = new Uint8Array(part.d.buffer);
    let letters = "";
    for (let i = 0; i < all.length; i += 32768) {
      letters += String.fromCharCode(...all.subarray(i, i + 32768));
    }
    return btoa(letters);
  });
}"""


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_rows_in_chromium(name, open_page, tmp_path):
    case = make_case(name, N_ROWS)
    path = tmp_path / "page.html"
    path.write_text(ab.to_page(case.model), encoding="utf-8")
    opened = open_page(path)
    text = base64.b64encode(np.ascontiguousarray(case.numbers).tobytes()).decode()
    outputs, scores, sums = (
        np.frombuffer(base64.b64decode(part)).reshape(N_ROWS, -1)
        for part in opened.page.evaluate(COMPUTE, text)
    )
    assert_allclose(outputs, expected_outputs(case), rtol=1e-13, atol=1e-15)
    if name.endswith(WITH_EXPONENTIALS):
        return
    expected = expected_scores(case)
    if hasattr(case.model, "_raw_scores"):
        assert_array_equal(sums, expected)
    elif hasattr(case.model, "estimator_weights_") and hasattr(case.model, "decision_function"):
        assert_array_equal(scores[:, -expected.shape[1] :], expected)
    else:
        assert_array_equal(outputs, expected)
