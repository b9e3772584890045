"""Margins after some rounds: their order, their shares, and their plots."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from arboleda import AdaBoostClassifier
from arboleda.diagnose import margin_distribution

mpl.use("agg")


def test_margins_match_the_truncated_model() -> None:
    X, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=40, algorithm="MH").fit(X, y)
    found = margin_distribution(model, X, y, rounds=[3, 40])
    short = AdaBoostClassifier(n_estimators=3, algorithm="MH").fit(X, y)
    np.testing.assert_allclose(found.margins[0], np.sort(short.margins(X, y)))
    np.testing.assert_allclose(found.margins[1], np.sort(model.margins(X, y)))
    whole = margin_distribution(model, X, y)
    assert whole.rounds.tolist() == [40]
    np.testing.assert_array_equal(whole.margins[0], found.margins[1])


def test_shares_frame_and_curves_agree() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=150, algorithm="discrete").fit(X, y)
    found = margin_distribution(model, X, y, rounds=[2, 150])
    errors = [1 - score for score in model.staged_score(X, y)]
    np.testing.assert_allclose(found.share_below(0.0), [errors[1], errors[-1]])
    assert found.share_below(0.2)[1] == model.margin_bound_term(X, y, 0.2)
    frame = found.to_frame()
    assert frame["n_rounds"].tolist() == [2, 150]
    assert frame["minimum"].tolist() == found.margins.min(axis=1).tolist()
    np.testing.assert_allclose(frame["error"], found.share_below(0.0))
    ax = found.plot()
    assert len(ax.get_legend().get_texts()) == 2
    curve = ax.lines[1].get_xydata()  # of 150 rounds
    at = np.searchsorted(curve[:, 0], 0.2, side="right") - 1
    assert curve[at, 1] == pytest.approx(found.share_below(0.2)[1])


def test_numbers_of_rounds_are_checked() -> None:
    X, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    for rounds in ([], [0, 2], [3, 2], [2, 2]):
        with pytest.raises(ValueError, match="rounds must be ascending integers from 1"):
            margin_distribution(model, X, y, rounds=rounds)
    with pytest.raises(
        ValueError, match="rounds must be at most 5, the rounds of the model, got 9"
    ):
        margin_distribution(model, X, y, rounds=[1, 9])
