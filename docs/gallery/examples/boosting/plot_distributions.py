r"""
A distribution for each row
===========================

The noise of this curve depends on x: it is small on the left and large on the right. A regression
predicts a mean and is silent about that. `DistributionalBoostingRegressor` boosts both parameters
of a normal distribution, by natural gradients (Duan et al. 2020), so that intervals are narrow
where the target is easy to predict. The right figure is the histogram of the probability integral
transforms F(y) of other rows: bars inside of the band are calibrated. With the same standard
deviation everywhere, most transforms would be in the middle, which the dashed line shows.
"""

import matplotlib.pyplot as plt
import numpy as np

from arboleda import DistributionalBoostingRegressor
from arboleda.boosting import PredictedDistribution
from arboleda.metrics import distribution_table

random = np.random.default_rng(0)
X = np.sort(random.uniform(0, 10, size=(6000, 1)), axis=0)
y = 3 * np.sin(X[:, 0]) + np.exp(0.35 * X[:, 0] - 2) * random.normal(size=len(X))
is_train = np.arange(len(X)) % 2 == 0

model = DistributionalBoostingRegressor(max_iter=250, max_leaf_nodes=8, random_state=0)
model.fit(X[is_train], y[is_train])
dist = model.predict_dist(X[~is_train])
table = distribution_table(y[~is_train], dist)
errors = y[is_train] - model.predict(X[is_train])
constant = PredictedDistribution("normal", loc=dist.mean(), scale=errors.std())
of_constant = distribution_table(y[~is_train], constant)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(X[~is_train, 0], y[~is_train], ".", ms=2, color="0.6")
for confidence, alpha in ((0.9, 0.25), (0.5, 0.45)):
    lower, upper = dist.interval(confidence)
    left.fill_between(X[~is_train, 0], lower, upper, color="C0", alpha=alpha, lw=0)
left.plot(X[~is_train, 0], dist.mean(), color="C0")
left.set(xlabel="x", ylabel="y", title="means, central intervals of 50 and 90 %")
table.plot(right)
right.stairs(of_constant.pit, np.linspace(0, 1, 11), color="C1", ls="--", lw=1.5)
right.set_title(
    f"CRPS {table.metrics['crps']:.3f}; with one scale for all {of_constant.metrics['crps']:.3f}"
)
plt.show()
