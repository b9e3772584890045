"""The textbook's rules: by their definitions, in a study, and as files."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from arboleda._locale import use_locale
from arboleda.combine._voting import CLASS_RULES, VALUE_RULES
from arboleda.reports.fact_messages import translate
from arboleda.reports.translation import get_locale
from arboleda.study import Study, runner
from arboleda.study.artifacts.combined_file import deserialize_combined, serialize_combined
from arboleda.study.artifacts.exports import StudyError, export
from arboleda.study.combination.methods import METHODS, TEXTBOOK
from arboleda.study.combination.rules import choose_best_few, compute_losses, make_textbook_fit
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    load_predictions,
    predictions_path,
)
from arboleda.study.runner import combination_methods

pytestmark = pytest.mark.usefixtures("undrawn")


def make_classes(n: int = 300, n_members: int = 7, n_classes: int = 3) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    y = draw.integers(0, n_classes, n)
    strength = np.linspace(0.0, 2.0, n_members)[:, None, None]
    logits = strength * np.eye(n_classes)[y] + draw.normal(size=(n_members, n, n_classes))
    p = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True), y


def make_values(n: int = 300) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    y = draw.normal(50.0, 10.0, n)
    return y + draw.normal(size=(7, n)) * np.linspace(20.0, 2.0, 7)[:, None], y


def compute_contributions(numbers: Any) -> Any:
    return numbers / numbers.sum(axis=1, keepdims=True)


def by_definition(name: str, member_outputs: Any, y: Any) -> Any:
    """The rules of METHODS written out, for the members that take part."""
    is_classes = member_outputs.ndim == 3
    finish = compute_contributions if is_classes else np.asarray
    n_members, n_rows = member_outputs.shape[:2]
    ordered = np.sort(member_outputs, axis=0)
    if name in ("min", "max", "median"):
        return finish(
            {"min": np.min, "max": np.max, "median": np.median}[name](member_outputs, axis=0)
        )
    if name == "trimmed":
        return finish(ordered[1:-1].mean(axis=0))
    if name == "geometric":
        return compute_contributions(stats.gmean(member_outputs, axis=0))
    if name == "weighted" and not is_classes:
        weights = 1 / np.mean((member_outputs - y) ** 2, axis=1)
        return weights @ member_outputs / weights.sum()
    n_classes = member_outputs.shape[2]
    votes = np.eye(n_classes)[member_outputs.argmax(axis=2)]
    if name == "majority":
        return votes.mean(axis=0)
    right = (member_outputs.argmax(axis=2) == y).mean(axis=1)
    if name == "weighted":
        weights = np.log(right / (1 - right)) + np.log(n_classes - 1)
        return compute_contributions(np.exp(np.einsum("l,lnk->nk", weights, votes)))
    prior = np.bincount(y) / n_rows
    translate = np.tile(prior, (n_rows, 1))
    for member in range(n_members):
        for k in range(n_classes):
            counts = votes[member][y == k].sum(axis=0)
            likely = (counts + 1 / n_classes) / (counts.sum() + 1)
            translate[:, k] *= likely[member_outputs[member].argmax(axis=1)]
    return compute_contributions(translate)


CASES = [(name, True) for name in CLASS_RULES if name != "mean"]
CASES += [(name, False) for name in VALUE_RULES if name != "mean"]


@pytest.mark.parametrize(("name", "is_classes"), CASES)
def test_a_rule_combines_the_best_five_by_its_definition(name: Any, is_classes: bool) -> None:
    outputs, y = make_classes() if is_classes else make_values()
    rule = make_textbook_fit(name)(outputs[:, :200], y[:200], 0)
    best = np.argsort(compute_losses(outputs[:, :200], y[:200]))[:5]
    assert set(rule.members) == set(best.tolist()) == {2, 3, 4, 5, 6}
    member_outputs = outputs[list(rule.members)]
    if rule.weights is None and rule.confusion is None:
        expected = by_definition(name, member_outputs[:, 200:], y[200:])
        np.testing.assert_allclose(rule(outputs[:, 200:]), expected, rtol=1e-12)
    else:
        expected = by_definition(name, member_outputs[:, :200], y[:200])
        np.testing.assert_allclose(rule(outputs[:, :200]), expected, rtol=1e-9)
    shares = rule.shares(7)
    assert sum(shares) == pytest.approx(1.0)
    assert shares[0] == shares[1] == 0.0
    places, used = rule.select_used()
    assert np.array_equal(used(outputs[places]), rule(outputs))


@pytest.mark.parametrize(("name", "is_classes"), CASES)
def test_a_rule_is_restored_from_its_file(name: Any, is_classes: bool) -> None:
    outputs, y = make_classes() if is_classes else make_values()
    places, rule = make_textbook_fit(name)(outputs, y, 0).select_used()
    members = [(str(place), [f"model {place}"]) for place in places]
    content = serialize_combined(members, rule, 4, 3 if is_classes else 0)
    read = deserialize_combined(content, lambda key: key)  # type: ignore[arg-type, return-value]
    assert np.array_equal(read.rule(outputs[places]), rule(outputs[places]))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "best"},
        {"name": "majority"},
        {"name": "naive_bayes"},
        {"weights": None},
        {"weights": [1.0]},
        {"weights": ["1"] * 5},
        {"name": "naive_bayes", "weights": None, "confusion": [[[1.0]]]},
        {"name": "naive_bayes", "weights": None, "confusion": [[[-1.0] * 3] * 3] * 5},
        {"name": "naive_bayes", "weights": None, "confusion": [[[0.0] * 3] * 3] * 5},
    ],
)
def test_a_damaged_rule_is_refused(change: dict[str, Any]) -> None:
    outputs, y = make_classes()
    _, rule = make_textbook_fit("weighted")(outputs, y, 0).select_used()
    stored = json.loads(serialize_combined([(str(i), ["m"]) for i in range(5)], rule, 4, 3))
    stored["rule"] |= change
    with pytest.raises(ValueError, match="rule|weights"):
        deserialize_combined(json.dumps(stored).encode(), lambda key: key)  # type: ignore[arg-type, return-value]


def test_members_at_chance_level_get_weight_zero() -> None:
    """Members that are right as often as not have the weight 0, each and all."""
    y = np.tile([0, 1], 100)
    outputs = np.tile([[0.6, 0.4]], (5, 200, 1))
    places, rule = make_textbook_fit("weighted")(outputs, y, 0).select_used()
    assert rule.weights == (0.0,) * 5
    content = serialize_combined([(str(place), ["m"]) for place in places], rule, 1, 2)
    read = deserialize_combined(content, lambda key: key)  # type: ignore[arg-type, return-value]
    np.testing.assert_allclose(read.rule(outputs), 0.5)


def test_a_share_is_the_weight_of_a_vote() -> None:
    outputs, y = make_classes()
    rule = make_textbook_fit("weighted")(outputs, y, 0)
    right = (outputs[list(rule.members)].argmax(axis=2) == y).mean(axis=1)
    votes = np.log(right / (1 - right)) + np.log(2)
    shares = np.array(rule.shares(7))[list(rule.members)]
    np.testing.assert_allclose(shares, votes / votes.sum())


def test_they_are_used_when_the_whole_catalogue_is_selected() -> None:
    def select_methods(*words: str) -> Any:
        return combination_methods(SimpleNamespace(wanted=words))  # type: ignore[arg-type]

    assert select_methods("core") == METHODS
    assert select_methods("all") == select_methods("core", "all") == (*METHODS, *TEXTBOOK)


@pytest.mark.parametrize(
    ("table", "models"),
    [("wine", "lda,naive_bayes,cart,svm"), ("diabetes", "linear,cart,neighbours,lasso")],
)
def test_they_are_listed_in_a_study_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, models: str
) -> None:
    monkeypatch.setattr(runner, "METHODS", TEXTBOOK)
    Study(table, target="target", output_dir=tmp_path, models=models, n_jobs=1).run()
    read = Study.load(tmp_path)
    wanted = {m.key for m in TEXTBOOK if m.suits(4, 100, 3 if table == "wine" else 0)}
    assert wanted < set(read.keys)
    assert len(wanted) == (8 if table == "wine" else 5)
    rows, n_classes = read.test_rows(), 3 if table == "wine" else 0
    for key in wanted:
        facts = next(m for m in read.facts["models"] if m["key"] == key)
        assert facts["ensemble"]["method"] == "textbook"
        model = read.model(key)
        kept = load_predictions(
            predictions_path(tmp_path / PREDICTIONS_DIR, key, {}, "test"), len(rows), n_classes
        )
        assert kept is not None
        if n_classes:
            np.testing.assert_allclose(model.predict_proba(rows.X), kept.score, atol=1e-12)
            right = float(np.mean(model.predict(rows.X) == rows.y))
            assert right == pytest.approx(facts["test"]["metrics"]["accuracy"])
        else:
            np.testing.assert_allclose(model.predict(rows.X), kept.predicted, rtol=1e-12)
    with pytest.raises(StudyError, match="has no operators"):
        export(tmp_path, tmp_path / "m.onnx", model="median")


def test_they_have_names_in_every_language() -> None:
    with use_locale(get_locale("es")):
        names = {translate(method.name) for method in TEXTBOOK}
    assert "Mediana de los modelos" in names
    assert len(names) == len(TEXTBOOK)
    assert not names & {method.name for method in TEXTBOOK}


def test_the_best_few_are_all_models_if_there_are_no_more() -> None:
    outputs, y = make_classes(n_members=3)
    assert set(choose_best_few(outputs, y)) == {0, 1, 2}
