"""
A line through five points
==========================

With normal errors the likeliest line is that of least squares. Through the points (0, 4), (1, 6),
(2, 4), (3, 6), (4, 8) it has the slope 0.8 and the intercept 4, and leaves a mean squared error of
0.96. The red lines are the residuals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, mean_squared_error

x, y = np.arange(5.0), np.array([4.0, 6.0, 4.0, 6.0, 8.0])
line = LinearRegression().fit(x[:, np.newaxis], y)
slope, intercept = float(line.coef_[0]), float(line.intercept_)
squared_error = mean_squared_error(y, line.predict(x[:, np.newaxis]))
print(f"w = {slope:.2f}, b = {intercept:.2f}, mean squared error {squared_error:.2f}")

fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(x, intercept + slope * x, color="C2")
ax.vlines(x, y, intercept + slope * x, color="C3", lw=1)
ax.plot(x, y, "o", color="C0")
ax.set(xlabel="x", ylabel="y")
plt.show()

# %%
# By hand: the slope is the sum of products of the centred values over the sum of squares of the
# centred x, 8 / 10, and the line runs through the means (2, 5.6).

centred_x, centred_y = x - x.mean(), y - y.mean()
print(f"{centred_x @ centred_y:.1f} / {centred_x @ centred_x:.1f}; {y.mean() - 0.8 * x.mean():.1f}")

# %%
# Another line, with w = 2 and b = 1, predicts 5 and -1 where the values are 4 and 1: its residuals
# are -1 and 2, its mean absolute error 1.5 and its mean squared error 2.5.

predictions = 1 + 2 * np.array([2.0, -1.0])
absolute = mean_absolute_error([4, 1], predictions)
squared = mean_squared_error([4, 1], predictions)
print(f"mean absolute error {absolute}, mean squared error {squared}")
