"""Write iris.html, a page in which a model predicts: python examples/page/make_page.py."""

from pathlib import Path

from sklearn.datasets import load_iris

import arboleda

iris = load_iris(as_frame=True)
species = iris.target.map(dict(enumerate(iris.target_names)))
model = arboleda.HistGradientBoostingClassifier(
    max_iter=40, learning_rate=0.1, min_samples_leaf=8, max_leaf_nodes=6, random_state=0
).fit(iris.data, species)
path = Path(__file__).with_name("iris.html")
# The measurements are public, so the page may hold some of them.
arboleda.export_page(
    model, path, iris.data, title="Which iris is it?", target="species", include_rows=30
)
print(path)
