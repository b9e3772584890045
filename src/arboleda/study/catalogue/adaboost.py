"""AdaBoost by its algorithms: members that attend to the rows those before them got wrong."""

from typing import Any

from sklearn.naive_bayes import BernoulliNB

from arboleda.adaboost import AdaBoostClassifier, AdaBoostRegressor, SchapireBoostingClassifier
from arboleda.study.catalogue.costs import boosting_cost
from arboleda.study.catalogue.model import Grid, Model, Params, Setting, Task, both_tasks
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["ADABOOST"]

# AdaBoost's trees are small, and late rounds change little.
ROUNDS = 200


def _steps_grid(setting: Setting) -> list[dict[str, Any]]:
    """Stumps with whole steps and with small ones, and trees of three questions in a row."""
    steps = ((1, 1.0), (1, 0.3), (3, 0.1))
    return [{"max_depth": depth, "learning_rate": rate} for depth, rate in steps]


def _depth_grid(setting: Setting) -> list[dict[str, Any]]:
    """Small trees: what each member must be better than guessing by grows with the classes."""
    return [{"max_depth": depth} for depth in (1, 3, 6)]


def _regressor_grid(setting: Setting) -> list[dict[str, Any]]:
    return [{"max_depth": 4}, {"max_depth": 10}]


def _split(params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the members, and those of the boosting."""
    of_tree = {k: v for k, v in params.items() if k in ("max_depth", "min_samples_leaf")}
    return of_tree, {k: v for k, v in params.items() if k not in of_tree}


def _classifier(algorithm: Any, setting: Setting, params: Params, *, regress: bool = False) -> Any:
    of_tree, of_rounds = _split(params)
    tree = DecisionTreeRegressor if regress else DecisionTreeClassifier
    return AdaBoostClassifier(
        tree(**of_tree),
        algorithm=algorithm,
        random_state=setting.seed,
        n_jobs=1,
        **{"n_estimators": ROUNDS, **of_rounds},
    )


def _regressor(algorithm: Any, setting: Setting, params: Params) -> Any:
    of_tree, of_rounds = _split(params)
    return AdaBoostRegressor(
        DecisionTreeRegressor(**of_tree),
        algorithm=algorithm,
        random_state=setting.seed,
        n_jobs=1,
        **{"n_estimators": ROUNDS // 2, **of_rounds},
    )


# A member's cost grows with its depth; a member of R2 learns from a bag, one by one.
_cost = boosting_cost(
    lambda params: params.get("n_estimators", ROUNDS) * params.get("max_depth", 1),
    1.8e-8,
    leaf_rows=0,
)


def _entry(
    key: str,
    name: str,
    algorithm: str,
    grid: Grid = _depth_grid,
    *,
    task: Task = "classification",
    regress: bool = False,
) -> Model:
    """One algorithm for classes; ``regress`` where its members are regressions."""
    return Model(
        key=key,
        name=name,
        task=task,
        make=lambda s, p: _classifier(algorithm, s, p, regress=regress),
        grid=grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
    )


ADABOOST: tuple[Model, ...] = (
    # AdaBoost.MH: members that say how sure they are of each class, of any number of classes.
    *both_tasks(
        "adaboost",
        "AdaBoost",
        lambda s, p: _classifier("MH", s, p),
        _steps_grid,
        lambda s, p: _regressor("R2", s, p),
        _regressor_grid,
        style="native",
        engine="arboleda",
        cost=_cost,
    ),
    _entry("discrete_adaboost", "AdaBoost, discrete", "discrete", task="binary"),
    _entry("adaboost_m1", "AdaBoost.M1", "M1"),
    _entry("adaboost_m2", "AdaBoost.M2", "M2"),
    _entry("adaboost_mr", "AdaBoost.MR", "MR"),
    _entry("samme", "SAMME", "SAMME"),
    _entry("real_adaboost", "Real AdaBoost", "real"),
    _entry("gentle_adaboost", "Gentle AdaBoost", "gentle", regress=True),
    _entry("logitboost", "LogitBoost", "logit", regress=True),
    Model(
        key="adaboost_r",
        name="AdaBoost.R",
        task="regression",
        make=lambda s, p: _regressor("R", s, p),
        grid=_regressor_grid,
        style="native",
        engine="arboleda",
        core=False,
        cost=_cost,
    ),
    # Of naive Bayes that asks of each column only whether it is above its mean: a weak kind.
    Model(
        key="schapire_boosting",
        name="Schapire's boosting by majorities of three",
        task="binary",
        make=lambda s, p: SchapireBoostingClassifier(
            BernoulliNB(), depth=p["levels"], random_state=s.seed
        ),
        grid=lambda s: [{"levels": levels} for levels in (1, 2)],
        engine="arboleda",
        core=False,
    ),
)
