"""Kernel methods, and Bayes classifiers with a model of each class."""

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

from arboleda.catalogue import spaces
from arboleda.catalogue.model import (
    Grid,
    Make,
    Model,
    Params,
    Setting,
    Size,
    make_empty_grid,
    make_product_grid,
    make_task_pair,
)
from arboleda.catalogue.simple_models import scale_target
from arboleda.learners import (
    BayesianNetworkClassifier,
    DiagonalLDA,
    KernelDensityClassifier,
    MixedNaiveBayes,
    NearestShrunkenCentroids,
    RegularizedDiscriminantAnalysis,
)
from arboleda.reports.fact_messages import write_message
from arboleda.tables.target import n_scores

__all__ = ["CLASS_MODELS", "KERNELS"]

# Up to this number of rows, kernels are exact. Above it, a support vector machine is exact only if
# it is affordable; kernel ridge regression never is, as its cost is cubic in the rows.
EXACT_ROWS = 5_000
# The numbers of landmarks of an approximated kernel: of the support vector machine, and of kernel
# ridge regression.
SVM_POINTS, RIDGE_POINTS = 2_000, 300
# The most rows of the table times landmarks of the support vector machine: every row is predicted,
# which costs as much as mapping it. So many landmarks remain at least.
MAPPED_CELLS, LEAST_SVM_POINTS = 200_000_000, 200
# A smaller tolerance doubles the time of the linear machine and hardly changes scores.
LINEAR_TOL = 1e-3
# Passes of the linear machine over the mapped rows, for each class.
LINEAR_PASSES = 600
# Megabytes of the exact machine's kernel cache.
CACHE = 400


def _count_svm_landmarks(setting: Setting) -> int | None:
    """Return the number of landmarks of the kernel; None if the exact machine is affordable."""
    rows, columns = setting.n_rows, setting.n_columns
    if (
        rows <= EXACT_ROWS
        or _estimate_svm_cost(Size(rows, columns, setting.n_classes), {})
        <= setting.max_exact_seconds
    ):
        return None
    affordable = max(LEAST_SVM_POINTS, MAPPED_CELLS // rows)
    return min(SVM_POINTS, rows, affordable, setting.max_landmarks or SVM_POINTS)


def _count_ridge_landmarks(setting: Setting) -> int | None:
    return None if setting.n_rows <= EXACT_ROWS else min(RIDGE_POINTS, setting.n_rows)


def _make_nystroem(setting: Setting, points: int, gamma: float | str | None = None) -> Nystroem:
    """Make the feature map of Williams and Seeger (2001), "Using the Nystroem method"."""
    # None means one over the number of columns; the exact machine calls it "auto".
    gamma = None if gamma == "auto" else gamma
    return Nystroem(gamma=gamma, n_components=points, random_state=setting.seed)


def _make_svc(setting: Setting, params: Params) -> Any:
    points = _count_svm_landmarks(setting)
    if points is None:
        return SVC(random_state=setting.seed, cache_size=CACHE, **params)
    return _make_linear_machine(setting, points, params, LinearSVC)


def _make_svr(setting: Setting, params: Params) -> Any:
    points = _count_svm_landmarks(setting)
    if points is None:
        return scale_target(SVR(cache_size=CACHE, **params))
    # The squared loss has a primal solver, which is fast for many rows.
    loss = "squared_epsilon_insensitive"
    return scale_target(_make_linear_machine(setting, points, params, LinearSVR, loss=loss))


def _make_linear_machine(
    setting: Setting, points: int, params: Params, machine: Any, **options: Any
) -> Any:
    """Make a linear support vector machine on the approximated kernel."""
    rest = {k: v for k, v in params.items() if k != "gamma"}
    return make_pipeline(
        _make_nystroem(setting, points, params.get("gamma")),
        machine(dual=False, tol=LINEAR_TOL, random_state=setting.seed, **rest, **options),
    )


def _make_kernel_ridge(setting: Setting, params: Params) -> Any:
    points = _count_ridge_landmarks(setting)
    # Kernel ridge regression has no intercept; the standardized target needs none.
    if points is None:
        return scale_target(KernelRidge(kernel="rbf", **params))
    return scale_target(make_pipeline(_make_nystroem(setting, points), Ridge(**params)))


def _estimate_svm_cost(size: Size, params: Params) -> float:
    """Estimate the seconds of a support vector machine.

    An exact kernel compares all pairs of rows; an approximated one compares each row with the
    landmarks, and the linear machine then passes over the mapped rows `LINEAR_PASSES` times. Rows
    to predict are mapped, too.
    """
    if size.points is None:
        return 2e-9 * size.rows**2 * size.columns
    mapped = (size.rows + size.n_scored) * (size.columns + size.points)
    passes = size.rows * LINEAR_PASSES * n_scores(size.classes)
    return 1.6e-10 * size.points * (mapped + passes)


def _estimate_ridge_cost(size: Size, params: Params) -> float:
    if size.points is None:
        return 2e-9 * size.rows**2 * size.columns
    return 3e-9 * size.rows * size.points * (size.columns + size.points)


def _write_svm_note(setting: Setting) -> str | None:
    return _write_note(setting, _count_svm_landmarks(setting), "SVM", "a linear machine")


def _write_ridge_note(setting: Setting) -> str | None:
    return _write_note(setting, _count_ridge_landmarks(setting), "kernel ridge", "ridge regression")


def _write_note(setting: Setting, points: int | None, what: str, how: str) -> str | None:
    if points is None:
        return None
    return write_message("nystroem", what=what, components=points, how=how, rows=setting.n_rows)


KERNELS: tuple[Model, ...] = (
    *make_task_pair(
        "svm",
        "Support vector machine",
        _make_svc,
        make_product_grid(C=(0.1, 1.0, 10.0)),
        _make_svr,
        make_product_grid(C=(0.1, 1.0, 10.0, 100.0)),
        max_rows=100_000,
        note=_write_svm_note,
        cost=_estimate_svm_cost,
        approximation=_count_svm_landmarks,
        space=spaces.make_inverse_penalty_space,
        lacks_probabilities=True,
    ),
    Model(
        key="kernel_ridge",
        name="Kernel ridge regression",
        task="regression",
        make=_make_kernel_ridge,
        grid=make_product_grid(alpha=(0.01, 0.1, 1.0, 10.0)),
        max_rows=100_000,
        note=_write_ridge_note,
        cost=_estimate_ridge_cost,
        approximation=_count_ridge_landmarks,
        core=False,
        space=spaces.make_kernel_ridge_space,
    ),
)


# Each predicted row is compared with all training rows.
KERNEL_DENSITY_ROWS = 5_000


def _make_mixed_naive_bayes(setting: Setting, params: Params) -> Any:
    return MixedNaiveBayes(
        categorical_features=list(setting.categorical),
        binary_features=list(setting.binary),
        **params,
    )


def _make_mixed_naive_bayes_grid(setting: Setting) -> list[dict[str, Any]]:
    # Without categorical or binary columns, the prior of the counts has no effect.
    priors = (0.5, 1.0, 10.0) if setting.categorical or setting.binary else (1.0,)
    return [{"alpha": prior, "var_smoothing": share} for share in (1e-9, 1e-3) for prior in priors]


def _make_bayesian_network(setting: Setting, params: Params) -> Any:
    """Make a Bayesian network, which bins numeric columns by the classes and counts all others."""
    counted = sorted({*setting.categorical, *setting.binary})
    return BayesianNetworkClassifier(categorical_features=counted, **params)


def _make_class_model(key: str, name: str, make: Make, grid: Grid, **options: Any) -> Model:
    """Make the entry of a classifier that studies try on request only, unless options differ."""
    return Model(key, name, "classification", make, grid, **{"core": False, **options})


CLASS_MODELS: tuple[Model, ...] = (
    _make_class_model(
        "naive_bayes",
        "Gaussian naive Bayes",
        lambda s, p: GaussianNB(**p),
        make_product_grid(var_smoothing=(1e-9, 1e-6, 1e-3, 1e-1)),
        core=True,
        space=spaces.make_naive_bayes_space,
    ),
    _make_class_model(
        "mixed_naive_bayes",
        "Naive Bayes of mixed columns",
        _make_mixed_naive_bayes,
        _make_mixed_naive_bayes_grid,
        style="none",
        engine="arboleda",
    ),
    _make_class_model(
        "bayesian_network",
        "Bayesian network",
        _make_bayesian_network,
        make_product_grid(structure=("fan", "tan", "naive"), alpha=(1.0, 10.0)),
        style="none",
        engine="arboleda",
    ),
    _make_class_model(
        "lda",
        "Linear discriminant analysis",
        lambda s, p: LinearDiscriminantAnalysis(**p),
        lambda s: [
            {"solver": "svd", "shrinkage": None},
            {"solver": "lsqr", "shrinkage": 0.1},
            {"solver": "lsqr", "shrinkage": "auto"},
        ],
        core=True,
    ),
    # Without shrinkage, a column that is constant within a class makes its covariance singular.
    _make_class_model(
        "qda",
        "Quadratic discriminant analysis",
        lambda s, p: QuadraticDiscriminantAnalysis(**p),
        make_product_grid(reg_param=(0.01, 0.1, 0.5)),
    ),
    # The next two select their shrinkage by internal cross-validation.
    _make_class_model(
        "rda",
        "Regularised discriminant analysis",
        lambda s, p: RegularizedDiscriminantAnalysis(random_state=s.seed, **p),
        make_empty_grid,
        engine="arboleda",
    ),
    _make_class_model(
        "shrunken_centroids",
        "Nearest shrunken centroids",
        lambda s, p: NearestShrunkenCentroids(random_state=s.seed, **p),
        make_empty_grid,
        engine="arboleda",
    ),
    _make_class_model(
        "diagonal_lda",
        "Diagonal linear discriminant analysis",
        lambda s, p: DiagonalLDA(**p),
        make_empty_grid,
        engine="arboleda",
    ),
    _make_class_model(
        "kernel_density",
        "Kernel density classifier",
        lambda s, p: KernelDensityClassifier(**p),
        make_product_grid(bandwidth=("cv", "scott")),
        engine="arboleda",
        max_rows=KERNEL_DENSITY_ROWS,
    ),
)
