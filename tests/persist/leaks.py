"""Measure the memory of a process that fits, predicts, saves and loads repeatedly."""

import gc
import pickle
from pathlib import Path

import psutil
from tests.persist.models import X, Y

import arboleda
from arboleda import DecisionTreeClassifier, ModelFormatError


def growth(rounds: int, folder: Path) -> float:
    """Bytes that the process grew in all those rounds, after as many to warm up."""
    path, damaged = folder / "model", folder / "damaged"
    process = psutil.Process()

    def once() -> None:
        model = DecisionTreeClassifier(n_jobs=2).fit(X, Y)
        model.save(path)
        again = arboleda.load(path)
        again.predict_proba(X)
        pickle.loads(pickle.dumps(again))
        data = bytearray(path.read_bytes())
        data[-20] ^= 1
        damaged.write_bytes(data)
        try:
            arboleda.load(damaged)
        except ModelFormatError:
            return
        raise AssertionError("a damaged file was loaded")

    def resident() -> int:
        gc.collect()
        return int(process.memory_info().rss)

    for _ in range(rounds):
        once()
    before = resident()
    for _ in range(rounds):
        once()
    return resident() - before
