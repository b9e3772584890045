"""Kernel machines: exact where the rows are few, else linear in a sample of the kernel."""

from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.model import Model, Params, Setting, Size, both_tasks
from arboleda.study.catalogue.scaled_target import scaled_target

__all__ = ["KERNELS"]

# An exact kernel costs the square to the cube of the rows.
EXACT_ROWS = 5_000
NYSTROEM_COMPONENTS = 300
# The last digits of the linear machine cost half its time and change no score's third digit.
LINEAR_TOL = 1e-3


def _is_exact(setting: Setting) -> bool:
    return setting.n_rows <= EXACT_ROWS


def _nystroem(setting: Setting, gamma: float | None = None) -> Nystroem:
    return Nystroem(gamma=gamma, n_components=NYSTROEM_COMPONENTS, random_state=setting.seed)


def _svc(setting: Setting, params: Params) -> Any:
    if _is_exact(setting):
        return SVC(random_state=setting.seed, **params)
    rest = {k: v for k, v in params.items() if k != "gamma"}
    machine = LinearSVC(dual=False, tol=LINEAR_TOL, random_state=setting.seed, **rest)
    return make_pipeline(_nystroem(setting, params.get("gamma")), machine)


def _svr(setting: Setting, params: Params) -> Any:
    if _is_exact(setting):
        return scaled_target(SVR(**params))
    rest = {k: v for k, v in params.items() if k != "gamma"}
    # The squared loss has a primal solver, which is the one that is quick on many rows.
    loss = "squared_epsilon_insensitive"
    machine = LinearSVR(loss=loss, dual=False, tol=LINEAR_TOL, random_state=setting.seed, **rest)
    return scaled_target(make_pipeline(_nystroem(setting, params.get("gamma")), machine))


def _kernel_ridge(setting: Setting, params: Params) -> Any:
    # The standardised target has no mean to learn, and kernel ridge no constant to learn it by.
    if _is_exact(setting):
        return scaled_target(KernelRidge(kernel="rbf", **params))
    return scaled_target(make_pipeline(_nystroem(setting), Ridge(**params)))


def _cost(size: Size, params: Params) -> float:
    """Pairs of rows where the kernel is exact, else each row with the rows of the map."""
    if size.rows <= EXACT_ROWS:
        return 2e-9 * size.rows**2 * size.columns
    return 3e-9 * size.rows * NYSTROEM_COMPONENTS * (size.columns + NYSTROEM_COMPONENTS)


def _svm_note(setting: Setting) -> str | None:
    return _note(setting, "SVM", "a linear machine")


def _kernel_ridge_note(setting: Setting) -> str | None:
    return _note(setting, "kernel ridge", "ridge regression")


def _note(setting: Setting, what: str, how: str) -> str | None:
    if _is_exact(setting):
        return None
    return (
        f"{what} by a Nystroem map of {NYSTROEM_COMPONENTS} components and {how}: "
        f"{setting.n_rows:,} rows are too many for an exact kernel"
    )


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
        cost=_cost,
        space=spaces.inverse_penalty,
    ),
    Model(
        key="kernel_ridge",
        name="Kernel ridge regression",
        task="regression",
        make=_kernel_ridge,
        grid=lambda s: [{"alpha": alpha} for alpha in (0.01, 0.1, 1.0, 10.0)],
        max_rows=100_000,
        note=_kernel_ridge_note,
        cost=_cost,
        core=False,
        space=spaces.kernel_ridge,
    ),
)
