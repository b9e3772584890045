"""
Reading categorical splits
==========================

A split on a categorical column lists the categories that go to one side. All others, including
categories that do not occur in training, go to the side of missing values. The example is a
simulated table of used cars, whose price depends on the make, the fuel and the age, and in which a
tenth of the makes is missing.
"""

import numpy as np
import pandas as pd

from arboleda import DecisionTreeRegressor, export_text

rng = np.random.default_rng(0)
n = 3000
makes = {"Alba": 9, "Brisa": 11, "Cierzo": 12, "Duna": 15, "Estela": 22, "Faro": 24, "Galerna": 31}
fuels = {"petrol": 0, "diesel": 2, "electric": 14, "hybrid": 8}
cars = pd.DataFrame(
    {
        "make": rng.choice(list(makes), n),
        "fuel": rng.choice(list(fuels), n),
        "age": rng.integers(0, 20, n),
    }
)
worth = (cars["make"].map(makes) + cars["fuel"].map(fuels)) * 0.93 ** cars["age"]
price = 1000 * worth * rng.normal(1, 0.1, n)
cars.loc[rng.random(n) < 0.1, "make"] = None

tree = DecisionTreeRegressor(
    max_depth=3, min_samples_leaf=60, categorical_features=["make", "fuel"]
).fit(cars, price)
tree.to_svg()

# %%
# The same as text. "or missing" is shown for columns with missing values in training.

print(export_text(tree, decimals=1, max_depth=1))

# %%
# As rules, sets of categories are intersected. ``str`` abbreviates long sets; the conditions
# themselves hold all of them.

dearest = max(tree.rules(), key=lambda rule: rule.prediction)
print(dearest)
print([condition.levels for condition in dearest.conditions])
