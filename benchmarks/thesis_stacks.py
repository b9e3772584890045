"""Stacks of the models that a study compares by themselves: seven on incomes, five on car prices.

    python benchmarks/thesis_stacks.py

Incomes: the rows of Adult without "?", without repetitions, of the United States, with the levels
of education and of marriage merged; accuracy and Matthews' correlation. Cars: prices of used
Volkswagens; root mean squared error and R2. One split, 80 to 20, with seed 1. The support vector
machines are linear ones on a Nystroem map, for so many rows are too many for an exact kernel.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

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
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
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


def incomes() -> tuple[Any, Any]:
    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz")
    frame = frame[~(frame == "?").any(axis=1)].drop_duplicates()
    frame = frame[frame["native-country"] == "United-States"]
    frame = frame.drop(columns=["fnlwgt", "native-country", "educational-num"])
    frame = frame.replace({"education": EDUCATION, "marital-status": MARRIAGE})
    target = frame.pop("income")
    return pd.get_dummies(frame, dtype=float).to_numpy(), target.to_numpy()


def cars() -> tuple[Any, Any]:
    frame = pd.read_csv(DATA / "uk_used_cars" / "vw.csv.gz")
    target = frame.pop("price").to_numpy(float)
    return pd.get_dummies(frame, dtype=float).to_numpy(), target


def scaled(*steps: Any) -> Any:
    return make_pipeline(StandardScaler(), *steps)


def unit_target(model: Any) -> Any:
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def kernel() -> Nystroem:
    return Nystroem(n_components=300, random_state=0)


SEVEN = [
    ("cart", DecisionTreeClassifier(max_depth=10, min_samples_leaf=20)),
    ("logistic", scaled(LogisticRegression(max_iter=1000))),
    ("network", scaled(MLPClassifier((32,), early_stopping=True, random_state=0))),
    ("naive_bayes", GaussianNB()),
    ("neighbours", scaled(KNeighborsClassifier(20))),
    ("svm", scaled(kernel(), LinearSVC(dual=False, tol=1e-3))),
    ("lda", LinearDiscriminantAnalysis()),
]
FIVE = [
    ("cart", DecisionTreeRegressor(min_samples_leaf=5)),
    ("linear", LinearRegression()),
    ("network", unit_target(scaled(MLPRegressor((100,), early_stopping=True, random_state=0)))),
    ("neighbours", scaled(KNeighborsRegressor(5))),
    (
        "svm",
        unit_target(
            scaled(kernel(), LinearSVR(loss="squared_epsilon_insensitive", dual=False, C=10.0))
        ),
    ),
]


def show(name: str, model: Any, data: tuple[Any, Any], scores: Any) -> None:
    X, Xt, y, yt = train_test_split(*data, test_size=0.2, random_state=1)
    start = time.perf_counter()
    model.fit(X, y)
    said = model.predict(Xt)
    values = " | ".join(f"{score(yt, said):.4g}" for score in scores)
    print(f"| {name} | {values} | {time.perf_counter() - start:.0f} s |", flush=True)


def main() -> None:
    classes, values = (accuracy_score, matthews_corrcoef), (root_mean_squared_error, r2_score)
    given = incomes()
    print(f"| incomes, {len(given[1]):,} rows | accuracy | MCC | time |\n|---|---:|---:|---:|")
    show("stack of seven, logistic", StackingClassifier(SEVEN), given, classes)
    show("stack of seven, simplex", StackingClassifier(SEVEN, weights="simplex"), given, classes)
    show("greedy selection of seven", EnsembleSelectionClassifier(SEVEN), given, classes)
    for name, member in SEVEN:
        show(name, member, given, classes)
    given = cars()
    print(f"\n| cars, {len(given[1]):,} rows | RMSE | R2 | time |\n|---|---:|---:|---:|")
    show("stack of five, ridge", StackingRegressor(FIVE), given, values)
    show("stack of five, simplex", StackingRegressor(FIVE, weights="simplex"), given, values)
    show("greedy selection of five", EnsembleSelectionRegressor(FIVE), given, values)
    for name, member in FIVE:
        show(name, member, given, values)


if __name__ == "__main__":
    main()
