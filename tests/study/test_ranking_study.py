"""Studies of rankings, from the table to the report."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file
from tests.conftest import shared_data

from arboleda import Study
from arboleda.metrics import ranking_table
from arboleda.reports.study.page import render_report
from arboleda.scoring.choice import find_metric
from arboleda.scoring.measures import ScoredOutputs
from arboleda.scoring.paired_tests import compare_on_rows
from arboleda.scoring.ranking import QueryMean, bind_ranking_metric
from arboleda.scoring.scores import Predictions
from arboleda.study import StudyError, StudyRanker, StudyResult, compare, explain, predict
from arboleda.tables.timed_target import join_relevance

SCHEMA = Path(__file__).parents[2] / "src/arboleda/facts/study.schema.json"
MODELS = "unranked,ridge_relevance,lambdamart"
QUERY = "<i>q"


def make_documents(n: int = 360, seed: int = 0) -> pd.DataFrame:
    """Rows of 40 queries of unequal sizes in mixed order; `match` decides the relevance."""
    draw = np.random.default_rng(seed)
    query = draw.integers(0, 40, n)
    match = draw.normal(size=n)
    # The level of a query does not help to rank within it.
    level = draw.normal(size=40)[query]
    relevance = np.clip(np.round(match + 0.7 * draw.normal(size=n) + 1), 0, 3).astype(int)
    return pd.DataFrame(
        {
            "match": match + level,
            "level": level,
            "noise": draw.normal(size=n),
            "relevance": relevance,
            "query_id": [f"{QUERY}{number}" for number in query],
        }
    )


@pytest.fixture(scope="module")
def documents() -> pd.DataFrame:
    return make_documents()


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, documents: pd.DataFrame) -> StudyResult:
    folder = tmp_path_factory.mktemp("ranking")
    return Study(
        documents, target="relevance", query="query_id", models=MODELS, output_dir=folder, n_jobs=1
    ).run(progress=False)


def test_facts_follow_the_schema(result: StudyResult) -> None:
    facts = json.loads((result.folder / "results.json").read_text())
    jsonschema.validate(facts, json.loads(SCHEMA.read_text()))
    assert facts["study"]["task"] == "ranking"
    assert facts["study"]["metric"] == "ndcg:10"
    assert [m["status"] for m in facts["models"]] == ["ok"] * 3
    assert facts["models"][-1]["key"] == "unranked"
    roles = {c["name"]: c["role"] for c in facts["data"]["columns"]}
    assert roles["query_id"] == "left_out"
    assert facts["importance"]["columns"][0]["name"] == "match"
    assert "queries" in facts["models"][0]["test"]["interval"]["method"]


def test_queries_stay_together(result: StudyResult, documents: pd.DataFrame) -> None:
    train, test = result.training_rows(), result.test_rows()
    of = documents.query_id.to_numpy()
    assert not set(of[train.numbers]) & set(of[test.numbers])
    for query in set(of[train.numbers]):
        assert len(set(train.fold[of[train.numbers] == query])) == 1


def test_scores_are_those_of_the_table(result: StudyResult, documents: pd.DataFrame) -> None:
    test = result.test_rows()
    qid = documents.query_id.to_numpy()[test.numbers]
    for model in result.facts["models"]:
        scores = result.model(model["key"]).predict(test.X)
        table = ranking_table(test.y, scores, qid=qid, at=(1, 3, 5, 10))
        found = model["test"]["metrics"]
        for key in ("ndcg:1", "ndcg:3", "ndcg:5", "ndcg:10", "map", "mrr"):
            assert found[key] == pytest.approx(table.metrics[key.replace(":", "@")])
        facts = model["test"]["ranking"]
        assert facts["ndcg"][9] == pytest.approx(table.metrics["ndcg@10"])
        known = table.by_query["ndcg@10"][~np.isnan(table.by_query["ndcg@10"])]
        assert sum(facts["histogram"]["counts"]) == len(known)
        assert facts["n_without_relevant"] == table.n_without_relevant
        worst = [query["ndcg"] for query in facts["worst"]]
        np.testing.assert_allclose(worst, np.sort(known)[: len(worst)])


def make_outputs(seed: int) -> tuple[Any, Any, Any]:
    draw = np.random.default_rng(seed)
    query = draw.integers(0, 12, 90)
    y = join_relevance(draw.integers(0, 4, 90), query)
    return y, draw.normal(size=90), draw.normal(size=90)


def test_a_paired_test_counts_queries() -> None:
    """The standard error is that of the mean difference of the queries, whatever their sizes."""
    y, first, second = make_outputs(3)
    metric = bind_ranking_metric(find_metric("ndcg:5"))
    found = compare_on_rows(
        metric, y, Predictions(first, None), Predictions(second, None), 0, y["query"]
    )
    tables = [
        ranking_table(y["relevance"], scores, qid=y["query"], at=(5,)) for scores in (first, second)
    ]
    differences = tables[0].by_query["ndcg@5"] - tables[1].by_query["ndcg@5"]
    n = len(differences)
    assert found.n_units == n
    assert found.difference == pytest.approx(differences.mean())
    spread = np.sum((differences - differences.mean()) ** 2)
    assert found.standard_error == pytest.approx(np.sqrt(spread) / n)


@pytest.mark.parametrize("key", ["ndcg:3", "map"])
def test_the_mean_of_drawn_queries(key: str) -> None:
    """A query of multiplicity 2 counts twice."""
    y, scores, _ = make_outputs(5)
    outputs = ScoredOutputs(y, scores, None, 0)
    times = np.random.default_rng(0).integers(0, 3, 12)
    rows = [(row, copy) for row, query in enumerate(y["query"]) for copy in range(times[query])]
    at = np.array([row for row, _ in rows])
    drawn = [f"{y['query'][row]} {copy}" for row, copy in rows]
    table = ranking_table(y["relevance"][at], scores[at], qid=drawn, at=(3,))
    value = QueryMean(key).prepare(outputs)(times[y["query"]].astype(float))
    assert value == pytest.approx(table.metrics[key.replace(":", "@")])


def test_the_model_predicts_tables_and_refits(
    result: StudyResult, documents: pd.DataFrame, tmp_path: Path
) -> None:
    model = Study.load(result.folder).model("lambdamart")
    assert isinstance(model, StudyRanker)
    before = model.predict(documents)
    model.fit(documents, documents.relevance, qid=documents.query_id)
    assert np.corrcoef(before, model.predict(documents))[0, 1] > 0.8
    out = tmp_path / "p.csv"
    predict(result.folder, documents, out)
    table = pd.read_csv(out)
    assert table.columns.tolist() == ["score"]
    np.testing.assert_allclose(table.score, result.predict(documents))


@pytest.mark.usefixtures("undrawn_here")
def test_explain_and_compare(result: StudyResult, documents: pd.DataFrame, tmp_path: Path) -> None:
    found = explain(result.folder)
    assert found.facts["importance"]["columns"][0]["name"] == "match"
    with pytest.raises(StudyError, match="leave out --row"):
        explain(result.folder, row=3)
    other = Study(
        documents, target="relevance", query="query_id", models="unranked", output_dir=tmp_path,
        n_jobs=1,
    ).run(progress=False)  # fmt: skip
    paired = compare([result.folder, other.folder]).facts["paired"]
    best, baseline = result.facts["models"][0], result.facts["models"][-1]
    scores = [m["test"]["metrics"]["ndcg:10"] for m in (best, baseline)]
    assert paired["pairs"][0]["difference"] == pytest.approx(scores[0] - scores[1])
    assert paired["groups"] == "query_id"


@pytest.mark.parametrize("language", ["en", "es"])
def test_page(result: StudyResult, language: str) -> None:
    page = render_report(result.facts, language)
    assert QUERY not in page
    section = page[page.index('<section id="ranking"') :]
    section = section[: section.index("</section>")]
    assert section.count("<svg") == 2
    assert "&lt;i&gt;q" in section
    words = {"en": "Queries with the worst order", "es": "Consultas con el peor orden"}
    assert words[language] in section
    for absent in ("thresholds", "errors", "costs", "ensemble", "calibration", "survival"):
        assert f'<section id="{absent}"' not in page
    assert 'id="ensemble"' in page[page.index('<section id="skipped"') :]


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"query": "queri_id"}, "no column 'queri_id'"),
        ({"query_id": "one"}, {}, "single query"),
        ({"query_id": lambda d: d.query_id.where(d.index > 3)}, {}, "is missing in 4 of"),
        ({"relevance": lambda d: d.relevance - 1}, {}, "holds -1 in data row"),
        ({"relevance": lambda d: d.relevance + 0.5}, {}, "integer from 0 to 31"),
        ({"relevance": lambda d: d.relevance * 20}, {}, "integer from 0 to 31"),
        ({"relevance": "good"}, {}, "convert it to such grades"),
        ({"relevance": 1}, {}, "No query .* has rows of different"),
        ({"query_id": lambda d: d.index % 3}, {}, "too few for 5 folds"),
        ({}, {"target": "query_id"}, "cannot be both target and query"),
        ({}, {"cv": "5"}, "choose --cv group:5"),
        ({}, {"groups": "noise"}, "without --groups"),
        ({}, {"metric": "auc"}, "no metric 'roc_auc' for ranking"),
        ({}, {"metric": "ndcg:0"}, "at least 1"),
        ({}, {"task": "regression"}, "--task is of no use with --query"),
    ],
)
def test_bad_input(
    documents: pd.DataFrame, changes: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        Study(
            documents.assign(**changes), **{"target": "relevance", "query": "query_id", **options}
        ).make_plan()


@pytest.mark.usefixtures("undrawn_here")
def test_lightgbms_example(tmp_path: Path) -> None:
    path = shared_data("ranking/rank.train.svmlight.gz")
    x, y = load_svmlight_file(str(path), n_features=301)
    sizes = np.loadtxt(shared_data("ranking/rank.train.query"), dtype=int)[:60]
    n = sizes.sum()
    table = pd.DataFrame(x[:n, :40].toarray()).add_prefix("f")
    table["relevance"], table["query"] = y[:n], np.repeat(np.arange(60), sizes)
    found = Study(
        table, target="relevance", query="query", models="unranked,lambdamart",
        output_dir=tmp_path, n_jobs=1,
    ).run(progress=False)  # fmt: skip
    scores = {m["key"]: m["cv"]["mean"] for m in found.facts["models"]}
    assert scores["lambdamart"] > scores["unranked"]
