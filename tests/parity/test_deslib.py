"""Dynamic selection beside DESlib (its 0.3.7), on the settings that both have: the same labels.

Where they would differ by choice, DESlib is set to ours: equally competent members all vote
("all", where it would take the first, one by chance, or one a tenth ahead); the second model of
META-DES is a logistic regression (there naive Bayes); "rrc" looks at all rows. No rows are pruned.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import validate_data

from arboleda import DynamicSelectionClassifier

ALL_OF_EQUALS = {"selection_method": "all"}
TWINS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ola": ("dcs.ola", "OLA", ALL_OF_EQUALS),
    "lca": ("dcs.lca", "LCA", ALL_OF_EQUALS),
    "mcb": ("dcs.mcb", "MCB", {**ALL_OF_EQUALS, "similarity_threshold": 0.7}),
    "knora_e": ("des.knora_e", "KNORAE", {}),
    "knora_u": ("des.knora_u", "KNORAU", {}),
    "des_p": ("des.des_p", "DESP", {}),
    "meta_des": ("des.meta_des", "METADES", {"Kp": 5, "Hc": 1.0, "selection_threshold": 0.5}),
    "rrc": ("des.probabilistic.rrc", "RRC", {"k": None}),
}


def problem(seed: int, n_classes: int) -> tuple[list[Any], Any, Any, Any]:
    """Weak members, each on other rows; validation rows with labels, and query rows."""
    X, y = make_classification(
        1000, 6, n_informative=5, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=seed
    )
    members: list[Any] = [
        DecisionTreeClassifier(max_depth=3, max_features=2, min_samples_leaf=5, random_state=i)
        for i in range(6)
    ]
    members.append(GaussianNB())
    random = np.random.default_rng(seed)
    for member in members:
        rows = random.choice(300, 150, replace=False)
        member.fit(X[rows], y[rows])
    return members, X[300:600], y[300:600], X[600:]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", TWINS)
def test_predictions_match_deslib(
    monkeypatch: pytest.MonkeyPatch, method: Any, n_classes: int
) -> None:
    pytest.importorskip("deslib")
    module, name, settings = TWINS[method]
    n_neighbors = None if method == "rrc" else 7
    second: dict[str, Any] = {}
    if method == "meta_des":
        second = {"meta_classifier": LogisticRegression(max_iter=1000)}
    members, validation_rows, target, queries = problem(n_classes, n_classes)
    kind = getattr(importlib.import_module(f"deslib.{module}"), name)
    if not hasattr(kind, "_validate_data"):  # of later scikit-learns it is a function
        monkeypatch.setattr(kind, "_validate_data", validate_data, raising=False)
    twin = kind(members, **{"k": n_neighbors, **settings, **second}, n_jobs=1)
    model = DynamicSelectionClassifier(
        [(str(i), member) for i, member in enumerate(members)],
        method=method,
        n_neighbors=n_neighbors,
        cv="prefit",
        **second,
    )
    expected = twin.fit(validation_rows, target).predict(queries)
    found = model.fit(validation_rows, target).predict(queries)
    np.testing.assert_array_equal(found, expected)
    assert any((member.predict(queries) != found).any() for member in members)
