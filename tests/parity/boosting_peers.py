"""Random data sets on which boosting libraries must find the same trees, and their parameters.

Every column has at most 60 values, so that each value is a bin of its own, and targets are noisy,
so that few splits tie. Where the libraries differ by definition, what is compared leaves it out:
LightGBM's and XGBoost's Poisson loss bounds its steps by another hessian, their softmax has another
factor in its hessian, XGBoost knows no smallest number of rows in a leaf.
"""

from typing import Any

import numpy as np
from scipy.special import expit

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

ROUNDS = 25


class Problem:
    """One data set with the parameters that all libraries are given."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        n = int(random.integers(300, 1500))
        n_columns = int(random.integers(2, 9))
        self.X = random.integers(0, random.integers(3, 60), size=(n, n_columns)).astype(float)
        scaled = self.X / self.X.max(axis=0)
        score = 2 * np.sin(3 * scaled[:, 0]) + scaled[:, 1] * scaled[:, -1] - 1
        score += random.normal(size=n) * random.choice([0.2, 1.0])
        self.two_classes = bool(seed % 2)
        self.y = (score > np.median(score)).astype(float) if self.two_classes else score
        self.rate = float(random.choice([0.05, 0.1, 0.3]))
        self.l2 = float(random.choice([0.0, 1.0, 10.0]))
        self.leaves = int(random.choice([2, 7, 31]))
        self.least_rows = int(random.choice([1, 5, 20]))

    def loss(self, raw: Any) -> float:
        """Mean of half the squared error, or of the log loss."""
        if self.two_classes:
            return float(np.mean(np.logaddexp(0.0, raw) - self.y * raw))
        return float(np.mean((self.y - raw) ** 2) / 2)

    @property
    def start(self) -> float:
        mean = float(self.y.mean())
        return float(np.log(mean / (1 - mean))) if self.two_classes else mean

    def ours(self, least_rows: int) -> tuple[Any, Any]:
        """Losses after each round, and the leaf of each row in the first tree."""
        maker = (
            HistGradientBoostingClassifier if self.two_classes else HistGradientBoostingRegressor
        )
        model = maker(
            max_iter=ROUNDS, learning_rate=self.rate, max_leaf_nodes=self.leaves,
            l2_regularization=self.l2, min_samples_leaf=least_rows, min_child_weight=0.0,
            early_stopping=False,
        ).fit(self.X, self.y)  # fmt: skip
        stages = (
            model.staged_decision_function(self.X)
            if self.two_classes
            else model.staged_predict(self.X)
        )
        return [self.loss(raw) for raw in stages], model.apply(self.X).reshape(len(self.y), -1)[
            :, 0
        ]

    def lightgbm(self) -> tuple[Any, Any]:
        import lightgbm

        parameters = {
            "objective": "binary" if self.two_classes else "regression",
            "learning_rate": self.rate, "num_leaves": self.leaves, "lambda_l2": self.l2,
            "min_data_in_leaf": self.least_rows, "min_sum_hessian_in_leaf": 0.0, "max_bin": 255,
            "min_data_in_bin": 1, "feature_pre_filter": False, "deterministic": True,
            "num_threads": 1, "force_col_wise": True, "verbosity": -1,
        }  # fmt: skip
        data = lightgbm.Dataset(self.X, self.y, params=parameters)
        model = lightgbm.train(parameters, data, num_boost_round=ROUNDS)
        stages = [
            model.predict(self.X, raw_score=True, num_iteration=k + 1)
            for k in range(model.num_trees())
        ]
        leaves = model.predict(self.X, pred_leaf=True, num_iteration=1).reshape(-1)
        return [self.loss(raw) for raw in stages], leaves

    def xgboost(self) -> tuple[Any, Any]:
        import xgboost

        parameters = {
            "objective": "binary:logistic" if self.two_classes else "reg:squarederror",
            "eta": self.rate, "max_leaves": self.leaves, "lambda": self.l2, "max_depth": 0,
            "grow_policy": "lossguide", "tree_method": "hist", "max_bin": 256, "nthread": 1,
            "min_child_weight": 0.0,
            "base_score": expit(self.start) if self.two_classes else self.start,
        }  # fmt: skip
        data = xgboost.DMatrix(self.X, self.y)
        model = xgboost.train(parameters, data, num_boost_round=ROUNDS)
        stages = [
            model.predict(data, output_margin=True, iteration_range=(0, k + 1))
            for k in range(ROUNDS)
        ]
        leaves = model.predict(data, pred_leaf=True, iteration_range=(0, 1)).reshape(-1)
        return [self.loss(np.asarray(raw, dtype=float)) for raw in stages], leaves


def partition(leaves: Any) -> list[int]:
    """Number the leaves by the first row in each, so that equal partitions are equal lists."""
    seen: dict[int, int] = {}
    return [seen.setdefault(int(leaf), len(seen)) for leaf in leaves]


def compare(problem: Problem, peer: str) -> tuple[bool, Any]:
    """Whether the first trees part the rows alike, and by what share our losses are higher."""
    theirs, their_leaves = getattr(problem, peer)()
    ours, our_leaves = problem.ours(problem.least_rows if peer == "lightgbm" else 1)
    deviations = np.array(ours[: len(theirs)]) / np.array(theirs) - 1.0
    return partition(our_leaves) == partition(their_leaves), deviations
