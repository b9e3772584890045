"""Combining what members say of rows: the engine's rules beside NumPy and SciPy on the same array.

    python benchmarks/combine.py [MEMBERS] [ROWS] [CLASSES] [THREADS]

The best of three, in seconds and as multiples of ours, and how much memory a rule takes beyond the
outputs: the answer alone, of the size of one member's. The outputs of 30 members on 1,000,000 rows
of 10 classes take 2.2 GiB.
"""

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from arboleda.combine import MemberOutputs, combine_outputs


def best(make: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        make()
        times.append(time.perf_counter() - start)
    return min(times)


def outputs_of(n_members: int, n_rows: int, n_classes: int) -> MemberOutputs:
    random = np.random.default_rng(0)
    said = np.empty((n_members, n_rows, n_classes))
    for of_member in said:
        random.random(out=of_member)
        np.divide(of_member, of_member.sum(axis=1, keepdims=True), out=of_member)
    names = [f"member {number}" for number in range(n_members)]
    return MemberOutputs(names, said, np.arange(n_classes), np.arange(n_rows), n_rows)


def peers(said: Any) -> dict[str, Callable[[], Any]]:
    def votes() -> Any:
        counts = np.zeros(said.shape[1:])
        rows = np.arange(said.shape[1])
        for of_member in said:
            counts[rows, of_member.argmax(axis=1)] += 1
        return counts

    def geometric() -> Any:
        logarithm = np.zeros(said.shape[1:])
        for of_member in said:
            logarithm += np.log(of_member)
        return np.exp(logarithm / len(said))

    return {
        "majority": votes,
        "mean": lambda: said.mean(axis=0),
        "geometric": geometric,
        "median": lambda: np.median(said, axis=0),
        "min": lambda: said.min(axis=0),
        "max": lambda: said.max(axis=0),
        "trimmed": lambda: stats.trim_mean(said, 0.2, axis=0),
    }


def main(
    n_members: int = 30, n_rows: int = 1_000_000, n_classes: int = 10, n_threads: int = 2
) -> None:
    outputs = outputs_of(n_members, n_rows, n_classes)
    few = MemberOutputs(
        outputs.names, outputs.outputs[:, :1000].copy(), outputs.classes, np.arange(1000), 1000
    )
    learning = {"seen": few, "y": np.arange(1000) % n_classes, "n_jobs": n_threads}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours = {
        rule: best(lambda rule=rule: combine_outputs(outputs, rule, **learning))  # type: ignore[arg-type, misc]
        for rule in ("weighted", "naive_bayes", *peers(outputs.outputs))
    }
    taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10
    others = {rule: best(peer) for rule, peer in peers(outputs.outputs).items()}
    for rule, seconds in ours.items():
        beside = f"{others[rule]:8.3f} s {others[rule] / seconds:6.1f}" if rule in others else ""
        print(f"{rule:12s} {seconds:7.3f} s {beside}")
    one = outputs.outputs[0].nbytes / 2**20
    print(f"memory beyond the outputs: {taken:.0f} MiB; an answer takes {one:.0f} MiB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
