"""
A Bayesian network: who depends on whom
=======================================

Naive Bayes takes columns to be independent in each class. Here they are not: a student's letter of
recommendation depends on the grade, the grade on how difficult the course was and on how
intelligent the student is, and the intelligence shows in the SAT too (Koller and Friedman 2009,
section 3.1). With naive Bayes there are 6 numbers to learn, with this network 15, with the table of
all combinations 47.
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
# The graph says what is independent of what. Difficulty and intelligence are, until the grade, or
# the letter that follows from it, is known: a good grade in a hard course speaks for intelligence.

for given in ([], ["grade"], ["letter"]):
    separated = network.d_separated("difficulty", "intelligence", given)
    print(f"difficulty and intelligence, given {given or 'nothing'}: separated = {separated}")

# %%
# What is not known is summed out: the probability of a strong letter, knowing less and less.

row = {"difficulty": "hard", "intelligence": "high", "SAT": "good", "grade": "B"}
asked = []
for hidden in ("nothing", "grade", "intelligence", "SAT", "difficulty"):
    row[hidden] = None
    asked.append((hidden, {name: row[name] for name in students.columns}))
questions = pd.DataFrame([question for _, question in asked])
for (hidden, _), p in zip(asked, network.predict_proba(questions)[:, 0], strict=True):
    print(f"without {hidden:13s}: {p:.3f}")

# %%
# Without a graph, each column gets the target and at most one other column as parents: the forest
# that makes the rows likeliest, with edges that are worth the numbers they take.

BayesianNetworkClassifier().fit(students, target).plot()
plt.show()
