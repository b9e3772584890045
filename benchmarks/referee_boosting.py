"""Plugin for an independent benchmark harness: boosting (workloads W1 to W4 and W10).

BENCH_PLUGINS=benchmarks/referee_boosting.py python bench.py all --only W1,W2,W3,W4,W10

The harness executes this file in its own namespace, which defines `contestant`, `Fitted`,
`sk_proba`, `one`, `GRID` and `THREADS`.
"""
# ruff: noqa: F821


@contestant("gbdt", "arboleda", ["arboleda.boosting"])
def _(s, X, y, m):
    from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if s.task == "reg" else HistGradientBoostingClassifier
    model = kind(
        max_iter=s.trees,
        learning_rate=s.lr,
        max_leaf_nodes=s.leaves,
        max_bins=s.bins,
        min_samples_leaf=s.min_child,
        l2_regularization=s.l2,
        early_stopping=False,
        random_state=s.seed,
        n_jobs=THREADS,
    )
    with m.phase("train"):
        model.fit(X, y)
    return Fitted(proba=sk_proba(model, s))


@contestant("grid", "arboleda", ["arboleda.boosting", "arboleda.model_selection"])
def _(s, X, y, m):
    from arboleda import HistGradientBoostingClassifier
    from arboleda.model_selection import GridSearch

    grid = GRID | {"max_depth": [3, 4, 5, 6, 7], "max_iter": [100, 200, 300]}
    model = HistGradientBoostingClassifier(
        max_leaf_nodes=None, early_stopping=False, n_jobs=THREADS
    )
    search = GridSearch(model, grid, scoring="roc_auc", cv=5).fit(X, y)
    return Fitted(
        proba=lambda Z: one(search.predict_proba(Z)),
        info={"cv_auc": float(search.best_score_), "best": str(search.best_params_)},
    )
