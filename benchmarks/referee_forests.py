"""Plugin for an independent benchmark harness: forests, bagging (workloads W5a to W5d and W8).

BENCH_PLUGINS=benchmarks/referee_forests.py python bench.py all --only W5,W8

The harness executes this file in its own namespace, which defines `contestant`, `Fitted`,
`sk_proba` and `THREADS`. A contestant takes part in every workload of its family, so that each has
random forests and extremely randomised trees; compare them only with forests of the same kind.
"""
# ruff: noqa: F821


def _fit_forest(kind, s, X, y, m):
    import arboleda

    suffix = "Regressor" if s.task == "reg" else "Classifier"
    model = getattr(arboleda, kind + suffix)(
        n_estimators=s.trees,
        max_features=s.max_features,
        max_depth=s.depth,
        random_state=s.seed,
        n_jobs=THREADS,
    )
    with m.phase("train"):
        model.fit(X, y)
    n_bytes = model.forest_.n_bytes
    return Fitted(proba=sk_proba(model, s), info={"model_mb": n_bytes / 2**20})


@contestant("forest", "arboleda-rf", ["arboleda.forest"])
def _(s, X, y, m):
    return _fit_forest("RandomForest", s, X, y, m)


@contestant("forest", "arboleda-et", ["arboleda.forest"])
def _(s, X, y, m):
    return _fit_forest("ExtraTrees", s, X, y, m)


@contestant("bagging", "arboleda", ["arboleda.bagging"])
def _(s, X, y, m):
    from arboleda import BaggingClassifier

    model = BaggingClassifier(n_estimators=s.trees, random_state=s.seed, n_jobs=THREADS)
    with m.phase("train"):
        model.fit(X, y)
    return Fitted(proba=sk_proba(model, s))
