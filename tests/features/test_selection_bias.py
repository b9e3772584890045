"""On pure noise a selection looks good outside the folds, and not inside them."""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from arboleda import MRMRSelector


def test_selection_outside_the_folds_finds_signal_in_noise() -> None:
    outside, inside = [], []
    for table in range(3):
        X = np.random.default_rng(table).standard_normal((50, 5000))
        y = np.repeat([0, 1], 25)
        folds = StratifiedKFold(5, shuffle=True, random_state=table)
        chosen = MRMRSelector(10).fit_transform(X, y)
        outside.append(cross_val_score(GaussianNB(), chosen, y, cv=folds).mean())
        pipeline = make_pipeline(MRMRSelector(10), GaussianNB())
        inside.append(cross_val_score(pipeline, X, y, cv=folds).mean())
    assert np.mean(outside) > 0.8
    # Right half of the time: the standard error of 150 predictions is 0.04.
    assert abs(np.mean(inside) - 0.5) < 0.1
