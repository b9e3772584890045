"""Our contestant for the referee of AdaBoost (workloads W6a to W6c).

BENCH_PLUGINS=benchmarks/referee_adaboost.py python bench.py all --only W6

The referee executes this file among its own names: `contestant`, `Fitted`, `sk_proba` and `THREADS`
are its.
"""
# ruff: noqa: F821


@contestant("adaboost", "arboleda", ["arboleda.adaboost"])
def _(s, X, y, m):
    from arboleda import AdaBoostClassifier, DecisionTreeClassifier

    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=s.depth),
        n_estimators=s.trees,
        random_state=s.seed,
        n_jobs=THREADS,
    )
    with m.phase("train"):
        model.fit(X, y)
    return Fitted(proba=sk_proba(model, s), info={"trees": len(model.estimators_)})
