"""Functions of the caller that run on workers: scoring, callbacks and a custom loss."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.dask.test_boosting_on_workers import cut, make_frame, make_pair

import arboleda
from arboleda.persist import model_to_bytes

pytest.importorskip("dask")
pytestmark = pytest.mark.filterwarnings("ignore:.* is not saved")

FRAME = make_frame(400)
X, Y = FRAME.drop(columns="y"), FRAME["y"]
PARTS = cut(X, [90, 0, 160, 150]), cut(Y, [90, 0, 160, 150])
OPTIONS: dict[str, Any] = {"max_iter": 8, "early_stopping": True, "n_iter_no_change": 3}


def make_scorer() -> Any:
    """Return a function of this process, which workers cannot import."""

    def score_rows(model: Any, X: Any, y: Any) -> float:
        weights = 1.0 + np.abs(X["a"]) + (X["kind"] == "x")
        return -float(np.average(np.abs(model.predict(X) - y), weights=weights))

    return score_rows


def square(y: Any, raw: Any) -> tuple[Any, Any]:
    return raw - y, np.ones_like(y)


def get_bytes(model: Any) -> bytes:
    return model_to_bytes(model.to_local())


def test_a_function_scores_the_rounds(client: Any, tmp_path: Path) -> None:
    here, there = make_pair(client, "Regressor", OPTIONS | {"scoring": make_scorer()})
    val = {"X_val": X[:60], "y_val": Y[:60]}
    expected = model_to_bytes(here.fit(X, Y, **val))
    parts_val = {name: cut(part, [25, 35]) for name, part in val.items()}
    there.fit(*PARTS, **parts_val)
    assert get_bytes(there) == expected
    np.testing.assert_array_equal(there.validation_score_, here.validation_score_)
    np.testing.assert_array_equal(there.train_score_, here.train_score_)

    here.set_params(loss=square).fit(X, Y)
    path = tmp_path / "model.ckpt"
    there.set_params(loss=square)
    for _ in range(2):  # kept and continued
        there.fit(*PARTS, checkpoint=path, checkpoint_every=3)
        assert get_bytes(there) == model_to_bytes(here)
    assert arboleda.load(path).n_iter_ == 6
    with pytest.raises(ValueError, match="of a fit with scoring=<function .*score_rows>, not 'r2'"):
        there.set_params(scoring="r2").fit(*PARTS, checkpoint=path)


def test_the_error_of_a_function_names_its_worker(client: Any) -> None:
    def fail(*arguments: Any) -> float:
        raise KeyError("missing")

    def fail_to_score(*arguments: Any) -> float:
        raise ValueError("no score")

    _, there = make_pair(client, "Regressor", OPTIONS)
    for kind, name, params in (
        (KeyError, "a callback", {"callbacks": [fail]}),
        (KeyError, "scoring", {"callbacks": None, "scoring": fail}),
        (ValueError, "scoring", {"scoring": fail_to_score}),
    ):
        with pytest.raises(kind) as caught:
            there.set_params(**params).fit(*PARTS)
        (note,) = caught.value.__notes__
        assert note.startswith(f"raised by {name} in shard 0 on tcp://")
    assert not hasattr(there, "ensemble_")
    assert get_bytes(there.set_params(scoring="loss").fit(*PARTS))


def test_callbacks_run_on_one_worker(client: Any, tmp_path: Path) -> None:
    log = tmp_path / "rounds"

    def write(progress: Any) -> bool:
        with log.open("a", encoding="ascii") as file:
            file.write(f"{progress.iteration} {progress.train_loss!r} {os.getpid()}\n")
        return bool(progress.iteration == 5)

    callbacks = [write]
    here, there = make_pair(client, "Regressor", {"max_iter": 8, "callbacks": callbacks})
    here.fit(X, Y)
    plain = [line.split()[:2] for line in log.read_text("ascii").splitlines()]
    log.unlink()
    there.fit(*PARTS)
    lines = [line.split() for line in log.read_text("ascii").splitlines()]
    assert [line[:2] for line in lines] == plain
    assert [line[0] for line in lines] == ["1", "2", "3", "4", "5"]
    assert {line[2] for line in lines} != {str(os.getpid())}
    assert there.callbacks is callbacks
    assert get_bytes(there) == model_to_bytes(here)


def test_what_cannot_be_sent_is_named(client: Any) -> None:
    lock = threading.Lock()

    def score(model: Any, X: Any, y: Any) -> float:
        with lock:
            return 0.0

    _, there = make_pair(client, "Regressor", OPTIONS | {"scoring": score})
    with pytest.raises(
        TypeError, match="^scoring cannot be sent to the workers .cannot pickle '_th"
    ):
        there.fit(*PARTS)


def test_arguments_of_the_plain_class_are_refused(client: Any) -> None:
    _, there = make_pair(client, "Regressor", {})
    with pytest.raises(TypeError, match="Regressor.fit does not support init_score: start from"):
        there.fit(*PARTS, init_score=Y)
    with pytest.raises(TypeError, match="support eval_set: give X_val and y_val"):
        there.fit(*PARTS, eval_set=[(X, Y)])
    with pytest.raises(TypeError, match="no argument weight; here it is sample_weight"):
        there.fit(*PARTS, weight=Y)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_functions_after_a_worker_was_killed(client: Any, tmp_path: Path) -> None:
    """A callback is called for the rounds before, too: it stops the fit where it should."""
    mark = tmp_path / "killed"
    here_pid, score = os.getpid(), make_scorer()

    class Stop:
        n_calls = 0

        def __call__(self, progress: Any) -> bool:
            self.n_calls += 1
            if os.getpid() != here_pid and progress.iteration == 4 and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return self.n_calls == 6

    options = {"scoring": score, "n_iter_no_change": 50}
    here, there = make_pair(client, "Regressor", OPTIONS | options)
    here.set_params(callbacks=[Stop()]).fit(X, Y)
    there.set_params(callbacks=[Stop()]).fit(*PARTS)
    assert mark.exists()
    assert len(here.history_["train_loss"]) == 7
    assert get_bytes(there) == model_to_bytes(here)
