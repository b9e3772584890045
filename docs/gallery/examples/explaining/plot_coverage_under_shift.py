"""
Prediction intervals, and how they fail under shift
===================================================

A forest fitted to used cars of up to 2016 predicts intervals for their prices, calibrated on other
cars of these years. For further cars of the same years, the intervals have the requested coverage.
For cars of 2019 and 2020, which cost more than all earlier ones, they do not: the guarantee only
holds for rows from the same population. Calibrated again with 500 of the newer cars, the same
forest reaches the coverage with wide intervals, because it has not learned anything about these
cars.

On the right, the width of 90 % intervals by four methods against the predicted price: a single
width, or widths that are larger where the model is less certain, with the same coverage on average.

The prices are those of used Volkswagens in the United Kingdom, read from the folder that the
environment variable ``ARBOLEDA_DATA`` names. If it is missing, a simulated table is used instead,
as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from arboleda import RandomForestRegressor
from arboleda.explain import prediction_interval

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "uk_used_cars" / "vw.csv.gz"
if file.exists():
    cars = pd.read_csv(file)
    print(f"used cars: {len(cars)} rows")
else:
    draw = np.random.default_rng(0)
    cars = pd.DataFrame({"year": draw.integers(2010, 2021, 9000), "tax": draw.random(9000)})
    cars["price"] = 5000 * 1.15 ** (cars["year"] - 2010) * draw.lognormal(0, 0.2, 9000)
    print("NOT the used cars, which are not here, but generated ones")
cars = cars.sample(frac=1, random_state=0, ignore_index=True)
price = cars.pop("price") / 1000
text = [name for name in cars if not pd.api.types.is_numeric_dtype(cars[name])]
cars = cars.astype(dict.fromkeys(text, "category"))

old, new = np.flatnonzero(cars["year"] <= 2016), np.flatnonzero(cars["year"] >= 2019)
fit, cal, other_old = np.split(old, [len(old) // 3, len(old) * 2 // 3])
forest = RandomForestRegressor(200, min_samples_leaf=2, keep_rows=True, random_state=0)
forest.fit(cars.iloc[fit], price[fit])


def rows(numbers):
    return cars.iloc[numbers], price[numbers].to_numpy()


calibrated = prediction_interval(forest, calibration=rows(cal))
again = prediction_interval(forest, calibration=rows(new[:500]))
curves = {
    "cars of up to 2016": calibrated.coverage_curve(*rows(other_old)),
    "cars of 2019 and 2020": calibrated.coverage_curve(*rows(new[500:])),
    "the same, calibrated with 500 of them": again.coverage_curve(*rows(new[500:])),
}
for name, curve in curves.items():
    at = curve.promised.tolist().index(0.9)
    print(
        f"{name}: {curve.covered[at]:.1%} covered of 90 % promised, plus and minus "
        f"{curve.size[at] / 2:.1f} thousand pounds"
    )

plt.rc("font", size=8)
figure = plt.figure(figsize=(10, 4.8))
left, right = figure.subplots(1, 2)
for name, curve in curves.items():
    curve.plot(left, label=name)

table, truth = rows(other_old)
training = np.sort(np.concatenate([fit, cal]))
whole = RandomForestRegressor(200, min_samples_leaf=2, random_state=0)
whole.fit(cars.iloc[training], price[training])
methods = {
    "absolute": calibrated,
    "normalized": prediction_interval(
        forest, calibration=rows(cal), method="normalized", random_state=0
    ),
    "quantile": prediction_interval(forest, calibration=rows(cal), method="quantile"),
    "jackknife+ab": prediction_interval(whole, training=rows(training)),
}
for (name, method), style in zip(methods.items(), ("-", "--", "-.", ":"), strict=True):
    found = method.predict(table)
    order = np.argsort(found.prediction)
    groups = np.array_split(order, 25)
    right.plot(
        [found.prediction[group].mean() for group in groups],
        [np.median(found.width[group]) for group in groups],
        style,
        lw=1.5,
        label=f"{name}: {found.covers(truth).mean():.1%} covered",
    )
right.set_xlabel("predicted price, thousand pounds")
right.set_ylabel("width of the interval, thousand pounds")
right.set_ylim(0, None)
right.legend(frameon=False)
right.spines[["top", "right"]].set_visible(False)
figure.tight_layout(rect=(0, 0, 1, 0.9))  # the legend stands above
plt.show()
