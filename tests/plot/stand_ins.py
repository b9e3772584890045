"""Explanations with long names and odd values, made by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np

_WORDS = ("mean_income_before_taxes", "number-of-persons", "capital.gain, net of losses,")


def columns(n: int) -> tuple[str, ...]:
    """Different names of 40 characters."""
    return tuple(f"{_WORDS[k % 3]} of household {k:03d}"[-40:].rjust(40, "x") for k in range(n))


def classes(n: int) -> tuple[str, ...]:
    return tuple(f"class {k}, of a rather long name" for k in range(n))


def importance(n: int, value: float | None = None) -> Any:
    random = np.random.default_rng(n)
    values = random.exponential(size=n) * 0.1 - 0.01 if value is None else np.full(n, value)
    return SimpleNamespace(
        feature_names=columns(n),
        value=values,
        standard_error=np.full(n, 0.01),
        kind="permutation",
        scoring="accuracy",
    )


def lime(n: int, n_classes: int, weight: float | None = None) -> Any:
    random = np.random.default_rng(n + n_classes)
    return SimpleNamespace(
        conditions=[f"3.20 < {name} <= 17.18" for name in columns(n)],
        weights=random.normal(size=n) * 0.1 if weight is None else np.full(n, weight),
        feature_names=columns(n),
        class_names=classes(n_classes) if n_classes else None,
        probabilities=random.dirichlet(np.ones(n_classes)) if n_classes else None,
        output_name=classes(n_classes)[0] if n_classes else "price",
    )


def shap(n: int, n_outputs: int = 0, value: float | None = None) -> Any:
    """Every third column holds categories, and a tenth of all values is missing."""
    random = np.random.default_rng(n + 100 * n_outputs)
    shape = (80, n, n_outputs) if n_outputs else (80, n)
    data = np.empty((80, n), dtype=object)
    for column in range(n):
        drawn: Any = random.normal(size=80).tolist()
        if column % 3 == 2:
            drawn = random.choice(["Private", "Self-employed, not incorporated"], 80).tolist()
        data[:, column] = drawn
        data[random.random(80) < 0.1, column] = None
    return SimpleNamespace(
        values=random.normal(size=shape) if value is None else np.full(shape, value),
        base_values=np.full((80, n_outputs) if n_outputs else 80, 0.1),
        data=data,
        feature_names=columns(n),
        output_names=classes(max(1, n_outputs)),
        scale="probability",
    )


def dependence(n_categories: int, n_outputs: int, kind: str = "average") -> Any:
    random = np.random.default_rng(n_categories)
    n_points = n_categories or 30
    grid: Any = np.linspace(0.0, 10.0, n_points)
    density = random.gamma(3.0, size=200)
    if n_categories:
        grid = np.array([f"category {k}, of a long name" for k in range(n_categories)], object)
        density = random.integers(1, 99, n_categories).astype(float)
    average = 0.5 + 0.05 * np.cumsum(random.normal(size=(n_outputs, n_points)), axis=1)
    each = average[:, None] + 0.1 * random.normal(size=(n_outputs, 20, 1))
    return SimpleNamespace(
        feature_names=columns(1),
        grid=[grid],
        average=average,
        individual=each if kind == "individual" else None,
        kind=kind,
        density=[density],
        output_names=classes(n_outputs),
    )


def plane(n_across: int, n_up: int) -> Any:
    sides = [dependence(n, 1) for n in (n_across, n_up)]
    grid = [side.grid[0] for side in sides]
    random = np.random.default_rng(0)
    return SimpleNamespace(
        feature_names=columns(2),
        grid=grid,
        average=random.normal(size=(2, len(grid[0]), len(grid[1]))),
        individual=None,
        kind="average",
        density=[side.density[0] for side in sides],
        output_names=classes(2),
    )


def regions(n_models: int, n_classes: int) -> Any:
    random = np.random.default_rng(n_models)
    axis = np.linspace(4.0, 8.0, 30)
    stripes = np.arange(30) * max(1, n_classes) // 30
    values: Any = np.broadcast_to(stripes, (30, 30)) if n_classes else random.normal(size=(30, 30))
    return SimpleNamespace(
        feature_names=columns(2),
        grid=(axis, axis),
        names=tuple(f"member {k}" for k in range(n_models)),
        values=(values,) * n_models,
        class_names=classes(n_classes) if n_classes else None,
        rows=random.uniform(4.0, 8.0, (50, 2)),
        target=random.integers(0, n_classes, 50) if n_classes else random.normal(size=50),
    )


def coverage(name: str) -> Any:
    promised = np.linspace(0.5, 0.95, 6)
    return SimpleNamespace(
        promised=promised,
        covered=promised - 0.01,
        standard_error=np.full(6, 0.01),
        name=name,
    )
