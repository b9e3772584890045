"""Time the engine's combination rules and the same rules in NumPy and SciPy.

    python benchmarks/combine.py [MEMBERS] [ROWS] [CLASSES] [THREADS]

Prints for every rule the best of three times in seconds and the peak memory beyond the outputs;
then the same with NumPy or SciPy, and the ratio of the times. The memory includes the result, which
is as large as the outputs of one member. The outputs of 30 members for 1,000,000 rows and 10
classes take 2.2 GiB; some NumPy versions need as much again. Memory is read from Linux's /proc.
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


def measure(make: Callable[[], Any]) -> tuple[float, float]:
    """Return the best of three times in seconds, and the additional peak memory in MiB."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = read_memory("VmRSS")
    times = []
    for _ in range(3):
        start = time.perf_counter()
        make()
        times.append(time.perf_counter() - start)
    return min(times), read_memory("VmHWM") - before


def read_memory(kind: str) -> float:
    """Return VmRSS, the current memory, or VmHWM, the peak memory, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind)) / 2**10


def make_outputs(n_members: int, n_rows: int, n_classes: int) -> MemberOutputs:
    random = np.random.default_rng(0)
    outputs = np.empty((n_members, n_rows, n_classes))
    for member in outputs:
        random.random(out=member)
        np.divide(member, member.sum(axis=1, keepdims=True), out=member)
    names = [f"member {number}" for number in range(n_members)]
    return MemberOutputs(names, outputs, np.arange(n_classes), np.arange(n_rows), n_rows)


def make_numpy_rules(outputs: Any) -> dict[str, Callable[[], Any]]:
    def votes() -> Any:
        counts = np.zeros(outputs.shape[1:])
        rows = np.arange(outputs.shape[1])
        for member in outputs:
            counts[rows, member.argmax(axis=1)] += 1
        return counts

    def weighted() -> Any:
        scores = np.zeros(outputs.shape[1:])
        rows = np.arange(outputs.shape[1])
        for weight, member in zip(np.linspace(1, 2, len(outputs)), outputs, strict=True):
            scores[rows, member.argmax(axis=1)] += weight
        return special.softmax(scores, axis=1)

    def naive_bayes() -> Any:
        n_classes = outputs.shape[2]
        table = np.log(np.eye(n_classes) + 0.1)  # predicted class x true class
        scores = np.zeros(outputs.shape[1:])
        for member in outputs:
            scores += table[member.argmax(axis=1)]
        return special.softmax(scores, axis=1)

    def geometric() -> Any:
        logarithm = np.zeros(outputs.shape[1:])
        for member in outputs:
            logarithm += np.log(member)
        return special.softmax(logarithm / len(outputs), axis=1)

    def normalize(statistic: Any) -> Any:
        return statistic / statistic.sum(axis=1, keepdims=True)

    return {
        "majority": votes,
        "weighted": weighted,
        "naive_bayes": naive_bayes,
        "mean": lambda: outputs.mean(axis=0),
        "geometric": geometric,
        "median": lambda: normalize(np.median(outputs, axis=0)),
        "min": lambda: normalize(outputs.min(axis=0)),
        "max": lambda: normalize(outputs.max(axis=0)),
        "trimmed": lambda: normalize(stats.trim_mean(outputs, 0.2, axis=0)),
    }


def main(
    n_members: int = 30, n_rows: int = 1_000_000, n_classes: int = 10, n_threads: int = 2
) -> None:
    outputs = make_outputs(n_members, n_rows, n_classes)
    few = MemberOutputs(
        outputs.names, outputs.outputs[:, :1000].copy(), outputs.classes, np.arange(1000), 1000
    )
    learning = {"seen": few, "y": np.arange(1000) % n_classes, "n_jobs": n_threads}
    ours = {
        rule: measure(lambda rule=rule: combine_outputs(outputs, rule, **learning))  # type: ignore[arg-type, misc]
        for rule in make_numpy_rules(outputs.outputs)
    }
    others = {
        rule: measure(rule_function)
        for rule, rule_function in make_numpy_rules(outputs.outputs).items()
    }
    print(f"{'rule':12s} {'seconds':>8s} {'MiB':>6s}   {'NumPy':>8s} {'MiB':>6s} {'times':>6s}")
    for rule, (seconds, taken) in ours.items():
        line = f"{rule:12s} {seconds:8.3f} {taken:6.0f}"
        if rule in others:
            their_seconds, their_taken = others[rule]
            line += f"   {their_seconds:9.3f} {their_taken:6.0f} {their_seconds / seconds:6.1f}"
        print(line)
    one, whole = outputs.outputs[0].nbytes / 2**20, outputs.outputs.nbytes / 2**20
    print(f"the outputs take {whole:.0f} MiB, a result {one:.0f} MiB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
