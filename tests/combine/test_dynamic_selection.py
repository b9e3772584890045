"""Dynamic selection against the articles' definitions, written row by row.

tests/parity/test_deslib.py compares it with DESlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import beta
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from arboleda import DynamicSelectionClassifier, DynamicSelectionRegressor
from arboleda.combine import _dynamic_selection, out_of_fold_outputs
from arboleda.combine._dynamic_selection import inverse_weights, randomised_reference

METHODS = ["ola", "lca", "mcb", "knora_e", "knora_u", "des_p", "meta_des", "rrc"]


class Pool:
    """Weak trees of three classes, validation rows and query rows."""

    def __init__(self) -> None:
        X, y = make_classification(
            420, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1
        )
        self.members: list[tuple[str, Any]] = [
            (str(i), DecisionTreeClassifier(max_depth=3, max_features=2, random_state=i))
            for i in range(6)
        ]
        self.members.append(("bayes", GaussianNB()))
        for _, member in self.members:
            member.fit(X[:150], y[:150])
        self.validation, self.target = X[150:300], y[150:300]
        self.queries, self.truth = X[300:], y[300:]
        self.hits = np.array([m.predict(self.validation) == self.target for _, m in self.members]).T
        self.behaviour = np.array([m.predict(self.validation) for _, m in self.members]).T
        self.right = np.array(
            [m.predict_proba(self.validation)[range(150), self.target] for _, m in self.members]
        ).T

    def model(self, method: Any, **settings: Any) -> DynamicSelectionClassifier:
        model = DynamicSelectionClassifier(self.members, method=method, cv="prefit", **settings)
        return model.fit(self.validation, self.target)

    def nearest(self, row: Any, k: int = 7) -> Any:
        return np.argsort(((self.validation - row) ** 2).sum(axis=1), kind="stable")[:k]


POOL = Pool()


def naive_weights(method: str, row: Any, outputs: Any) -> list[float]:
    """Votes of each member for a row, from the definition in words."""
    near, members = POOL.nearest(row), range(len(POOL.members))
    hits, target = POOL.hits, POOL.target
    competence: list[float] = []
    for m in members:
        if method == "lca":
            near_class = [i for i in near if target[i] == outputs[m]]
            share = sum(hits[i, m] for i in near_class) / len(near_class) if near_class else 0
        elif method == "mcb":
            like = [i for i in near if np.mean(POOL.behaviour[i] == outputs) > 0.7] or list(near)
            share = sum(hits[i, m] for i in like) / len(like)
        elif method == "knora_e":
            run = 0
            while run < 7 and hits[near[run], m]:
                run += 1
            share = run
        else:
            share = sum(hits[i, m] for i in near) / 7
        competence.append(share)
    top = max(competence)
    if method == "knora_u":
        return [round(7 * c) for c in competence] if top else [1] * len(competence)
    if method == "des_p":
        passed = [float(c > 1 / 3) for c in competence]
        return passed if any(passed) else [1] * len(competence)
    return [float(abs(c - top) < 1e-12) for c in competence]


@pytest.mark.parametrize("method", ["ola", "lca", "mcb", "knora_e", "knora_u", "des_p"])
def test_votes_match_their_definition(method: str) -> None:
    found = POOL.model(method).predict_proba(POOL.queries)
    for row, shares in zip(POOL.queries, found, strict=True):
        outputs = np.array([m.predict([row])[0] for _, m in POOL.members])
        weights = np.array(naive_weights(method, row, outputs))
        votes = [weights[outputs == label].sum() for label in range(3)]
        np.testing.assert_allclose(shares, np.array(votes) / weights.sum(), atol=1e-12)


def test_the_randomised_reference_matches_its_integral() -> None:
    random = np.random.default_rng(0)
    outputs = random.dirichlet(np.full(3, 3.0), (1, 6))
    target = np.array([0, 1, 2, 0, 1, 2])
    found = randomised_reference(outputs, target)[:, 0]
    for supports, right, value in zip(outputs[0], target, found, strict=True):

        def density(x: float, supports: Any = supports, right: int = right) -> float:
            others = [beta.cdf(x, 3 * s, 3 - 3 * s) for k, s in enumerate(supports) if k != right]
            s = supports[right]
            return float(beta.pdf(x, 3 * s, 3 - 3 * s) * np.prod(others))

        exact, _ = integrate.quad(density, 0, 1, limit=200)
        assert value == pytest.approx(exact, abs=0.02)  # the article's 20 points
    assert randomised_reference(np.full((1, 1, 4), 0.25), np.array([2]))[0, 0] == pytest.approx(
        0.25, abs=0.01
    )


def test_rrc_weighs_all_rows_by_a_gaussian_of_their_distance() -> None:
    model = POOL.model("rrc", n_neighbors=None)
    outputs = np.array([m.predict_proba(POOL.validation) for _, m in POOL.members])
    source = randomised_reference(outputs, POOL.target)
    found = model.predict_proba(POOL.queries[:40])
    for row, shares in zip(POOL.queries[:40], found, strict=True):
        potential = np.exp(-((POOL.validation - row) ** 2).sum(axis=1))
        competence = potential @ source / potential.sum()
        chosen = competence > 1 / 3 if (competence > 1 / 3).any() else competence > -1
        predicted = np.array([m.predict([row])[0] for _, m in POOL.members])
        votes = [(chosen & (predicted == label)).sum() for label in range(3)]
        np.testing.assert_allclose(shares, np.array(votes) / chosen.sum(), atol=1e-12)


def test_meta_des_uses_the_meta_features_of_the_article() -> None:
    """Five sets of columns for each row and member; validation rows exclude themselves."""
    model = POOL.model("meta_des", meta_classifier=LogisticRegression(max_iter=1000))
    outputs = np.array([m.predict_proba(POOL.validation) for _, m in POOL.members])
    profiles = outputs.transpose(1, 0, 2).reshape(150, -1)

    def columns(row: Any, outputs: Any, skip: int | None) -> list[list[float]]:
        away = ((POOL.validation - row) ** 2).sum(axis=1)
        apart = ((profiles - outputs.ravel()) ** 2).sum(axis=1)
        if skip is not None:
            away[skip] = apart[skip] = np.inf
        near, alike = np.argsort(away, kind="stable")[:7], np.argsort(apart, kind="stable")[:5]
        return [
            [
                *POOL.hits[near, m],
                *POOL.right[near, m],
                POOL.hits[near, m].mean(),
                *np.sort(POOL.hits[alike, m]),
                outputs[m].max(),
            ]
            for m in range(len(POOL.members))
        ]

    # Rows with the same outputs are neighbours in any order, so their columns are sorted.
    learned = np.array([columns(POOL.validation[i], outputs[:, i], i) for i in range(150)])
    neighbors, alike = model._region.around_itself()[1], model._profiles.around_itself()[1]
    found = model._meta_columns(outputs, neighbors, alike).reshape(learned.shape)
    found[:, :, 15:20] = np.sort(found[:, :, 15:20], axis=2)
    ties = _tied(profiles)
    np.testing.assert_allclose(found[~ties], learned[~ties], atol=1e-12)
    assert (~ties).sum() > 20
    outputs = np.array([m.predict_proba(POOL.queries) for _, m in POOL.members])
    near = model._region.around(POOL.queries)[1]
    competence = model._meta_competence(near, outputs)
    chosen = np.where((competence > 0.5).any(axis=1, keepdims=True), competence > 0.5, True)
    votes = np.einsum("qm,mqk->qk", chosen, np.eye(3)[outputs.argmax(axis=2)])
    np.testing.assert_allclose(
        model.predict_proba(POOL.queries), votes / chosen.sum(axis=1, keepdims=True)
    )


def test_consensus_is_the_margin_of_the_votes() -> None:
    behaviour = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [2, 2, 1, 2], [0, 1, 2, 2]])
    consensus = _dynamic_selection.consensus
    np.testing.assert_array_equal(consensus(behaviour, 3), [1.0, 0.0, 0.5, 0.25])
    np.testing.assert_array_equal(
        _dynamic_selection.consensus(np.zeros((2, 3), int), 1), [1.0, 1.0]
    )


class Recording(LogisticRegression):  # type: ignore[misc]
    """Record the training rows."""

    def fit(self, X: Any, y: Any) -> Any:
        self.given_ = X, y
        return super().fit(X, y)


@pytest.mark.parametrize("threshold", [0.3, 0.7, 1.0])
def test_meta_des_learns_only_from_rows_of_low_consensus(threshold: float) -> None:
    second = Recording(max_iter=1000)
    whole = POOL.model("meta_des", meta_classifier=second)
    model = POOL.model("meta_des", meta_classifier=second, consensus_threshold=threshold)
    votes = [np.bincount(row, minlength=3) for row in whole._behaviour]
    margins = np.array([np.sort(v)[-1] - np.sort(v)[-2] for v in votes]) / len(POOL.members)
    rows = np.flatnonzero(margins < threshold)
    assert 0 < len(rows) < 150
    for found, given in zip(
        model.meta_classifier_.given_, whole.meta_classifier_.given_, strict=True
    ):
        expected = np.reshape(given, (150, len(POOL.members), -1))[rows]
        np.testing.assert_array_equal(np.ravel(found), expected.ravel())
    assert not np.array_equal(model.meta_classifier_.coef_, whole.meta_classifier_.coef_)


def test_meta_des_learns_from_all_rows_when_members_always_agree() -> None:
    twice = [("a", POOL.members[0][1]), ("b", POOL.members[0][1])]
    models = [
        DynamicSelectionClassifier(
            twice, method="meta_des", cv="prefit", consensus_threshold=threshold
        ).fit(POOL.validation, POOL.target)
        for threshold in (None, 0.5)
    ]
    assert models[1].meta_classifier_ is not None
    np.testing.assert_array_equal(*(model.predict_proba(POOL.queries) for model in models))


def _tied(profiles: Any) -> Any:
    """Rows whose fifth and sixth nearest profiles are equally far."""
    squares = ((profiles[:, None] - profiles) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    nearest = np.sort(squares, axis=1)
    return np.abs(nearest[:, 4] - nearest[:, 5]) < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_members_fitted_by_the_ensemble_are_evaluated_out_of_fold(method: Any, voting: Any) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    members = [
        ("stump", DecisionTreeClassifier(max_depth=1)),
        ("machine", LinearSVC()),
        ("bayes", GaussianNB()),
    ]
    model = DynamicSelectionClassifier(members, method=method, voting=voting).fit(X, names)
    outputs = out_of_fold_outputs(members, X, names)
    np.testing.assert_array_equal(model._hits.T, outputs.choices() == y)
    assert model.n_judged_ == 150
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert model.score(X, names) > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_a_single_member_predicts_alone(method: Any) -> None:
    model = DynamicSelectionClassifier([("bayes", GaussianNB())], method=method, voting="soft").fit(
        POOL.validation, POOL.target
    )
    expected = GaussianNB().fit(POOL.validation, POOL.target).predict_proba(POOL.queries)
    np.testing.assert_allclose(model.predict_proba(POOL.queries), expected)


def test_predictions_do_not_depend_on_the_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = [POOL.model(method) for method in METHODS]
    whole = [model.predict_proba(POOL.queries) for model in models]
    monkeypatch.setattr(_dynamic_selection, "_BATCH", 50)
    for model, expected in zip(models, whole, strict=True):
        np.testing.assert_array_equal(model.predict_proba(POOL.queries), expected)


def test_members_good_in_different_regions_are_better_together() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (600, 2))
    y = np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 1] < 0).astype(int)
    right, left = X[:, 0] > 0, X[:, 0] <= 0
    members = [
        ("right", LogisticRegression().fit(X[right], y[right])),
        ("left", LogisticRegression().fit(X[left], y[left])),
    ]
    for method in ("ola", "knora_e", "meta_des", "rrc"):
        model = DynamicSelectionClassifier(members, method=method, cv="prefit")  # type: ignore[arg-type]
        model.fit(X[:400], y[:400])
        assert model.score(X[400:], y[400:]) > 0.9
        assert max(m.score(X[400:], y[400:]) for _, m in members) < 0.65


@pytest.mark.parametrize("n_rows", [4, 6, 8])
def test_all_rows_are_neighbours_when_there_are_fewer_than_k(n_rows: int) -> None:
    X, y = POOL.validation[:n_rows], POOL.target[:n_rows]
    for method in METHODS:
        model = DynamicSelectionClassifier(POOL.members, method=method, cv="prefit")  # type: ignore[arg-type]
        assert np.isfinite(model.fit(X, y).predict_proba(POOL.queries)).all()


def test_columns_without_distances_are_refused_with_a_remedy() -> None:
    X = POOL.validation.copy()
    X[3, 2] = np.nan
    members = [("tree", DecisionTreeClassifier(max_depth=3))]
    with pytest.raises(ValueError, match=r"need columns of finite numbers.*make_pipeline"):
        DynamicSelectionClassifier(members).fit(X, POOL.target)
    assert not get_tags(DynamicSelectionClassifier(members)).input_tags.allow_nan


def test_an_empty_table_raises_the_error_of_the_members() -> None:
    rows = np.arange(20.0)[:, None]
    model = DynamicSelectionClassifier([("line", LogisticRegression())]).fit(rows, rows[:, 0] > 9)
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(rows[:0])


def test_tiny_distances_have_finite_weights() -> None:
    weights = inverse_weights(np.array([[1e-320, 2e-320, 1.0], [0.0, 1e-320, 0.0]]))
    np.testing.assert_allclose(weights, [[2 / 3, 1 / 3, 0], [0.5, 0, 0.5]], rtol=1e-3, atol=1e-9)


class TestRegression:
    X, y = load_diabetes(return_X_y=True)

    def members(self) -> list[tuple[str, Any]]:
        return [
            ("ridge", Ridge(0.1)),
            ("near", KNeighborsRegressor()),
            ("tree", DecisionTreeRegressor(max_depth=2)),
        ]

    @pytest.mark.parametrize("method", ["ds", "dw", "dws"])
    def test_predictions_match_their_definition(self, method: Any) -> None:
        X, y = self.X, self.y
        model = DynamicSelectionRegressor(self.members(), method=method).fit(X[:350], y[:350])
        errors = np.abs(out_of_fold_outputs(self.members(), X[:350], y[:350]).outputs - y[:350])
        fitted = [member.fit(X[:350], y[:350]) for _, member in self.members()]
        for row, value in zip(X[350:], model.predict(X[350:]), strict=True):
            distances = np.sqrt(((X[:350] - row) ** 2).sum(axis=1))
            near = np.argsort(distances)[:7]
            local = errors[:, near] @ (1 / distances[near]) / (1 / distances[near]).sum()
            predictions = np.array([member.predict([row])[0] for member in fitted])
            if method == "ds":
                assert value == pytest.approx(predictions[local.argmin()])
                continue
            weights = 1 / local
            if method == "dws":
                weights[local > (local.min() + local.max()) / 2] = 0
            assert value == pytest.approx(weights @ predictions / weights.sum())

    def test_time_ordered_folds_skip_the_first_rows(self) -> None:
        model = DynamicSelectionRegressor(self.members(), cv=TimeSeriesSplit(3))
        model.fit(self.X, self.y)
        assert model.n_judged_ == 3 * (442 // 4)
        assert np.isfinite(model.predict(self.X)).all()

    def test_only_neighbours_at_distance_zero_count_if_there_are_any(self) -> None:
        weights = inverse_weights(np.array([[0.0, 1.0, 0.0], [1.0, 2.0, 4.0]]))
        np.testing.assert_allclose(weights, [[0.5, 0, 0.5], [4 / 7, 2 / 7, 1 / 7]])
