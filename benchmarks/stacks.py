"""Compare stacks of textbook models with their members, on incomes and prices of used cars.

    python benchmarks/stacks.py [--only incomes]

Incomes: the rows of Adult without "?", without duplicates, from the United States, with merged
levels of education and marital status; accuracy and Matthews' correlation. Cars: prices of used
Volkswagens; root mean squared error and R2. One split, 80 to 20, with seed 1. The support vector
machines are linear on a Nystroem map, because there are too many rows for an exact kernel.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, matthews_corrcoef, r2_score, root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    StackingClassifier,
    StackingRegressor,
)

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
SCHOOL = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th")
EDUCATION = {
    **dict.fromkeys(SCHOOL, "dropout"),
    "HS-grad": "HighGrad",
    **dict.fromkeys(["Some-college", "Assoc-voc", "Assoc-acdm"], "CommunityCollege"),
    "Prof-school": "Masters",
}
MARRIAGE = {
    **dict.fromkeys(["Never-married", "Married-spouse-absent"], "NotMarried"),
    **dict.fromkeys(["Married-AF-spouse", "Married-civ-spouse"], "Married"),
    **dict.fromkeys(["Separated", "Divorced"], "Separated"),
}


def load_incomes() -> tuple[Any, Any]:
    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz")
    frame = frame[~(frame == "?").any(axis=1)].drop_duplicates()
    frame = frame[frame["native-country"] == "United-States"]
    frame = frame.drop(columns=["fnlwgt", "native-country", "educational-num"])
    frame = frame.replace({"education": EDUCATION, "marital-status": MARRIAGE})
    target = frame.pop("income")
    return pd.get_dummies(frame, dtype=float).to_numpy(), target.to_numpy()


def load_cars() -> tuple[Any, Any]:
    frame = pd.read_csv(DATA / "uk_used_cars" / "vw.csv.gz")
    target = frame.pop("price").to_numpy(float)
    return pd.get_dummies(frame, dtype=float).to_numpy(), target


def scale(*steps: Any) -> Any:
    """Standardise logarithms: amounts are not negative and vary over orders of magnitude."""
    return make_pipeline(FunctionTransformer(np.log1p), StandardScaler(), *steps)


def scale_target(model: Any) -> Any:
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def make_kernel_map() -> Nystroem:
    return Nystroem(n_components=300, random_state=0)


SEVEN = [
    ("cart", DecisionTreeClassifier(max_leaf_nodes=80, min_samples_leaf=10)),
    ("logistic", scale(LogisticRegression(max_iter=1000))),
    (
        "network",
        make_pipeline(
            StandardScaler(),
            MLPClassifier(hidden_layer_sizes=(32,), early_stopping=True, random_state=0),
        ),
    ),
    ("naive_bayes", scale(GaussianNB())),
    ("neighbours", KNeighborsClassifier(20)),
    ("svm", make_pipeline(StandardScaler(), make_kernel_map(), LinearSVC(dual=False, tol=1e-3))),
    ("lda", scale(LinearDiscriminantAnalysis())),
]
FIVE = [
    ("cart", DecisionTreeRegressor(min_samples_leaf=5)),
    ("linear", LinearRegression()),
    (
        "network",
        scale_target(
            scale(MLPRegressor(hidden_layer_sizes=(100,), early_stopping=True, random_state=0))
        ),
    ),
    ("neighbours", scale(KNeighborsRegressor(5))),
    (
        "svm",
        scale_target(
            scale(
                make_kernel_map(), LinearSVR(loss="squared_epsilon_insensitive", dual=False, C=10.0)
            )
        ),
    ),
]


def show(title: str, stack: Any, data: tuple[Any, Any], scores: dict[str, Any]) -> None:
    """Print the test scores of the stack and of its members, fitted on all training rows."""
    X, X_test, y, y_test = train_test_split(*data, test_size=0.2, random_state=1)
    start = time.perf_counter()
    stack.fit(X, y)
    seconds = time.perf_counter() - start
    print(f"| {title}, {len(data[1]):,} rows | {' | '.join(scores)} |")
    print("|---|" + "---:|" * len(scores))
    predictions = {f"stack ({seconds:.0f} s)": stack.predict(X_test)}
    classes = getattr(stack, "classes_", None)
    for name, member in stack.named_estimators_.items():
        predicted = member.predict(X_test)
        predictions[name] = predicted if classes is None else classes[predicted]
    for name, predicted in predictions.items():
        values = " | ".join(f"{score(y_test, predicted):.4g}" for score in scores.values())
        print(f"| {name} | {values} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["incomes", "cars"], default=None)
    only = parser.parse_args().only
    if only != "incomes":
        scores = {"RMSE": root_mean_squared_error, "R2": r2_score}
        show("used cars", StackingRegressor(FIVE), load_cars(), scores)
    if only != "cars":
        scores = {"accuracy": accuracy_score, "MCC": matthews_corrcoef}
        show("incomes", StackingClassifier(SEVEN), load_incomes(), scores)


if __name__ == "__main__":
    main()
