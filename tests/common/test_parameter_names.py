"""Names of other libraries: errors name ours, and the guide lists them."""

import inspect
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import arboleda
from arboleda._base.parameter_names import FIT_ARGUMENTS, PARAMETERS
from arboleda.study.config.other_names import OTHER_NAMES, find_name

ROOT = Path(__file__).parents[2]
ESTIMATORS = [
    value
    for name in arboleda.__all__
    if inspect.isclass(value := getattr(arboleda, name))
    and hasattr(value, "set_params")
    and value.__init__ is not object.__init__
]
OURS = {name for cls in ESTIMATORS for name in inspect.signature(cls).parameters}
X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2


def make(cls: type) -> Any:
    """Create an estimator with the least parameters."""
    members = [("tree", arboleda.DecisionTreeClassifier())]
    needed = [
        parameter.name
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is inspect.Parameter.empty
    ]
    return cls(**{name: members if name == "estimators" else None for name in needed})


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_an_error_names_our_parameter(cls: type) -> None:
    """The constructor and `set_params` name the first name here that the class has."""
    own = inspect.signature(cls).parameters
    model = make(cls)
    for name, candidates in PARAMETERS.items():
        ours = next((candidate for candidate in candidates if candidate in own), None)
        if name in own or ours is None:
            continue
        message = f"^{cls.__name__} has no parameter {name}; here it is {ours}$"
        with pytest.raises(TypeError, match=message):
            cls(**{name: 1})
        with pytest.raises(ValueError, match=message):
            model.set_params(**{name: 1})


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_conventions_hold(cls: type) -> None:
    """Parameters are those of ``__init__``; clones and pickles are equal; errors of Python stay."""
    model = make(cls)
    own = list(inspect.signature(cls.__init__).parameters)[1:]
    assert list(inspect.signature(cls).parameters) == own
    assert sorted(model.get_params(deep=False)) == sorted(own)
    params = clone(model).get_params(deep=False)
    assert params.keys() == model.get_params(deep=False).keys()
    assert type(pickle.loads(pickle.dumps(model))) is cls
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such_name'"):
        cls(no_such_name=1)


def test_every_name_of_the_tables_exists() -> None:
    """A name on the right is a parameter of some estimator, and one on the left of none of them."""
    for name, candidates in PARAMETERS.items():
        assert set(candidates) <= OURS, name
        assert name not in candidates
    arguments = {
        argument
        for cls in (arboleda.HistGradientBoostingClassifier, arboleda.HistGradientBoostingRanker)
        for argument in inspect.signature(cls.fit).parameters
    }
    assert {argument for ours in FIT_ARGUMENTS.values() for argument in ours} <= arguments


@pytest.mark.parametrize(
    ("model", "name", "message"),
    [
        (
            arboleda.HistGradientBoostingRanker(),
            "eval_set",
            "has no argument eval_set; here it is X_val and y_val",
        ),
        (
            arboleda.GradientBoostingClassifier(),
            "early_stopping_rounds",
            "here it is the parameter n_iter_no_change of GradientBoostingClassifier",
        ),
        (arboleda.AdaBoostClassifier(), "verbose", "here it is the parameter verbose of"),
        (arboleda.RandomForestClassifier(), "sample_weights", "here it is sample_weight"),
        (arboleda.DecisionTreeClassifier(), "eval_set", "here is nothing of its kind: leave it"),
        (arboleda.PrunedTreeClassifier(), "eval_set", "here it is X_val and y_val"),
        (arboleda.BARTClassifier(), "cat_features", "the parameter categorical_features of"),
        (arboleda.DecisionTreeClassifier(), "no_such_name", "unexpected keyword argument"),
    ],
)  # fmt: skip
def test_fit_names_our_argument(model: Any, name: str, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        model.fit(X, y, **{name: None})


def test_a_member_may_have_any_name() -> None:
    """A member called as a parameter elsewhere is replaced by its name."""
    tree = arboleda.DecisionTreeClassifier()
    vote = arboleda.VotingClassifier([("nthread", tree), ("verbosity", tree)])
    forest = arboleda.RandomForestClassifier()
    assert vote.set_params(nthread=forest).get_params()["nthread"] is forest
    with pytest.raises(ValueError, match="DecisionTreeClassifier has no parameter num_leaves"):
        vote.set_params(verbosity__num_leaves=3)


def read_tables() -> list[tuple[str, str, list[str]]]:
    """Return class, left and right names of each row of the guide's tables."""
    rows, cls = [], ""
    for line in (ROOT / "docs/guide/coming_from.md").read_text().splitlines():
        cells = [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:3]]
        if not line.startswith("|") or line.startswith("|---"):
            continue
        if inspect.isclass(getattr(arboleda, cells[1][0], None)):  # not a package's name
            cls = cells[1][0]
            continue
        rows.append((cls, cells[0], cells[1]))
    return rows


def test_the_guide_lists_what_exists() -> None:
    """A name on the right of the guide exists, and the error for one on the left names it."""
    rows = read_tables()
    assert {cls for cls, _, _ in rows} == {
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRanker",
        "HistGradientBoostingRegressor",
        "RandomForestClassifier",
        "Study",
    }
    for cls, theirs, ours in rows:
        owner = getattr(arboleda, cls)
        own = set(inspect.signature(owner).parameters)
        known = own | (set() if cls == "Study" else set(inspect.signature(owner.fit).parameters))
        assert set(ours) <= known, (cls, ours)
        for name in theirs if cls == "Study" else ():
            assert name in own or find_name(name) in ours, name
        for name in theirs if cls != "Study" else ():
            if name.startswith("GradientBoosting") or name in known:
                continue
            expected = FIT_ARGUMENTS.get(name) or PARAMETERS[name]
            assert next((one for one in expected if one in known), None) in ours, (cls, name)


def test_the_guide_lists_every_other_name_of_a_study() -> None:
    """Names of other libraries for the options of a study are in the guide, in tables or text."""
    text = (ROOT / "docs/guide/coming_from.md").read_text()
    assert [name for name in OTHER_NAMES if not re.search(rf"\b{name}\b", text)] == []
