"""The numbers in tables 3.3 to 3.5 of the thesis, and those of scikit-learn's defaults.

The thesis used other test rows, so its numbers are reference levels. The levels of scikit-learn are
for the split of `preparation.split`, with default parameters; bagging and forests have 100 members.
"""

from dataclasses import dataclass

__all__ = ["PROBLEMS", "Problem"]

Row = dict[str, float]


@dataclass(frozen=True)
class Problem:
    """One of the three studies.

    ``thesis`` and ``levels`` have metrics by the key of the model; ``order`` is the order of the
    thesis's box plot, from the lowest to the highest median, if the thesis has one.
    """

    key: str
    title: str
    table: str
    target: str
    metric: str
    metrics: tuple[str, ...]
    printed: tuple[str, str]
    thesis: dict[str, Row]
    levels: dict[str, Row]
    order: tuple[str, ...]


def _rows(metrics: tuple[str, ...], table: str) -> dict[str, Row]:
    """Parse lines of a key and its numbers."""
    found = {}
    for line in table.strip().splitlines():
        key, *numbers = line.split()
        found[key] = dict(zip(metrics, map(float, numbers), strict=True))
    return found


_CLASSES = ("accuracy", "recall", "precision", "f1", "mcc")
_NUMBERS = ("mse", "rmse", "mae", "r2")

PROBLEMS = {
    "p1": Problem(
        "p1",
        "P1: incomes of adults",
        "adult",
        "income",
        "accuracy",
        _CLASSES,
        ("Table 3.3", "Figure 3.1"),
        _rows(
            _CLASSES,
            """
            cart              0.81 0.756 0.76 0.75 0.51
            logistic          0.83 0.75  0.80 0.77 0.54
            lda               0.83 0.75  0.80 0.77 0.54
            network           0.84 0.86  0.83 0.77 0.57
            neighbours        0.85 0.76  0.81 0.78 0.57
            naive_bayes       0.81 0.80  0.76 0.77 0.55
            svm               0.86 0.78  0.83 0.79 0.60
            bagging           0.77 0.78  0.79 0.78 0.56
            random_forest     0.84 0.78  0.79 0.78 0.56
            adaboost          0.87 0.80  0.83 0.80 0.62
            single_stacking   0.86 0.80  0.83 0.80 0.61
            """,
        ),
        _rows(
            ("accuracy", "mcc"),
            """
            cart              0.819 0.515
            naive_bayes       0.802 0.544
            logistic          0.839 0.553
            lda               0.829 0.521
            neighbours        0.851 0.581
            network           0.832 0.521
            random_forest     0.839 0.561
            bagging           0.840 0.563
            adaboost          0.849 0.579
            gradient_boosting 0.863 0.623
            """,
        ),
        (
            "cart", "naive_bayes", "lda", "logistic", "network", "random_forest", "bagging",
            "neighbours", "svm", "single_stacking", "adaboost",
        ),
    ),
    "p2": Problem(
        "p2",
        "P2: handwritten digits",
        "mnist",
        "digit",
        "accuracy",
        _CLASSES,
        ("Table 3.4", "Figure 3.2"),
        _rows(
            _CLASSES,
            """
            cart              0.77 0.80 0.80 0.80 0.77
            logistic          0.87 0.89 0.89 0.89 0.87
            lda               0.83 0.84 0.84 0.84 0.82
            network           0.92 0.92 0.92 0.92 0.91
            neighbours        0.91 0.93 0.93 0.93 0.92
            naive_bayes       0.56 0.63 0.73 0.57 0.60
            svm               0.92 0.93 0.93 0.92 0.92
            bagging           0.90 0.90 0.90 0.90 0.88
            random_forest     0.93 0.95 0.95 0.94 0.90
            adaboost          0.56 0.65 0.65 0.64 0.62
            single_stacking   0.95 0.96 0.96 0.96 0.96
            """,
        ),
        _rows(
            ("accuracy", "mcc"),
            """
            cart              0.882 0.869
            naive_bayes       0.546 0.516
            logistic          0.913 0.903
            lda               0.867 0.853
            neighbours        0.966 0.963
            random_forest     0.969 0.965
            """,
        ),
        (),
    ),
    "p3": Problem(
        "p3",
        "P3: prices of used cars",
        "uk_used_cars",
        "price",
        "rmse",
        _NUMBERS,
        ("Table 3.5", "Figure 3.3"),
        _rows(
            _NUMBERS,
            """
            cart              4246965.45 2059.00 1326.91 0.92
            linear            6787867.59 2604.66 1852.03 0.88
            neighbours        31190681.17 5582.78 4110.12 0.48
            network           14276447.89 3773.71 2639.80 0.15
            svm               31190681.17 5582.78 4110.12 0.10
            random_forest     2665615.51 1632.21 1081.43 0.95
            bagging           2814938.93 1677.41 1119.33 0.95
            adaboost          3085347.54 1754.60 1290.22 0.95
            single_stacking   3389747.70 1840.59 1267.80 0.94
            """,
        ),
        _rows(
            ("rmse", "r2"),
            """
            cart              2114 0.923
            linear            2490 0.894
            neighbours        5489 0.483
            network           3658 0.771
            random_forest     1671 0.952
            bagging           1675 0.952
            adaboost          1751 0.947
            gradient_boosting 1659 0.953
            """,
        ),
        (
            "svm", "neighbours", "network", "cart", "linear", "single_stacking", "bagging",
            "adaboost", "random_forest",
        ),
    ),
}  # fmt: skip
