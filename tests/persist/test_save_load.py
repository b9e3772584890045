"""A model is restored from its file: predictions, parameters, labels, names."""

import copy
import io
import locale
import pickle
import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from tests.persist.models import MODELS, NAMES, X, Y, as_native_table
from tests.property.strategies import arrays_of, predictions, trees_of

import arboleda
from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, PrunedTreeClassifier
from arboleda.persist import read_header


def saved(model: Any, path: Path, **options: Any) -> Any:
    model.save(path, **options)
    return arboleda.load(path)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_restored_completely(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    again = saved(model, tmp_path / "model")
    assert type(again) is type(model)
    lost = (
        {"cv_predictions_"}
        if name in {"boosted automatically", "boosted with intervals"}
        else set()
    )
    assert vars(again).keys() == vars(model).keys() - lost  # training rows are not in files
    assert arrays_of(again) == arrays_of(model)
    table = as_native_table(model)
    assert predictions(again, table).tobytes() == predictions(model, table).tobytes()
    assert_array_equal(again.predict(table), model.predict(table), strict=True)
    assert again.get_params() == model.get_params()
    assert repr(again) == repr(model)
    assert again._repr_html_() is not None
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_supports_all_methods(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    again = saved(model, tmp_path / "model")
    table = as_native_table(model)
    assert clone(again).get_params() == model.get_params()
    target = model.predict(table)
    assert arrays_of(clone(again).fit(table, target)) == arrays_of(clone(model).fit(table, target))
    assert arrays_of(pickle.loads(pickle.dumps(again))) == arrays_of(model)
    assert_array_equal(again.apply(table), model.apply(table))
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert trees_of(again)[0].pruned(np.inf).node_count == 1
    again.set_params(categorical_features=None).fit(X[:, :2], Y)
    assert again.n_features_in_ == 2  # as free as before its first fit


def test_column_names_are_restored_and_checked(tmp_path: Path) -> None:
    again = saved(MODELS["names"](), tmp_path / "model")
    assert_array_equal(again.feature_names_in_, np.array(NAMES, dtype=object), strict=True)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(as_native_table(again).rename(columns={"plain": "other"}))


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes", "a longer one"][:2], dtype="U20"),
        np.array(["no", "ñ\N{SNOWMAN}\n\"'\\\x00x"], dtype=object),
        np.array(["caf\udce9", "x"]),
        np.array([False, True]),
        np.array([1, 2], dtype=np.uint8),
        np.array([1, 2], dtype=">i4"),
        np.array([-(2**63), 2**63 - 1]),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([1.0, 2.0]),
        np.array([1.0, 2.0], dtype=np.float16),
        np.array([1.0, 2.0], dtype=np.longdouble),
        np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"),
        np.array([1, 2], dtype="m8[s]"),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_keep_their_type(labels: Any, tmp_path: Path) -> None:
    model = DecisionTreeClassifier().fit(X, labels[np.minimum(Y, 1)])
    again = saved(model, tmp_path / "model")
    assert_array_equal(again.classes_, model.classes_, strict=True)
    assert again.classes_.dtype == model.classes_.dtype
    assert_array_equal(again.predict(X), model.predict(X), strict=True)


def test_long_texts_are_stored_without_padding(tmp_path: Path) -> None:
    labels = np.array(["no", "yes"], dtype="U1000000")
    again = saved(DecisionTreeClassifier().fit(X[:10], labels[[0, 1] * 5]), tmp_path / "model")
    assert_array_equal(again.classes_, ["no", "yes"])
    assert (tmp_path / "model").stat().st_size < 10_000


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 3, "min_samples_leaf": 0.1, "max_features": 0.5, "random_state": 0},
        {"max_depth": np.int64(3), "ccp_alpha": np.float32(0.1)},
        {"min_weight_fraction_leaf": 0.1 + 0.2 - 0.2, "ccp_alpha": 5e-324},
        {"class_weight": "balanced", "max_leaf_nodes": 10**30},
        {"class_weight": {0: 1, 1: 2.5, np.int64(2): 0.1}},
    ],
    ids=str,
)
def test_parameters_keep_value_and_type(parameters: dict[str, Any], tmp_path: Path) -> None:
    model = DecisionTreeClassifier(**parameters).fit(X, Y)
    again = saved(model, tmp_path / "model")
    assert repr(again.get_params()) == repr(model.get_params())
    assert {k: type(v) for k, v in again.get_params().items()} == {
        k: type(v) for k, v in model.get_params().items()
    }


@pytest.mark.parametrize(
    ("name", "value", "default"),
    [
        ("random_state", np.random.RandomState(0), None),
        ("cv", KFold(3), 10),
        ("class_weight", {0: Decimal(1)}, None),
    ],
)
def test_an_object_parameter_is_not_saved_and_a_warning_is_raised(
    name: str, value: Any, default: Any, tmp_path: Path
) -> None:
    model = PrunedTreeClassifier(**{name: value}).fit(X, np.minimum(Y, 1))
    message = rf"{name} is not saved.* of type \w+;.*with {name}={default!r}"
    with pytest.warns(UserWarning, match=message) as caught:
        model.save(tmp_path / "model")
    assert caught[0].filename == __file__
    again = arboleda.load(tmp_path / "model")
    assert getattr(again, name) == default
    assert_array_equal(again.predict(X), model.predict(X))


def test_the_pruning_curve_is_restored(tmp_path: Path) -> None:
    model = MODELS["pruned"]()
    again = saved(model, tmp_path / "model")
    assert again.best_index_ == model.best_index_
    assert again.ccp_alpha_ == model.ccp_alpha_
    for name, part in vars(model.pruning_curve_).items():
        assert_array_equal(getattr(again.pruning_curve_, name), part, strict=True)
    rows = saved(MODELS["pruned by rows"](), tmp_path / "rows")
    assert rows.pruning_curve_ is None


def test_metrics_are_stored_in_the_header(tmp_path: Path) -> None:
    metrics = {
        "accuracy": np.float64(0.25),
        "n": np.int64(3),
        "undefined": float("nan"),
        "matrix": np.eye(2),
        "per class": {"año": (1, None, "x", True)},
    }
    model = MODELS["classifier"]()
    model.save(tmp_path / "model", metrics=metrics)
    assert read_header(tmp_path / "model")["metrics"] == {
        "accuracy": 0.25,
        "n": 3,
        "undefined": None,
        "matrix": [[1.0, 0.0], [0.0, 1.0]],
        "per class": {"año": [1, None, "x", True]},
    }
    arboleda.load(tmp_path / "model").save(tmp_path / "again", metrics=metrics)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_the_header_is_human_readable(tmp_path: Path) -> None:
    MODELS["texts"]().save(tmp_path / "model")
    begin = (tmp_path / "model").read_bytes()[:2000].decode(errors="replace")
    for line in (
        ' "class": "DecisionTreeClassifier",',
        '  "min_samples_leaf": 5,',
        f' "library_version": "{arboleda.__version__}",',
        '  "classes_": {"dtype": "<U1", "values": ["a", "ñ", "☃"]}',
        '  {"kind": "numeric"},',
    ):
        assert f"\n{line}\n" in begin


class _Derived(DecisionTreeClassifier):
    pass


def test_errors_name_what_cannot_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with pytest.raises(NotFittedError):
        DecisionTreeClassifier().save(path)
    model = MODELS["classifier"]()
    with pytest.raises(TypeError, match=r"metrics\['when'\] has the type object"):
        model.save(path, metrics={"when": object()})
    with pytest.raises(TypeError, match=r"_Derived cannot be saved.*not their subclasses"):
        _Derived().fit(X, Y).save(path)
    with pytest.raises(ValueError, match="'max_depth' parameter"):
        model.set_params(max_depth=-3).save(path)
    pair = DecisionTreeClassifier().fit(X, np.array(["\ud83d\ude00", "x"])[np.minimum(Y, 1)])
    with pytest.raises(ValueError, match="not valid Unicode"):
        pair.save(path)  # a pair of surrogates would come back as one character
    assert list(tmp_path.iterdir()) == []


def test_bytes_depend_only_on_the_model(tmp_path: Path) -> None:
    """Not on the threads, the time, the locale, the order of rows, or the process."""
    expected = tmp_path / "expected"
    MODELS["regressor"]().save(expected)
    order = np.random.default_rng(5).permutation(len(X))
    for n_jobs in (1, 2, 7):
        model = DecisionTreeRegressor(n_jobs=n_jobs).fit(X[order], np.nan_to_num(X[order, 2]))
        model.set_params(n_jobs=None).save(tmp_path / "model")
        assert (tmp_path / "model").read_bytes() == expected.read_bytes()
    code = f"""
from tests.persist.models import MODELS
import locale
for name in ("de_DE.UTF-8", "C"):
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        continue
MODELS["regressor"]().save({str(tmp_path / "other")!r})
"""
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=root, check=True)
    assert (tmp_path / "other").read_bytes() == expected.read_bytes()


def test_a_locale_with_a_decimal_comma_changes_nothing(tmp_path: Path) -> None:
    before = locale.setlocale(locale.LC_ALL)
    MODELS["classifier"]().save(tmp_path / "model")
    for name in ("de_DE.UTF-8", "es_ES.UTF-8", "fr_FR.UTF-8"):
        try:
            locale.setlocale(locale.LC_ALL, name)
            break
        except locale.Error:
            continue
    else:
        pytest.skip("needs a locale with a decimal comma")
    try:
        saved(MODELS["classifier"](), tmp_path / "again")
    finally:
        locale.setlocale(locale.LC_ALL, before)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_pickle_joblib_and_deepcopy_keep_everything(tmp_path: Path) -> None:
    model = MODELS["texts"]()
    joblib.dump(model, tmp_path / "model.joblib", compress=3)
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    for again in (
        joblib.load(tmp_path / "model.joblib"),
        joblib.load(io.BytesIO(buffer.getvalue())),
        copy.deepcopy(model),
    ):
        assert arrays_of(again) == arrays_of(model)
        assert_array_equal(again.predict(X), model.predict(X), strict=True)
        model.save(tmp_path / "one")
        again.save(tmp_path / "two")
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_pickle_holds_the_section_of_the_model_file(tmp_path: Path) -> None:
    model = MODELS["classifier"]()
    model.save(tmp_path / "model")
    section = model.tree_._native.__getstate__()
    assert section in (tmp_path / "model").read_bytes()
    assert section in pickle.dumps(model)


def test_saving_and_loading_print_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saved(MODELS["names"](), tmp_path / "model")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("metrics", [[0.9], "accuracy", 0.9, {0.9}])
def test_invalid_metrics_are_refused_before_a_file_is_written(metrics: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="metrics must be a mapping of names to values"):
        DecisionTreeClassifier().fit([[0], [1]], [0, 1]).save(tmp_path / "m", metrics=metrics)
    assert not (tmp_path / "m").exists()
