"""
Trees do not extrapolate
========================

A tree predicts means of training targets, so its prediction is constant beyond the last training
value. The price of a megabyte of memory fell by about the same factor every year for decades. A
straight line through its logarithm continues to fall after the last year of training; the tree,
which fits every training price, remains constant.

The prices are J. C. McCallum's, the figure is after Müller and Guido (2016), section 2.3.5. The
table is read from the folder that the environment variable ``ARBOLEDA_DATA`` names. If it is
missing, simulated prices that fall by half every 20 months are used instead, as reported here:
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from arboleda import DecisionTreeRegressor

file = Path(os.environ.get("ARBOLEDA_DATA", ".")) / "ram_price" / "ram_price.csv"
if file.exists():
    prices = pd.read_csv(file)
    print(f"{len(prices)} prices from {prices.date.min():.0f} to {prices.date.max():.0f}")
else:
    rng = np.random.default_rng(0)
    date = np.sort(rng.uniform(1957, 2016, 333))
    price = 4e8 * 2.0 ** (-(date - 1957) / (20 / 12) + rng.normal(size=333))
    prices = pd.DataFrame({"date": date, "price": price})
    print("NOT the real prices, which are not here, but made-up ones")
train, test = prices[prices.date < 2000], prices[prices.date >= 2000]

# %%
# Both learn the logarithm of the price, from the years before 2000.

models = {"tree": DecisionTreeRegressor(), "straight line": LinearRegression()}
plt.semilogy(train.date, train.price, color="0.75", lw=4, label="training prices")
plt.semilogy(test.date, test.price, color="0.75", lw=2, ls="--", label="prices after 2000")
for (name, model), colour in zip(models.items(), ["C0", "C3"], strict=True):
    model.fit(train[["date"]], np.log(train.price))
    predicted = np.exp(model.predict(prices[["date"]]))
    plt.semilogy(prices.date, predicted, color=colour, lw=1, label=name)
plt.axvline(2000, color="black", lw=0.5, ls=":")
plt.xlabel("year")
plt.ylabel("dollars a megabyte")
plt.legend(frameon=False)
plt.show()

# %%
# Every later year gets the mean of the last leaf, and the error grows with the distance. If there
# is a trend, remove it first (here by a line, so that the tree learns the residuals), or use a
# model with a trend.

later = models["tree"].predict(test[["date"]])
print(f"different predictions of the tree after 2000: {len(np.unique(later))}")
for name, model in models.items():
    error = np.log2(test.price) - model.predict(test[["date"]]) / np.log(2)
    print(f"{name:14s} wrong by a factor of 2 to the {np.abs(error).mean():.1f} on average")
