"""Kernel machines, and Bayes classifiers with a model of each class."""

from typing import Any

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from arboleda.learners import (
    BayesianNetworkClassifier,
    DiagonalLDA,
    KernelDensityClassifier,
    MixedNaiveBayes,
    NearestShrunkenCentroids,
    RegularizedDiscriminantAnalysis,
)
from arboleda.reports.fact_messages import write_message
from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.model import Model, Params, Setting, Size, both_tasks, no_parameters
from arboleda.study.catalogue.simple_models import scaled_target
from arboleda.study.data.target import n_scores

__all__ = ["CLASS_MODELS", "KERNELS"]

# Below, a support vector machine is always exact; kernel ridge regression is so up to here, as it
# costs the cube of the rows.
EXACT_ROWS = 5_000
# Rows that stand for all where a kernel is approximated: of the support vector machine, and of
# kernel ridge regression.
SVM_POINTS, RIDGE_POINTS = 2_000, 300
# The last digits of the linear machine cost half its time and change no score's third digit.
LINEAR_TOL = 1e-3
# Passes over the mapped rows that the linear machine makes, for each class.
LINEAR_PASSES = 600
# Megabytes of the kernel's values that the exact machine keeps.
CACHE = 400


def _svm_points(setting: Setting) -> int | None:
    """Rows by which the kernel is approximated; None where the exact machine is affordable."""
    rows, columns = setting.n_rows, setting.n_columns
    if (
        rows <= EXACT_ROWS
        or _svm_cost(Size(rows, columns, setting.n_classes), {}) <= setting.exact_s
    ):
        return None
    return min(SVM_POINTS, rows)


def _ridge_points(setting: Setting) -> int | None:
    return None if setting.n_rows <= EXACT_ROWS else min(RIDGE_POINTS, setting.n_rows)


def _nystroem(setting: Setting, points: int, gamma: float | str | None = None) -> Nystroem:
    """The map of Williams and Seeger (2001), "Using the Nystroem method"."""
    # One over the number of columns, which the exact machine calls "auto".
    gamma = None if gamma == "auto" else gamma
    return Nystroem(gamma=gamma, n_components=points, random_state=setting.seed)


def _svc(setting: Setting, params: Params) -> Any:
    points = _svm_points(setting)
    if points is None:
        return SVC(random_state=setting.seed, cache_size=CACHE, **params)
    rest = {k: v for k, v in params.items() if k != "gamma"}
    machine = LinearSVC(dual=False, tol=LINEAR_TOL, random_state=setting.seed, **rest)
    return make_pipeline(_nystroem(setting, points, params.get("gamma")), machine)


def _svr(setting: Setting, params: Params) -> Any:
    points = _svm_points(setting)
    if points is None:
        return scaled_target(SVR(cache_size=CACHE, **params))
    rest = {k: v for k, v in params.items() if k != "gamma"}
    # The squared loss has a primal solver, which is the one that is quick on many rows.
    loss = "squared_epsilon_insensitive"
    machine = LinearSVR(loss=loss, dual=False, tol=LINEAR_TOL, random_state=setting.seed, **rest)
    return scaled_target(make_pipeline(_nystroem(setting, points, params.get("gamma")), machine))


def _kernel_ridge(setting: Setting, params: Params) -> Any:
    points = _ridge_points(setting)
    # The standardised target has no mean to learn, and kernel ridge no constant to learn it by.
    if points is None:
        return scaled_target(KernelRidge(kernel="rbf", **params))
    return scaled_target(make_pipeline(_nystroem(setting, points), Ridge(**params)))


def _svm_cost(size: Size, params: Params) -> float:
    """Pairs of rows where the kernel is exact, else each row with the points of the map.

    The linear machine goes over the mapped rows some hundred times, for each class.
    """
    if size.points is None:
        return 2e-9 * size.rows**2 * size.columns
    machine = LINEAR_PASSES * n_scores(size.classes)
    return 1.2e-10 * size.rows * size.points * (size.columns + size.points + machine)


def _ridge_cost(size: Size, params: Params) -> float:
    if size.points is None:
        return 2e-9 * size.rows**2 * size.columns
    return 3e-9 * size.rows * size.points * (size.columns + size.points)


def _svm_note(setting: Setting) -> str | None:
    return _note(setting, _svm_points(setting), "SVM", "a linear machine")


def _ridge_note(setting: Setting) -> str | None:
    return _note(setting, _ridge_points(setting), "kernel ridge", "ridge regression")


def _note(setting: Setting, points: int | None, what: str, how: str) -> str | None:
    if points is None:
        return None
    return write_message("nystroem", what=what, components=points, how=how, rows=setting.n_rows)


KERNELS: tuple[Model, ...] = (
    *both_tasks(
        "svm",
        "Support vector machine",
        _svc,
        lambda s: [{"C": c} for c in (0.1, 1.0, 10.0)],
        _svr,
        lambda s: [{"C": c} for c in (0.1, 1.0, 10.0, 100.0)],
        max_rows=100_000,
        note=_svm_note,
        cost=_svm_cost,
        approximation=_svm_points,
        space=spaces.inverse_penalty,
    ),
    Model(
        key="kernel_ridge",
        name="Kernel ridge regression",
        task="regression",
        make=_kernel_ridge,
        grid=lambda s: [{"alpha": alpha} for alpha in (0.01, 0.1, 1.0, 10.0)],
        max_rows=100_000,
        note=_ridge_note,
        cost=_ridge_cost,
        approximation=_ridge_points,
        core=False,
        space=spaces.kernel_ridge,
    ),
)


# Every row that is asked about is compared with all rows learned from.
KERNEL_DENSITY_ROWS = 5_000


def _mixed_naive_bayes(setting: Setting, params: Params) -> Any:
    return MixedNaiveBayes(
        categorical_features=list(setting.categorical),
        binary_features=list(setting.binary),
        **params,
    )


def _mixed_naive_bayes_grid(setting: Setting) -> list[dict[str, Any]]:
    # Without a column that is counted, the prior of the counts changes nothing.
    priors = (0.5, 1.0, 10.0) if setting.categorical or setting.binary else (1.0,)
    return [{"alpha": prior, "var_smoothing": share} for share in (1e-9, 1e-3) for prior in priors]


def _bayesian_network(setting: Setting, params: Params) -> Any:
    """Numbers are cut into bins that tell the classes apart; all else is counted as it is."""
    counted = sorted({*setting.categorical, *setting.binary})
    return BayesianNetworkClassifier(categorical_features=counted, **params)


CLASS_MODELS: tuple[Model, ...] = (
    Model(
        key="naive_bayes",
        name="Gaussian naive Bayes",
        task="classification",
        make=lambda s, p: GaussianNB(**p),
        grid=lambda s: [{"var_smoothing": v} for v in (1e-9, 1e-6, 1e-3, 1e-1)],
        space=spaces.naive_bayes,
    ),
    Model(
        key="mixed_naive_bayes",
        name="Naive Bayes of mixed columns",
        task="classification",
        make=_mixed_naive_bayes,
        grid=_mixed_naive_bayes_grid,
        style="none",
        engine="arboleda",
        core=False,
    ),
    Model(
        key="bayesian_network",
        name="Bayesian network",
        task="classification",
        make=_bayesian_network,
        grid=lambda s: [
            {"structure": structure, "alpha": prior}
            for structure in ("fan", "tan", "naive")
            for prior in (1.0, 10.0)
        ],
        style="none",
        engine="arboleda",
        core=False,
    ),
    Model(
        key="lda",
        name="Linear discriminant analysis",
        task="classification",
        make=lambda s, p: LinearDiscriminantAnalysis(**p),
        grid=lambda s: [
            {"solver": "svd", "shrinkage": None},
            {"solver": "lsqr", "shrinkage": 0.1},
            {"solver": "lsqr", "shrinkage": "auto"},
        ],
    ),
    # Without any shrinkage a column that is constant within a class leaves no covariance.
    Model(
        key="qda",
        name="Quadratic discriminant analysis",
        task="classification",
        make=lambda s, p: QuadraticDiscriminantAnalysis(**p),
        grid=lambda s: [{"reg_param": share} for share in (0.01, 0.1, 0.5)],
        core=False,
    ),
    # These two choose what they shrink by cross-validation of their own.
    Model(
        key="rda",
        name="Regularised discriminant analysis",
        task="classification",
        make=lambda s, p: RegularizedDiscriminantAnalysis(random_state=s.seed, **p),
        grid=no_parameters,
        engine="arboleda",
        core=False,
    ),
    Model(
        key="shrunken_centroids",
        name="Nearest shrunken centroids",
        task="classification",
        make=lambda s, p: NearestShrunkenCentroids(random_state=s.seed, **p),
        grid=no_parameters,
        engine="arboleda",
        core=False,
    ),
    Model(
        key="diagonal_lda",
        name="Diagonal linear discriminant analysis",
        task="classification",
        make=lambda s, p: DiagonalLDA(**p),
        grid=no_parameters,
        engine="arboleda",
        core=False,
    ),
    Model(
        key="kernel_density",
        name="Kernel density classifier",
        task="classification",
        make=lambda s, p: KernelDensityClassifier(**p),
        grid=lambda s: [{"bandwidth": rule} for rule in ("cv", "scott")],
        engine="arboleda",
        max_rows=KERNEL_DENSITY_ROWS,
        core=False,
    ),
)
