"""Combining what members say of rows: the engine's rules beside NumPy and SciPy on the same array.

    python benchmarks/combine.py [MEMBERS] [ROWS] [CLASSES] [THREADS]

For every rule the best time of three in seconds, and the most memory that it takes beyond the
outputs; then the same of NumPy's or SciPy's way to write it, and how many times as long that takes.
An answer of the size of one member's is in each figure. The outputs of 30 members on 1,000,000 rows
of 10 classes take 2.2 GiB; some of the other ways need as much again. Memory is read where Linux
tells it.
"""

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

from arboleda.combine import MemberOutputs, combine_outputs


def measured(make: Callable[[], Any]) -> tuple[float, float]:
    """Best of three times in seconds, and the most memory beyond what there was, in MiB."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the greatest size so far
    before = memory("VmRSS")
    times = []
    for _ in range(3):
        start = time.perf_counter()
        make()
        times.append(time.perf_counter() - start)
    return min(times), memory("VmHWM") - before


def memory(kind: str) -> float:
    """VmRSS, the memory held now, or VmHWM, the most that was held, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind)) / 2**10


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

    def weighted() -> Any:
        scores = np.zeros(said.shape[1:])
        rows = np.arange(said.shape[1])
        for weight, of_member in zip(np.linspace(1, 2, len(said)), said, strict=True):
            scores[rows, of_member.argmax(axis=1)] += weight
        return special.softmax(scores, axis=1)

    def naive_bayes() -> Any:
        n_classes = said.shape[2]
        table = np.log(np.eye(n_classes) + 0.1)  # of the class chosen, for each class
        scores = np.zeros(said.shape[1:])
        for of_member in said:
            scores += table[of_member.argmax(axis=1)]
        return special.softmax(scores, axis=1)

    def geometric() -> Any:
        logarithm = np.zeros(said.shape[1:])
        for of_member in said:
            logarithm += np.log(of_member)
        return special.softmax(logarithm / len(said), axis=1)

    def divided(statistic: Any) -> Any:
        return statistic / statistic.sum(axis=1, keepdims=True)

    return {
        "majority": votes,
        "weighted": weighted,
        "naive_bayes": naive_bayes,
        "mean": lambda: said.mean(axis=0),
        "geometric": geometric,
        "median": lambda: divided(np.median(said, axis=0)),
        "min": lambda: divided(said.min(axis=0)),
        "max": lambda: divided(said.max(axis=0)),
        "trimmed": lambda: divided(stats.trim_mean(said, 0.2, axis=0)),
    }


def main(
    n_members: int = 30, n_rows: int = 1_000_000, n_classes: int = 10, n_threads: int = 2
) -> None:
    outputs = outputs_of(n_members, n_rows, n_classes)
    few = MemberOutputs(
        outputs.names, outputs.outputs[:, :1000].copy(), outputs.classes, np.arange(1000), 1000
    )
    learning = {"seen": few, "y": np.arange(1000) % n_classes, "n_jobs": n_threads}
    ours = {
        rule: measured(lambda rule=rule: combine_outputs(outputs, rule, **learning))  # type: ignore[arg-type, misc]
        for rule in peers(outputs.outputs)
    }
    others = {rule: measured(peer) for rule, peer in peers(outputs.outputs).items()}
    print(f"{'rule':12s} {'seconds':>8s} {'MiB':>6s}   {'other way':>8s} {'MiB':>6s} {'times':>6s}")
    for rule, (seconds, taken) in ours.items():
        line = f"{rule:12s} {seconds:8.3f} {taken:6.0f}"
        if rule in others:
            their_seconds, their_taken = others[rule]
            line += f"   {their_seconds:9.3f} {their_taken:6.0f} {their_seconds / seconds:6.1f}"
        print(line)
    one, whole = outputs.outputs[0].nbytes / 2**20, outputs.outputs.nbytes / 2**20
    print(f"the outputs take {whole:.0f} MiB, an answer {one:.0f} MiB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
