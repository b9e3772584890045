"""Malformed sparse matrices, and every public function that may be given one.

As a script it gives them to the named estimators and prints what did not end in
a `ValueError` of one sentence; it is a process of its own because a fault here is a crash.
"""

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags

import arboleda

N_ROWS, N_COLUMNS = 60, 6
# Methods of estimators that take a table, by its parameters' names.
TABLES = ("X", "X_val", "Y")


def sound(form: str = "csr", index: str = "i4") -> Any:
    """A sparse matrix of some format and type of index, with two separable classes."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N_ROWS, N_COLUMNS)) < 0.5, rng.integers(1, 9, (N_ROWS, N_COLUMNS)), 0)
    made = sparse.coo_array(X.astype(float)).asformat(form)
    for name in ("indices", "indptr", "offsets"):
        if hasattr(made, name):
            setattr(made, name, getattr(made, name).astype(index))
    if form == "coo":
        made.coords = tuple(places.astype(index) for places in made.coords)
    return made


def target(classes: bool) -> Any:
    dense = sound().toarray()
    return (dense[:, 0] > 2).astype(int) if classes else dense[:, 0] + dense[:, 1]


def _put(array: Any, place: int, value: int) -> None:
    array[place] = value


def malformed() -> Iterator[tuple[str, Any]]:
    """Each as what is wrong, and the matrix."""

    def with_fault(form: str, index: str, fault: Callable[[Any], None]) -> Any:
        made = sound(form, index)
        fault(made)
        return made

    far = {"i4": 2**31 - 1, "i8": 2**62}
    for form in ("csr", "csc", "bsr"):
        for index in ("i4", "i8"):
            faults: dict[str, Callable[[Any], None]] = {
                "index one too high": lambda m: _put(m.indices, 3, max(m.shape)),
                "index far too high": lambda m, i=index: _put(m.indices, 3, far[i]),
                "negative index": lambda m: _put(m.indices, 3, -1),
                "very negative index": lambda m, i=index: _put(m.indices, 3, -far[i]),
                "indptr falls": lambda m: _put(m.indptr, 2, m.indptr[-1]),
                "indptr below zero": lambda m: _put(m.indptr, 2, -5),
                "indptr begins late": lambda m: _put(m.indptr, 0, 1),
                "indptr ends beyond the entries": lambda m, i=index: _put(m.indptr, -1, far[i]),
                "indptr short": lambda m: setattr(m, "indptr", m.indptr[:-2]),
                "indptr long": lambda m: setattr(m, "indptr", np.append(m.indptr, m.indptr[-1])),
                "indptr empty": lambda m: setattr(m, "indptr", m.indptr[:0]),
                "indices short": lambda m: setattr(m, "indices", m.indices[:4]),
                "data short": lambda m: setattr(m, "data", m.data[:4]),
                "indices of floats": lambda m: setattr(m, "indices", m.indices.astype(float)),
                "indices of two axes": lambda m: setattr(m, "indices", m.indices[:, None]),
                "data of another number of axes": lambda m: setattr(m, "data", m.data[None]),
                "indptr a list": lambda m: setattr(m, "indptr", m.indptr.tolist()),
            }
            for what, fault in faults.items():
                yield f"{form} {index}: {what}", with_fault(form, index, fault)
    for index in ("i4", "i8"):
        for axis, across in enumerate(("row", "column")):
            for value in (N_ROWS if axis == 0 else N_COLUMNS, far[index], -1, -far[index]):
                yield (
                    f"coo {index}: {across} {value}",
                    with_fault("coo", index, lambda m, a=axis, v=value: _put(m.coords[a], 3, v)),
                )

    def short(m: Any) -> None:
        m.coords = (m.coords[0][:4], m.coords[1])

    yield "coo: rows short", with_fault("coo", "i4", short)
    yield "coo: data short", with_fault("coo", "i4", lambda m: setattr(m, "data", m.data[:4]))
    for index in ("i4", "i8"):
        yield (
            f"dia {index}: offset out of range",
            with_fault("dia", index, lambda m, i=index: _put(m.offsets, 0, -far[i])),
        )
        yield (
            f"dia {index}: an offset twice",
            with_fault("dia", index, lambda m: _put(m.offsets, 0, m.offsets[1])),
        )
    yield (
        "dia: offsets missing",
        with_fault("dia", "i4", lambda m: setattr(m, "offsets", m.offsets[:2])),
    )
    yield "lil: column too high", with_fault("lil", "i4", lambda m: _put(m.rows[2], -1, 99))
    yield "lil: column negative", with_fault("lil", "i4", lambda m: _put(m.rows[2], 0, -1))
    yield "lil: value missing", with_fault("lil", "i4", lambda m: m.data[2].pop())
    yield "lil: place missing", with_fault("lil", "i4", lambda m: m.rows[2].pop())
    yield "lil: rows missing", with_fault("lil", "i4", lambda m: setattr(m, "rows", m.rows[:9]))
    yield "dok: column too high", with_fault("dok", "i4", lambda m: m._dict.update({(0, 99): 1.0}))
    yield "dok: row negative", with_fault("dok", "i4", lambda m: m._dict.update({(-70, 0): 1.0}))
    yield "dok: one place", with_fault("dok", "i4", lambda m: m._dict.update({3: 1.0}))
    yield "csr of one axis", sparse.csr_array(np.arange(6.0))


def one_of_each_kind() -> list[tuple[str, Any]]:
    """Return those that crash code following their indices: one per format and index type."""
    wanted = ("index far too high", "indptr falls", "negative index", "row -1", "99", "twice")
    seen: set[tuple[str, str]] = set()
    kept = []
    for what, matrix in malformed():
        key = what.partition(":")[0], next((w for w in wanted if what.endswith(w)), "")
        if key[1] and key not in seen:
            seen.add(key)
            kept.append((what, matrix))
    return kept


def estimators() -> dict[str, Any]:
    """Every public estimator by its class's name, quick to fit, with the members it needs."""
    made: dict[str, Any] = {}
    for name in arboleda.__all__:
        kind = getattr(arboleda, name)
        if not inspect.isclass(kind) or not hasattr(kind, "get_params"):
            continue
        parameters = inspect.signature(kind).parameters
        given: dict[str, Any] = {"n_estimators": 3} if "n_estimators" in parameters else {}
        regressor = is_regressor_class(kind)
        tree = arboleda.DecisionTreeRegressor if regressor else arboleda.DecisionTreeClassifier
        if "estimators" in parameters:
            given["estimators"] = [("deep", tree()), ("stump", tree(max_depth=1))]
        if "cv" in parameters and "estimators" in parameters and "cv" not in given:
            given["cv"] = 3
        if parameters.get("estimator") is not None and is_required(parameters["estimator"]):
            given["estimator"] = tree()
        if name == "CostSensitiveClassifier":
            given["cost_matrix"] = [[0, 1], [2, 0]]
        if name == "RejectOptionClassifier":
            given["reject_cost"] = 0.2
        if name in {"MRMRSelector", "JMISelector"}:
            given["continuous"] = "bins"
        made[name] = kind(**given)
    return made


def is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def is_regressor_class(kind: Any) -> bool:
    return kind.__name__.endswith("Regressor")


def tries(model: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Every public method of an estimator that takes a table, as a call of that table alone."""
    y: Any = target(not is_regressor(model))
    if hasattr(model, "predict_survival_function"):
        times = zip(y > 0, 1.0 + np.arange(len(y)), strict=True)
        y = np.array(list(times), dtype=[("event", bool), ("time", float)])
    reads_sparse = get_tags(model).input_tags.sparse
    good = sound() if reads_sparse else sound().toarray()
    fitted = clone(model).fit(good, y)
    for name, method in inspect.getmembers(type(model)):
        if name.startswith(("_", "set_")) or not callable(method) or not hasattr(fitted, name):
            continue
        if name == "impute":  # it refuses sparse tables before it looks at them
            continue
        parameters = inspect.signature(method).parameters
        for place in TABLES:
            if place not in parameters:
                continue
            given: dict[str, Any] = {"X": good, place: None}
            if "y" in parameters:
                given["y"] = y
            if "theta" in parameters:
                given["theta"] = 0.0
            if place == "X_val":
                given["y_val"] = y
            fits = name.startswith(("fit", "cost_complexity"))

            def call(
                X: Any, name: str = name, place: str = place, given: Any = given, fits: bool = fits
            ) -> Any:
                own = clone(model) if fits else fitted
                if place == "X_val" and "early_stopping" in own.get_params():
                    own.set_params(early_stopping=True)
                elif place == "X_val" and "n_iter_no_change" in own.get_params():
                    own.set_params(n_iter_no_change=2)
                elif place == "X_val":
                    own.set_params(pruning="reduced_error")
                found = getattr(own, name)(**{**given, place: X})
                return list(found) if inspect.isgenerator(found) else found

            yield f"{name}({place})", call


def faults_of(name: str, call: Callable[[Any], Any], reads_sparse: bool) -> Iterator[str]:
    """Return the outcomes of malformed matrices that are not the documented error."""
    for what, matrix in one_of_each_kind():
        sys.stdout.write(f"# {name}, {what}\n")
        sys.stdout.flush()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call(matrix)
        except ValueError as error:
            if "\n" in str(error) or ("sparse" not in str(error) and reads_sparse):
                yield f"{name}, {what}: {error!r}"
        except TypeError as error:
            if reads_sparse:
                yield f"{name}, {what}: {error!r}"
        except Exception as error:  # noqa: BLE001 - any error is reported
            yield f"{name}, {what}: {error!r}"
        else:
            yield f"{name}, {what}: taken"


def functions() -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Every public function that takes a table, as a call of that table alone."""
    from arboleda import combine, diagnose, explain, features, model_selection

    X, y, values = sound(), target(True), target(False)
    tree = arboleda.DecisionTreeClassifier(random_state=0)
    fitted = arboleda.DecisionTreeClassifier().fit(X, y)
    forest = arboleda.RandomForestRegressor(3, random_state=0).fit(X, values)
    boosted = arboleda.AdaBoostClassifier(n_estimators=3).fit(X, y)
    pair = [("tree", tree), ("stump", arboleda.DecisionTreeClassifier(max_depth=1))]
    grid = model_selection.GridSearch(tree, {"max_depth": [1, 2]}, cv=3)
    intervals = explain.prediction_interval(forest, calibration=(X, values))
    sets = explain.prediction_set(fitted, calibration=(X, y))
    rules = explain.surrogate_rules(fitted, X, random_state=0).model
    yield "out_of_fold_outputs", lambda S: combine.out_of_fold_outputs(pair, S, y)
    yield "outputs_of", lambda S: combine.outputs_of([("tree", fitted)], S, [0, 1])
    yield "bias_variance", lambda S: diagnose.bias_variance(pair, S, y, X, y, n_sets=2)
    yield "bias_variance points", lambda S: diagnose.bias_variance(pair, X, y, S, y, n_sets=2)
    yield "compare", lambda S: diagnose.compare(pair, S, y, cv=3)
    yield (
        "complexity_curve",
        lambda S: diagnose.complexity_curve(
            tree, S, y, param_name="max_depth", param_range=[1, 2], cv=3
        ),
    )
    yield "learning_curve", lambda S: diagnose.learning_curve(tree, S, y, cv=3)
    yield "forest_correlation", lambda S: diagnose.forest_correlation(forest, S, values, X)
    yield "forest_correlation points", lambda S: diagnose.forest_correlation(forest, X, values, S)
    yield "margin_distribution", lambda S: diagnose.margin_distribution(boosted, S, y)
    yield "decision_regions", lambda S: explain.decision_regions(fitted, S, y, columns=[0, 1])
    yield "importance", lambda S: explain.importance(fitted, S, y)
    yield "lime", lambda S: explain.lime(fitted, S)
    yield "partial_dependence", lambda S: explain.partial_dependence(fitted, S, [0])
    yield "shap_values", lambda S: explain.shap_values(fitted, S)
    yield "shap_values background", lambda S: explain.shap_values(fitted, X, background=S)
    yield "surrogate_rules", lambda S: explain.surrogate_rules(fitted, S, random_state=0)
    yield "surrogate_tree", lambda S: explain.surrogate_tree(fitted, S, random_state=0)
    yield "RuleList.predict", rules.predict
    yield (
        "prediction_interval",
        lambda S: explain.prediction_interval(forest, calibration=(S, values)),
    )
    yield "PredictionInterval.predict", intervals.predict
    yield "PredictionInterval.coverage_curve", lambda S: intervals.coverage_curve(S, values)
    yield "prediction_set", lambda S: explain.prediction_set(fitted, calibration=(S, y))
    yield "PredictionSet.predict", sets.predict
    yield "PredictionSet.coverage_curve", lambda S: sets.coverage_curve(S, y)
    yield "bootstrap_error", lambda S: model_selection.bootstrap_error(tree, S, y, n_splits=3)
    yield "GridSearch.fit", lambda S: grid.fit(S, y)
    yield "mutual_information", lambda S: features.mutual_information(S, y, continuous="bins")


def variants() -> dict[str, Any]:
    """Ensembles of scikit-learn's estimators, whose tables the engine does not read."""
    return {
        "BaggingClassifier of k-NN": arboleda.BaggingClassifier(KNeighborsClassifier(3), 3),
        "AdaBoostClassifier of logistic": arboleda.AdaBoostClassifier(
            LogisticRegression(), n_estimators=3
        ),
        "StackingClassifier of k-NN": arboleda.StackingClassifier(
            [("near", KNeighborsClassifier(3))], passthrough=True, cv=3
        ),
        "VotingClassifier learned": arboleda.VotingClassifier(
            [("near", KNeighborsClassifier(3)), ("line", LogisticRegression())],
            rule="weighted",
            cv=3,
        ),
        "CostSensitiveClassifier of k-NN": arboleda.CostSensitiveClassifier(
            KNeighborsClassifier(3), cost_matrix=[[0, 1], [2, 0]]
        ),
    }


def targets(model: Any) -> Callable[[Any], Any]:
    """``fit`` as a call of a target alone."""
    good = sound() if get_tags(model).input_tags.sparse else sound().toarray()
    return lambda y: clone(model).fit(good, y)


def main(names: list[str]) -> None:
    known = {**estimators(), **variants()}
    faults: list[str] = []
    for name in names:
        if name == "functions":
            for what, call in functions():
                faults += faults_of(what, call, reads_sparse=True)
            continue
        model = known[name]
        for method, call in tries(model):
            faults += faults_of(f"{name}.{method}", call, get_tags(model).input_tags.sparse)
        faults += faults_of(f"{name}.fit(y)", targets(model), reads_sparse=False)
    for fault in faults:
        sys.stdout.write(f"! {fault}\n")
    sys.stdout.write("end\n")


if __name__ == "__main__":
    main(sys.argv[1:])
