"""Plugin for an independent benchmark harness: predictions (workload W9).

BENCH_PLUGINS=benchmarks/referee_predict.py python bench.py all --only W9

The harness executes this file in its own namespace, which defines `predictor`, `Fitted`, `load` and
`THREADS`. Models are fitted again, because the harness cannot load arboleda's saved models.
"""
# ruff: noqa: F821


def _load_rows():
    d = load("higgs100k")
    return d["X"], d["y"]


def _make_fitted(model):
    one = model.predictor()
    return Fitted(
        proba=model.predict_proba,
        single={
            "predict_proba": model.predict_proba,
            "predictor": lambda row: one.predict_proba(row[0]),
        },
    )


def _fit_boosting(s, **shape):
    from arboleda import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=s.trees,
        learning_rate=s.lr,
        min_samples_leaf=s.min_child,
        l2_regularization=s.l2,
        early_stopping=False,
        random_state=s.seed,
        n_jobs=THREADS,
        **shape,
    ).fit(*_load_rows())


@predictor("arboleda", ["arboleda.boosting"])
def _(s, model):
    return _make_fitted(_fit_boosting(s, max_leaf_nodes=s.leaves))


@predictor("arboleda-sym", ["arboleda.boosting"])
def _(s, model):
    return _make_fitted(_fit_boosting(s, growth="symmetric", max_depth=5, max_leaf_nodes=None))


@predictor("arboleda-rf", ["arboleda.forest"])
def _(s, model):
    from arboleda import RandomForestClassifier

    forest = RandomForestClassifier(s.trees // 5, random_state=s.seed, n_jobs=THREADS)
    return _make_fitted(forest.fit(*_load_rows()))
