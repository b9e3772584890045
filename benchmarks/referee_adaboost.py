"""Plugin for an independent benchmark harness: AdaBoost (workloads W6a to W6c).

BENCH_PLUGINS=benchmarks/referee_adaboost.py python bench.py all --only W6

The harness executes this file in its own namespace, which defines `contestant`, `Fitted`,
`sk_proba` and `THREADS`.
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
