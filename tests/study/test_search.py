"""What searches propose depends only on the context and the scores."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from arboleda.catalogue.model import Choice, IntegerRange, RealRange
from arboleda.study import StudyError
from arboleda.study.search.strategies import (
    FULL,
    Fidelity,
    GridStrategy,
    HalvingStrategy,
    RandomStrategy,
    SearchContext,
    SearchStrategy,
    TpeStrategy,
    Trial,
    named_search,
)

GRID = tuple({"a": a} for a in range(9))
SPACE = {
    "x": RealRange(0.01, 10.0, log=True),
    "n": IntegerRange(1, 8),
    "kind": Choice(("u", "v", None)),
}
Score = Callable[[dict[str, Any]], float | None]


def replay(
    strategy: SearchStrategy, context: SearchContext, score: Score
) -> Iterator[tuple[Trial, ...]]:
    """The batches of a search whose trials score so."""
    search = strategy.begin(context)
    batch = next(search)
    while True:
        yield batch.trials
        try:
            batch = search.send(tuple(score(t.params) for t in batch.trials))
        except StopIteration:
            return


def test_a_grid_is_tried_at_once() -> None:
    (batch,) = replay(GridStrategy(), SearchContext(GRID), lambda p: 0.0)
    assert batch == tuple(Trial(p, FULL) for p in GRID)


def test_halving_screens_candidates_and_keeps_the_best() -> None:
    context = SearchContext(GRID, rows=50_000)
    looks, kept = replay(HalvingStrategy(), context, lambda p: -abs(p["a"] - 6))
    assert looks == tuple(Trial(p, Fidelity(0.25, 1)) for p in GRID)
    assert kept == tuple(Trial({"a": a}) for a in (6, 5, 7))


def test_halving_keeps_no_candidate_that_failed() -> None:
    context = SearchContext(GRID, rows=50_000)
    scores = {0: 1.0, 4: 2.0}
    _, kept = replay(HalvingStrategy(), context, lambda p: scores.get(p["a"]))
    assert [t.params["a"] for t in kept] == [4, 0]
    batches = list(replay(HalvingStrategy(), context, lambda p: None))
    assert len(batches) == 1


@pytest.mark.parametrize(("rows", "n"), [(19_999, 9), (50_000, 2)])
def test_halving_screens_only_where_it_pays(rows: int, n: int) -> None:
    (batch,) = replay(HalvingStrategy(), SearchContext(GRID[:n], rows=rows), lambda p: 0.0)
    assert batch == tuple(Trial(p) for p in GRID[:n])


@pytest.mark.parametrize("strategy", [RandomStrategy(10), TpeStrategy(10)])
def test_drawn_candidates_lie_in_the_space_and_are_reproducible(strategy: SearchStrategy) -> None:

    def score(p: dict[str, Any]) -> float | None:
        return None if p["kind"] is None else -p["x"] - p["n"]

    context = SearchContext((), SPACE, seed=3)
    batches = list(replay(strategy, context, score))
    assert [len(b) for b in batches] == [4, 4, 2]
    for trial in (t for batch in batches for t in batch):
        assert trial.fidelity is FULL
        assert 0.01 <= trial.params["x"] <= 10.0
        assert trial.params["n"] in range(1, 9)
        assert trial.params["kind"] in ("u", "v", None)
    assert list(replay(strategy, context, score)) == batches
    other = list(replay(strategy, SearchContext((), SPACE, seed=4), score))
    assert other != batches


def test_tpe_starts_with_the_first_of_the_grid_and_finds_good_candidates() -> None:
    context = SearchContext(({"x": 9.0},), {"x": RealRange(0.0, 10.0)}, seed=0)
    batches = list(replay(TpeStrategy(40), context, lambda p: -((p["x"] - 2.0) ** 2)))
    tried = [t.params["x"] for batch in batches for t in batch]
    assert tried[0] == 9.0
    assert len(tried) == 40
    assert sum(abs(x - 2.0) < 1.0 for x in tried[20:]) > sum(abs(x - 2.0) < 1.0 for x in tried[:20])


@pytest.mark.parametrize("strategy", [RandomStrategy(6), TpeStrategy(6)])
def test_a_first_candidate_outside_the_space_is_tried(strategy: SearchStrategy) -> None:
    context = SearchContext(({"x": "sqrt"},), {"x": RealRange(0.0, 10.0)}, seed=0)
    batches = list(replay(strategy, context, lambda p: 1.0))
    tried = [t.params["x"] for batch in batches for t in batch]
    assert tried[0] == "sqrt"
    assert len(tried) == 6
    assert all(0.0 <= x <= 10.0 for x in tried[1:])


def test_without_a_space_the_grid_is_tried() -> None:
    (batch,) = replay(TpeStrategy(30), SearchContext(GRID), lambda p: 0.0)
    assert batch == tuple(Trial(p) for p in GRID)


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("grid", GridStrategy()),
        ("halving", HalvingStrategy()),
        ("random:7", RandomStrategy(7)),
        ("tpe", TpeStrategy(30)),
        (" TPE:12 ", TpeStrategy(12)),
    ],
)
def test_a_search_is_parsed_and_has_its_name(text: str, strategy: SearchStrategy) -> None:
    found = named_search(text)
    assert found == strategy
    assert named_search(found.text) == strategy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bayes", "choose grid"),
        ("tpe:", "choose grid"),
        ("random:0", "from 1"),
        ("tpe:99999", "1 to 10,000"),
    ],
)
def test_an_invalid_search_is_refused(text: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        named_search(text)


@pytest.mark.parametrize(
    "strategy", [GridStrategy(), HalvingStrategy(), RandomStrategy(6), TpeStrategy(6)]
)
@pytest.mark.parametrize("rows", [100, 50_000])
@pytest.mark.parametrize("space", [None, SPACE])
def test_a_search_reports_its_number_of_candidates(
    strategy: SearchStrategy, rows: int, space: Any
) -> None:
    context = SearchContext(GRID, space, rows)
    tried = [t for batch in replay(strategy, context, lambda p: 0.5) for t in batch]
    assert len({str(t.params) for t in tried}) == strategy.count_trials(context)


@pytest.mark.parametrize("strategy", [RandomStrategy(12), TpeStrategy(12)])
def test_no_candidate_is_drawn_twice(strategy: SearchStrategy) -> None:
    context = SearchContext((), {"n": IntegerRange(1, 9)}, seed=1)
    tried = [t.params["n"] for batch in replay(strategy, context, lambda p: -p["n"]) for t in batch]
    assert len(tried) == len(set(tried))
    assert len(tried) >= 6
    two = SearchContext((), {"n": IntegerRange(1, 2)}, seed=1)
    assert len([t for batch in replay(strategy, two, lambda p: None) for t in batch]) == 2
