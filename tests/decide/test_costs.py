"""Costs in any form: read into the order of the classes, refused by name."""

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from arboleda.decide._costs import (
    best_decisions,
    expected_costs,
    read_cost_matrix,
    read_row_costs,
)

_NAMES = np.array(["ham", "spam"])
_MATRIX = np.array([[0.0, 10.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    "given",
    [
        [[0, 10], [1, 0]],
        {("ham", "spam"): 10, ("spam", "ham"): 1},
        {("ham", "spam"): 10},
        {"ham": {"spam": 10}, "spam": {"ham": 1}},
        {"ham": {"ham": 0, "spam": 10}},
        {("spam", "ham"): 1, ("spam", "spam"): 0, ("ham", "ham"): 0, ("ham", "spam"): 10.0},
        pd.DataFrame([[0, 1], [10, 0]], index=["spam", "ham"], columns=["spam", "ham"]),
        pd.DataFrame({"ham": {"ham": 0, "spam": 1}, "spam": {"spam": 0, "ham": 10}}),
    ],
    ids=[
        *("array", "pairs", "one pair", "nested", "partly nested"),
        *("all pairs", "frame", "frame of columns"),
    ],
)
def test_all_forms_give_the_same_costs(given: Any) -> None:
    np.testing.assert_array_equal(read_cost_matrix(given, _NAMES), _MATRIX)


def test_errors_cost_one_by_default() -> None:
    np.testing.assert_array_equal(
        read_cost_matrix(None, np.arange(3)), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    )


def test_labels_of_other_types_are_accepted_as_keys() -> None:
    costs = read_cost_matrix({(True, False): 3, (False, True): 2}, np.array([False, True]))
    assert costs.tolist() == [[0, 2], [3, 0]]
    frame = pd.DataFrame([[0, 1], [2, 0]], index=[5, 7], columns=[5, 7])
    assert read_cost_matrix(frame, np.array([5, 7])).tolist() == [[0, 1], [2, 0]]


@pytest.mark.parametrize("classes", [np.array([0, 1]), np.array([False, True]), _NAMES])
def test_costs_in_json_name_classes_by_their_text(classes: Any) -> None:
    """The file that the command takes, in which all names are texts."""
    no, yes = (str(label) for label in classes.tolist())
    given = json.loads(json.dumps({no: {yes: 5}, yes: {no: 2}}))
    assert read_cost_matrix(given, classes).tolist() == [[0, 5], [2, 0]]
    costs = read_row_costs(given, np.zeros((2, 2)), classes, 3)
    assert costs[2].tolist() == [[0, 5], [2, 0]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[0, 1, 1]] * 3, r"shape \(3, 3\), but there are 2 classes, \['ham', 'spam'\]"),
        ([0, 1], r"shape \(2,\)"),
        ([[0, "x"], [1, 0]], "cost_matrix must hold numbers, got"),
        ([[0, np.nan], [1, 0]], r"nan for the pair \(true, predicted\) = \('ham', 'spam'\)"),
        ([[0, 1], [np.inf, 0]], r"inf for the pair \(true, predicted\) = \('spam', 'ham'\)"),
        ([[0, 1], [1e308, 0]], "costs must be finite numbers up to 4e"),
        ({"ham": {"Spam": 1}}, r"names the class 'Spam' in \('ham', 'Spam'\), but the classes are"),
        ({"ham": {"spam": [1, 2]}}, "one number is needed"),
        ({("ham", "Spam"): 1}, r"names the class 'Spam' in \('ham', 'Spam'\), but the classes are"),
        ({"ham": 1}, r"has the key 'ham' with the value 1: use \{true: \{predicted: cost\}\}"),
        ({("ham", "spam"): [1, 2]}, "one number is needed"),
        (pd.DataFrame([[0, 1], [1, 0]]), r"index \(true classes\) \[0, 1\], but the classes are"),
        (
            pd.DataFrame([[0, 1], [1, 0]], index=["ham", "spam"], columns=["ham", "ham"]),
            r"columns \['ham', 'ham'\]",
        ),
        (pl.DataFrame({"ham": [0, 1], "spam": [1, 0]}), "whose rows have no names"),
    ],
)
def test_mismatched_inputs_are_refused(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_cost_matrix(given, _NAMES)


def test_costs_of_rows_by_pairs_keep_the_other_costs() -> None:
    costs = read_row_costs({("ham", "spam"): [3, 4, 5], ("spam", "ham"): 2}, _MATRIX, _NAMES, 3)
    assert costs[:, 0, 1].tolist() == [3, 4, 5]
    assert costs[:, 1, 0].tolist() == [2, 2, 2]
    assert costs[:, 0, 0].tolist() == [0, 0, 0]
    whole = read_row_costs(np.arange(12).reshape(3, 2, 2), _MATRIX, _NAMES, 3)
    assert whole[2, 1, 0] == 10


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((2, 2)), r"shape \(2, 2\), but there are 3 rows and 2 classes"),
        ({("ham", "spam"): [1, 2]}, r"costs of \('ham', 'spam'\) have the shape \(2,\)"),
        ({("ham", "eggs"): 1}, "names the class 'eggs'"),
        ({("ham", "spam"): [1, np.nan, 2]}, r"\('ham', 'spam'\) in row 1"),
    ],
)
def test_mismatched_costs_of_rows_are_refused(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_row_costs(given, _MATRIX, _NAMES, 3)


def test_decisions_match_their_definition() -> None:
    draw = np.random.default_rng(0)
    posteriors = draw.dirichlet(np.ones(4), size=100)
    costs = draw.normal(size=(100, 4, 4))
    for matrix in (costs[0], costs):
        decided = best_decisions(posteriors, matrix)
        for i, p in enumerate(posteriors):
            of_row = matrix if matrix.ndim == 2 else matrix[i]
            expected = [sum(of_row[k, j] * p[k] for k in range(4)) for j in range(4)]
            assert decided[i] == int(np.argmin(expected))
            np.testing.assert_allclose(expected_costs(posteriors, matrix)[i], expected)


def test_without_costs_the_decision_is_the_largest_posterior_to_the_last_bit() -> None:
    posteriors = np.array([[0.1 + 0.2, 0.3, 0.4 - 1e-16], [0.3, 0.1 + 0.2, 0.4 - 1e-16]])
    posteriors[:, 2] = 0.3
    assert best_decisions(posteriors, 1 - np.eye(3)).tolist() == posteriors.argmax(axis=1).tolist()


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e300])
def test_the_unit_of_the_costs_does_not_matter(scale: float) -> None:
    posteriors = np.array([[1e-5, 1 - 1e-5], [0.2, 0.8], [0.05, 0.95]])
    assert best_decisions(posteriors, scale * _MATRIX).tolist() == [1, 0, 1]
