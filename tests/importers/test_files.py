"""Files of XGBoost and LightGBM are read without these libraries, and predict the same."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.importers.peers import float32_bound

import arboleda
from arboleda import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    ModelFormatError,
    from_lightgbm,
    from_xgboost,
)

FOLDER = Path(__file__).parent / "models"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
NAMES = sorted(EXPECTED["models"])


def rows() -> pd.DataFrame:
    """Return the rows with known predictions; a missing label is None."""
    return pd.DataFrame(EXPECTED["rows"], columns=EXPECTED["columns"])


def read(name: str, **options: Any) -> Any:
    return (from_xgboost if name.startswith("xgboost") else from_lightgbm)(FOLDER / name, **options)


def table_for(name: str) -> Any:
    frame = rows()
    if name != "xgboost_counts.json":
        return frame
    return frame.drop(columns=["town", "size"]).astype(float).to_numpy()


@pytest.mark.parametrize("name", NAMES)
def test_predictions_match_the_library(name: str, tmp_path: Path) -> None:
    stored = EXPECTED["models"][name]
    model = read(name)
    found = model._raw_scores(table_for(name))
    expected = np.array(stored["raw"]).reshape(found.shape)
    if name == "lightgbm_mean.txt":  # LightGBM's raw score of a random forest is the sum
        expected = np.array(stored["predict"])[:, np.newaxis]
    exact = name.startswith("lightgbm") and "mean" not in name
    bound = 0.0 if exact else 1e-14 if "mean" in name else float32_bound(model)
    assert np.abs(found - expected).max() <= bound
    predicted = np.array(stored["predict"])
    if isinstance(model, HistGradientBoostingClassifier):
        shares = model.predict_proba(table_for(name))
        if isinstance(shares, list):  # of several labels
            shares = np.column_stack([of_label[:, 1] for of_label in shares])
        shares = shares[:, 1] if predicted.ndim == 1 else shares
        np.testing.assert_allclose(shares, predicted, atol=1e-6)
    else:
        np.testing.assert_allclose(model.predict(table_for(name)), predicted, rtol=1e-6)
    model.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    assert np.array_equal(again._raw_scores(table_for(name)), found)


def test_a_model_has_the_names_of_its_columns() -> None:
    for name in ("xgboost_two.json", "lightgbm_two.txt"):
        model = read(name)
        assert model.feature_names_in_.tolist() == EXPECTED["columns"]
        assert model.schema_.levels[5] == tuple(sorted("qwertyuiopas"))
        assert model.schema_.levels[6] == (1, 3, 7, 10)
        assert model.is_categorical_.tolist() == [False] * 5 + [True, True]
        with pytest.raises(ValueError, match=r"lacks 'town'"):
            model.predict(rows().drop(columns="town"))


def test_parameters_describe_the_model() -> None:
    assert read("xgboost_two.json").get_params()["max_iter"] == 4
    counts = read("xgboost_counts.json")
    assert isinstance(counts, HistGradientBoostingRegressor)
    assert counts.get_params()["loss"] == "poisson"
    assert read("xgboost_three.ubj").n_trees_per_iteration_ == 3


def test_importances_are_normalized_gains() -> None:
    for name in NAMES:
        shares = read(name).feature_importances_
        assert shares.sum() == pytest.approx(1.0)
        assert (shares >= 0.0).all()


def test_both_formats_of_xgboost_give_the_same_model() -> None:
    text, binary = read("xgboost_two.json"), read("xgboost_two.ubj")
    for ours, theirs in zip(text.ensemble_.trees, binary.ensemble_.trees, strict=True):
        assert np.array_equal(ours.threshold, theirs.threshold)
        assert np.array_equal(ours.value_rows, theirs.value_rows)


def test_class_names_can_be_given() -> None:
    for name in ("xgboost_three.ubj", "lightgbm_three.txt"):
        assert read(name).classes_.tolist() == [0, 1, 2]
        model = read(name, classes=["low", "middle", "high"])
        assert model.classes_.tolist() == ["low", "middle", "high"]
        numbers = read(name).predict(rows())
        assert model.predict(rows()).tolist() == [model.classes_[i] for i in numbers]


def test_unseen_categories_follow_missing_values() -> None:
    for name in ("xgboost_two.json", "lightgbm_two.txt"):
        model = read(name)
        missing, unseen = rows(), rows()
        missing["town"], unseen["town"] = None, "atlantis"
        assert np.array_equal(model._raw_scores(missing), model._raw_scores(unseen))


def test_names_and_labels_can_be_given() -> None:
    names = [f"column {j}" for j in range(7)]
    model = read("lightgbm_two.txt", feature_names=names, categories={"column 5": range(12)})
    frame = rows().set_axis(names, axis=1)
    order = {label: code for code, label in enumerate("qwertyuiopas")}
    frame["column 5"] = frame["column 5"].map(order)
    expected = EXPECTED["models"]["lightgbm_two.txt"]["raw"]
    assert model._raw_scores(frame)[:, 0].tolist() == expected
    other = read("xgboost_two.json", categories={"town": range(12), 6: ["c", "j", "g", "a"]})
    assert other.schema_.levels[5] == tuple(range(12))
    assert other.schema_.levels[6] == ("a", "c", "g", "j")


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("xgboost_three.ubj", {"classes": ["a", "b"]}, ValueError, "has 3 classes"),
        ("lightgbm_three.txt", {"classes": ["a", "b", "b"]}, ValueError, "must hold 3 distinct"),
        ("xgboost_counts.json", {"classes": [0, 1]}, ValueError, "count:poisson has no classes"),
        ("lightgbm_mean.txt", {"classes": [0, 1]}, ValueError, "regression has no classes"),
        ("xgboost_two.json", {"categories": {"city": "ab"}}, ValueError, "'city', which the model"),
        ("xgboost_two.json", {"categories": {"plain": [1]}}, ValueError, "0, which is numeric"),
        ("xgboost_two.json", {"categories": {"town": "ab"}}, TypeError, "be a sequence of labels"),
        ("xgboost_two.json", {"categories": ["a"]}, TypeError, "a mapping .*, got list"),
        ("xgboost_two.json", {"categories": {"town": [1, 2]}}, ModelFormatError, "splits on cate"),
        ("lightgbm_two.txt", {"categories": {"town": [1, 2]}}, ModelFormatError, "splits on cate"),
        ("lightgbm_two.txt", {"categories": {9: [1]}}, ValueError, "column 9, which the model"),
        ("lightgbm_two.txt", {"feature_names": ["a"]}, ValueError, "of the 7 columns, got 1"),
        ("lightgbm_two.txt", {"feature_names": ["a"] * 7}, ValueError, "the same name"),
    ],
)
def test_options_that_do_not_match_the_model_are_refused(
    name: str, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read(name, **options)


def test_missing_category_lists_are_required(tmp_path: Path) -> None:
    document = json.loads((FOLDER / "xgboost_two.json").read_text())
    del document["learner"]["gradient_booster"]["model"]["cats"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"give categories=\{'town': \[\.\.\.\]\}"):
        from_xgboost(path)
    model = from_xgboost(path, categories={"town": list("qwertyuiopas"), "size": [3, 10, 7, 1]})
    expected = read(
        "xgboost_two.json", categories={"town": list("qwertyuiopas"), "size": [3, 10, 7, 1]}
    )
    assert np.array_equal(model._raw_scores(rows()), expected._raw_scores(rows()))


def test_files_that_are_not_models_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for content, of_xgboost, of_lightgbm in [
        (b"", "neither JSON nor UBJSON", "does not begin like the text"),
        (b"binf\x00\x00", "neither JSON nor UBJSON", "does not begin like the text"),
        (b"{}", "it has no learner", "does not begin like the text"),
        (b"{L", "the file ends early", "does not begin like the text"),
        (b"tree\nversion=v2\nend of trees", "neither", "its version must be v3 or v4, got 'v2'"),
        (b"tree\nversion=v4\n", "neither", "there is no line 'end of trees'"),
        (b"tree\nversion=v4\nend of trees\n", "neither", "it has no feature_names"),
        (b"\xff\xfe", "neither", "it is not UTF-8"),
    ]:
        path.write_bytes(content)
        with pytest.raises(ModelFormatError, match=of_xgboost):
            from_xgboost(path)
        with pytest.raises(ModelFormatError, match=of_lightgbm):
            from_lightgbm(path)
    for reader in (from_xgboost, from_lightgbm):
        with pytest.raises(ModelFormatError, match="a folder"):
            reader(tmp_path)
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / "nothing")
        with pytest.raises(TypeError, match="model must be an? .* Booster, .* got list"):
            reader([1, 2])


def written(document: Any, path: Path) -> Path:
    path.write_text(json.dumps(document))
    return path


def counts_by_dart(tree_weights: Any) -> Any:
    """A model of XGBoost whose trees have weights of their own."""
    document = json.loads((FOLDER / "xgboost_counts.json").read_text())
    document["learner"]["gradient_booster"]["weight_drop"] = tree_weights
    return document


@pytest.mark.parametrize("weights", [{"a": 1}, {}, [{}], [None], [[1]], "ab", [10**400], [1e308]])
def test_non_finite_tree_weights_are_refused(weights: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="weight_drop"):
        from_xgboost(written(counts_by_dart(weights), tmp_path / "model.json"))


def xgboost_two(entry: str, value: Any) -> Any:
    """A model of XGBoost with another entry of its trees' part."""
    document = json.loads((FOLDER / "xgboost_two.json").read_text())
    document["learner"]["gradient_booster"]["model"][entry] = value
    return document


def test_numeric_categories_must_be_finite_and_exact(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    document = xgboost_two("cats", {})
    labels = [{"type": 15, "values": []} for _ in range(7)]
    labels[5]["values"] = list(range(12))
    labels[6]["values"] = [2**53, 2**53 + 1, 5, 3]
    document["learner"]["gradient_booster"]["model"]["cats"] = {"enc": labels}
    model = from_xgboost(written(document, path))
    assert model.schema_.levels[6] == (3, 5, 2**53, 2**53 + 1)
    path.write_text(json.dumps(document).replace(str(2**53 + 1), "1e999"))
    with pytest.raises(ModelFormatError, match="inf is not a category"):
        from_xgboost(path)


def test_few_bytes_do_not_expand_to_many_categories(tmp_path: Path) -> None:
    """Nodes that shared one long list would each hold a copy of it."""
    path = tmp_path / "model"
    document = json.loads((FOLDER / "xgboost_two.json").read_text())
    for tree in document["learner"]["gradient_booster"]["model"]["trees"]:
        tree["categories_segments"] = [0] * len(tree["categories_segments"])
        tree["categories_sizes"] = [len(tree["categories"])] * len(tree["categories_sizes"])
    with pytest.raises(ModelFormatError, match="categories_segments overlap"):
        from_xgboost(written(document, path))
    text = (FOLDER / "lightgbm_two.txt").read_text()
    twice = text.replace("decision_type=", "decision_type=1 1 1 1 1\nunused=")
    path.write_text(twice.replace("\nthreshold=", "\nthreshold=0 0 0 0 0\nalso_unused="))
    with pytest.raises(ModelFormatError, match="two nodes share a set"):
        from_lightgbm(path)
    many = " ".join(["4294967295"] * 2048)
    long = text.replace("cat_boundaries=0 1", "cat_boundaries=0 2048", 1)
    path.write_text(long.replace("\ncat_threshold=", f"\ncat_threshold={many} ", 1))
    with pytest.raises(ModelFormatError, match="65,536 categories: at most"):
        from_lightgbm(path)


def test_column_names_can_contain_unicode_line_ends(tmp_path: Path) -> None:
    name = "a\x0bb\u2028c\x85"
    path = tmp_path / "model.txt"
    path.write_bytes((FOLDER / "lightgbm_two.txt").read_bytes().replace(b"plain", name.encode()))
    assert from_lightgbm(path).feature_names_in_[0] == name
    path.write_bytes((FOLDER / "lightgbm_two.txt").read_bytes().replace(b"\n", b"\r\n"))
    assert np.array_equal(
        from_lightgbm(path)._raw_scores(rows()), read("lightgbm_two.txt")._raw_scores(rows())
    )


def test_labels_truncated_by_xgboost_must_be_given(tmp_path: Path) -> None:
    """It counts letters and keeps bytes: of "Málaga" there is "Málag", of "é" no letter."""
    path = tmp_path / "model.json"
    towns = [*"qwertyuiopa", "Málaga"]
    document = json.loads((FOLDER / "xgboost_two.json").read_text())
    encoded = document["learner"]["gradient_booster"]["model"]["cats"]["enc"][5]
    cut = [town.encode()[: len(town)] for town in towns]
    encoded["offsets"] = np.cumsum([0, *map(len, cut)]).tolist()
    encoded["values"] = np.frombuffer(b"".join(cut), dtype=np.int8).tolist()
    written(document, path)
    with pytest.raises(ValueError, match="truncated labels that are not ASCII: give categories"):
        from_xgboost(path)
    assert from_xgboost(path, categories={"town": towns}).schema_.levels[5][0] == "Málaga"


def test_a_signalling_nan_is_refused_without_a_warning(tmp_path: Path) -> None:
    content = (FOLDER / "xgboost_two.ubj").read_bytes()
    begin = content.index(b"sum_hessian[$d#") + len(b"sum_hessian[$d#L") + 8
    path = tmp_path / "model.ubj"
    path.write_bytes(content[:begin] + b"\x7f\xa0\x00\x01" + content[begin + 4 :])
    with pytest.raises(ModelFormatError, match="sum_hessian holds NaN"):
        from_xgboost(path)


def with_tree(path: Path, number: int = 0, **entries: Any) -> Path:
    """Write the model of several targets with other entries of a tree."""
    document = json.loads((FOLDER / "xgboost_targets.json").read_text())
    tree = document["learner"]["gradient_booster"]["model"]["trees"][number]
    for name, value in entries.items():
        if value is None:
            del tree[name]
        else:
            tree[name] = value(tree[name])
    return written(document, path)


def test_vector_leaves_become_trees_with_the_same_splits() -> None:
    model = read("xgboost_targets.json")
    assert model.n_iter_ == 4
    assert model.n_trees_per_iteration_ == 2
    first, second = model.ensemble_.trees[:2]
    assert np.array_equal(first.feature, second.feature)
    assert np.array_equal(first.threshold, second.threshold)
    assert np.array_equal(first.weighted_n_node_samples, second.weighted_n_node_samples)
    assert not np.array_equal(first.value_rows, second.value_rows)
    assert read("xgboost_vectors.ubj").n_trees_per_iteration_ == 3


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"leaf_weights": lambda values: values[:-1]}, "leaf_weights must have 16 entries, got 15"),
        ({"leaf_weights": lambda values: [[0.1] * 2] * 8}, "holds a value that is not a number"),
        ({"leaf_weights": lambda values: [float("nan"), *values[1:]]}, "leaf_weights holds NaN"),
        ({"leaf_weights": lambda values: [float("inf"), *values[1:]]}, "a value of the tree is no"),
        ({"leaf_weights": lambda values: [1e300, *values[1:]]}, "a value of the tree is not a fin"),
        ({"leaf_weights": None}, "before XGBoost 3.2, which lacks the covers of nodes: fit it wi"),
        ({"right_children": lambda nodes: [*nodes[:-1], 8]}, "none of its 8 leaves"),
        ({"right_children": lambda nodes: [*nodes[:-1], -1]}, "none of its 8 leaves"),
        ({"right_children": lambda nodes: nodes[:-1]}, "right_children must have 15 entries, got"),
        ({"left_children": lambda nodes: [-1, *nodes[1:]]}, "leaf_weights must have 18 entries"),
        ({"left_children": lambda nodes: [*nodes[:-1], 1]}, "15 nodes with 7 leaves are not a tr"),
        ({"left_children": lambda nodes: [1] * len(nodes)}, "15 nodes with 0 leaves are not a tr"),
        ({"sum_hessian": None}, "it has no sum_hessian"),
        ({"categories": lambda codes: [99] * len(codes)}, "splits on category 99 of column 'size'"),
        ({"tree_param": lambda entries: entries | {"size_leaf_vector": "3"}}, "must have 24 entri"),
        ({"tree_param": lambda entries: entries | {"size_leaf_vector": "2147483647"}}, "must have"),
        ({"tree_param": lambda entries: entries | {"size_leaf_vector": "-2"}}, "size_leaf_vector"),
        ({"tree_param": lambda entries: entries | {"size_leaf_vector": "1"}}, "child"),
        (
            {
                "tree_param": lambda entries: entries | {"size_leaf_vector": "4"},
                "leaf_weights": lambda values: values * 2,
            },
            "its leaves have 4 values for 2 outputs",
        ),
    ],
)
def test_damaged_vector_leaves_are_refused(
    entries: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelFormatError, match=message):
        from_xgboost(with_tree(tmp_path / "model.json", **entries))


def test_vector_leaves_may_have_any_order(tmp_path: Path) -> None:
    """A leaf's values are found by its number, not by the place of its node."""
    changed = with_tree(
        tmp_path / "model.json",
        right_children=lambda nodes: [*nodes[:7], *(7 - number for number in nodes[7:])],
        leaf_weights=lambda values: np.reshape(values, (8, 2))[::-1].ravel().tolist(),
    )
    expected = read("xgboost_targets.json")._raw_scores(rows())
    assert np.array_equal(from_xgboost(changed)._raw_scores(rows()), expected)


def test_a_threshold_of_minus_infinity_separates_missing_values(tmp_path: Path) -> None:
    """XGBoost 3.4 writes it where only missing values go left."""
    changed = with_tree(
        tmp_path / "model.json",
        split_conditions=lambda values: [-np.inf, *values[1:]],
        default_left=lambda values: [1, *values[1:]],
    )
    assert "-Infinity" in changed.read_text()
    root = from_xgboost(changed).ensemble_.trees[0]
    frame = rows()
    frame["huge"] = -1.7e308
    assert root.missing_go_to_left[0]
    assert np.isfinite(root.threshold[0])
    assert root.threshold[0] < -1.7e308
    assert np.isfinite(from_xgboost(changed).predict(frame)).all()


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("num_target", "3", "base_score has 2 numbers for 3 outputs"),
        ("num_target", "2147483647", "num_target is 2147483647"),
        ("num_target", "1", "base_score has 2 numbers for 1 outputs"),
        ("base_score", "[0.5,-1]", "base_score must be positive for count:poisson, got -1"),
        ("base_score", "[0.5,NaN]", "base_score is not finite"),
    ],
)
def test_damaged_numbers_of_targets_are_refused(
    entry: str, value: str, message: str, tmp_path: Path
) -> None:
    document = json.loads((FOLDER / "xgboost_targets.json").read_text())
    document["learner"]["learner_model_param"][entry] = value
    with pytest.raises(ModelFormatError, match=message):
        from_xgboost(written(document, tmp_path / "model.json"))


def test_a_multilabel_model_has_classes_for_each_label() -> None:
    model = read("xgboost_labels.ubj")
    assert [known.tolist() for known in model.classes_] == [[0, 1], [0, 1]]
    assert np.array_equal(model.predict(rows()), (model.decision_function(rows()) > 0).astype(int))
    signs = read("xgboost_labels.ubj", classes=[-1, 1])
    assert np.array_equal(signs.predict(rows()), np.where(model.predict(rows()) == 1, 1, -1))


@pytest.mark.parametrize("labels", [["no", "yes"], [1, 0], [0.0, float("nan")]])
def test_classes_of_several_labels_are_ascending_numbers(labels: list[Any]) -> None:
    with pytest.raises(ValueError, match="classes must hold two ascending numbers, which all"):
        read("xgboost_labels.ubj", classes=labels)


@pytest.mark.parametrize(
    ("objective", "entries", "message"),
    [
        ("binary:logistic", {"base_score": "[0.5,0.5]"}, None),
        ("binary:logitraw", {"base_score": "[-2,3]"}, None),
        ("binary:logistic", {"base_score": "[0.5,1]"}, "base_score must be a probability, got 1"),
        ("binary:logistic", {"base_score": "[0.5,0.5,0.5]"}, "has 3 numbers for 2 outputs"),
        ("binary:logistic", {"base_score": "0.5", "num_target": "99999"}, "num_target is 99999"),
        ("multi:softprob", {"base_score": "[0.5,0.5]", "num_class": "3"}, "2 labels of several cl"),
    ],
)
def test_a_model_of_several_labels(
    objective: str, entries: dict[str, str], message: str | None, tmp_path: Path
) -> None:
    document = json.loads((FOLDER / "xgboost_targets.json").read_text())
    document["learner"]["objective"] = {"name": objective}
    document["learner"]["learner_model_param"] |= entries
    path = written(document, tmp_path / "model.json")
    if message is None:
        assert from_xgboost(path).n_outputs_ == 2
    else:
        with pytest.raises(ModelFormatError, match=message):
            from_xgboost(path)


@pytest.mark.parametrize(
    "weights", [[], [0.5] * 3, [0.5] * 5, [0.5, 0.5, 0.5, 1e39], ["a"] * 4, {}]
)
def test_damaged_tree_weights_in_the_model_are_refused(weights: Any, tmp_path: Path) -> None:
    """Since XGBoost 3.4, DART is a gbtree with weights in its model."""
    document = json.loads((FOLDER / "xgboost_targets.json").read_text())
    document["learner"]["gradient_booster"]["model"]["weight_drop"] = weights
    with pytest.raises(ModelFormatError, match="weight_drop"):
        from_xgboost(written(document, tmp_path / "model.json"))
