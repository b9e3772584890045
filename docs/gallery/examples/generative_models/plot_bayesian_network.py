"""
A Bayesian network and its dependences
=======================================

Naive Bayes assumes that columns are independent in each class. Here they are not: a student's
letter of recommendation depends on the grade, the grade on the difficulty of the course and on the
student's intelligence, and the SAT score depends on the intelligence too (Koller and Friedman 2009,
section 3.1). Naive Bayes has 6 parameters, this network 15, and the table of all combinations 47.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from arboleda import BayesianNetworkClassifier

random = np.random.default_rng(0)
n_rows = 2000
difficult, intelligent = random.random((2, n_rows)) < [[0.4], [0.3]]
good_grade = random.random(n_rows) < 0.5 - 0.3 * difficult + 0.4 * intelligent
grade = np.where(good_grade, "A", np.where(random.random(n_rows) < 0.5, "B", "C"))
letter = random.random(n_rows) < np.select([grade == "A", grade == "B"], [0.9, 0.6], 0.05)
students = pd.DataFrame(
    {
        "difficulty": np.where(difficult, "hard", "easy"),
        "intelligence": np.where(intelligent, "high", "low"),
        "SAT": np.where(random.random(n_rows) < 0.05 + 0.75 * intelligent, "good", "poor"),
        "grade": grade,
    }
)
target = pd.Series(np.where(letter, "strong", "weak"), name="letter")

edges = [
    ("difficulty", "grade"),
    ("intelligence", "grade"),
    ("intelligence", "SAT"),
    ("grade", "letter"),
]
network = BayesianNetworkClassifier(edges).fit(students, target)
network.plot()
plt.show()

for node, table in network.tables_.items():
    print(f"P({node} | {', '.join(network.graph_.parents(node)) or 'nothing'})")
    print(table.round(2))

# %%
# The graph implies independences. Difficulty and intelligence are independent until the grade, or
# the letter that depends on it, is known: a good grade in a hard course is evidence of
# intelligence.

for given in ([], ["grade"], ["letter"]):
    separated = network.d_separated("difficulty", "intelligence", given)
    print(f"difficulty and intelligence, given {given or 'nothing'}: separated = {separated}")

# %%
# Unknown values are summed out: the probability of a strong letter, with less and less information.

row = {"difficulty": "hard", "intelligence": "high", "SAT": "good", "grade": "B"}
queries = []
for hidden in ("nothing", "grade", "intelligence", "SAT", "difficulty"):
    row[hidden] = None
    queries.append((hidden, {name: row[name] for name in students.columns}))
rows = pd.DataFrame([query for _, query in queries])
for (hidden, _), p in zip(queries, network.predict_proba(rows)[:, 0], strict=True):
    print(f"without {hidden:13s}: {p:.3f}")

# %%
# Without a given graph, each column gets the target and at most one other column as parents: the
# forest with the largest likelihood, with edges that justify their additional parameters.

BayesianNetworkClassifier().fit(students, target).plot()
plt.show()
