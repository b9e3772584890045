"""One model, many callers: saving, loading and predicting at once."""

import threading
from pathlib import Path

import numpy as np
from tests.persist.models import MODELS, X

import arboleda


def test_concurrent_callers_do_not_interfere(tmp_path: Path) -> None:
    model = MODELS["classifier"]()
    expected = model.predict_proba(X)
    model.save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    start = threading.Barrier(8)
    failures: list[str] = []

    def work(number: int) -> None:
        start.wait()
        for _ in range(15):
            path = tmp_path / f"model {number}"
            model.save(path)
            if path.read_bytes() != content:
                failures.append("saved")
            if not np.array_equal(arboleda.load(path).predict_proba(X), expected):
                failures.append("loaded")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []
