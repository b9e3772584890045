r"""
Deciding, or rejecting unclear cases
======================================

Given the posterior probabilities, choosing the most probable class minimises the number of errors,
and errors become rarer still if unclear cases are rejected.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

# %%
# With the posterior :math:`P(1 \mid x) = 1 / (1 + e^{-wx})`, the border between the two classes
# lies at :math:`x = 0`, whatever w is. Requiring a probability of at least 0.9 rejects the rows
# with :math:`|wx| < \log 9 = 2.197`.

wx = np.linspace(-6, 6, 1201)
highest_probability = np.maximum(expit(wx), 1 - expit(wx))
rejected = wx[highest_probability < 0.9]
border = float(np.log(9))
print(f"rejected: {rejected.min():.2f} to {rejected.max():.2f}; log 9 = {border:.3f}")

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(wx, expit(wx), label="P(1 | x)")
ax.plot(wx, 1 - expit(wx), label="P(0 | x)")
ax.axvspan(-border, border, color="0.9", label="rejected")
ax.axhline(0.9, color="0.5", ls=":", lw=1)
ax.set(xlabel="wx", ylabel="probability")
ax.legend(frameon=False, loc="center right")
plt.show()
