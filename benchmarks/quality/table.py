"""Write the tables of scores and ranks from `results.json` to README.md, between two marks.

python benchmarks/quality/table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from run import N_FOLDS, RESULTS
from scipy.stats import rankdata

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- scores: drawn by table.py -->", "<!-- end of scores -->"
OURS = ("arboleda normal", "arboleda auto", "arboleda")
PEERS = ("CatBoost", "ChimeraBoost", "LightGBM", "XGBoost", "HGB", "perpetual")
# Of ours, only the first one: models of one library would push the others down.
RANKED = ("arboleda normal", "CatBoost", "ChimeraBoost", "LightGBM", "XGBoost", "HGB")
Results = dict[str, dict[str, dict[str, dict[str, Any]]]]


def is_complete(results: Results, table: str, contestant: str) -> bool:
    """Return whether all folds are present."""
    return len(results.get(table, {}).get(contestant, {})) == N_FOLDS


def get_fold_scores(results: Results, table: str, contestant: str) -> np.ndarray:
    """Return the scores of the folds, in order."""
    return np.array(
        [results[table][contestant][str(fold)]["score"] for fold in range(N_FOLDS)], dtype=float
    )


def format_mean(scores: np.ndarray) -> str:
    """Format the mean over the folds and its standard error, with significant digits."""
    error = scores.std(ddof=1) / np.sqrt(scores.size)
    digits = max(0, 1 - int(np.floor(np.log10(max(error, 1e-12)))))
    return f"{scores.mean():.{digits}f} ± {error:.{digits}f}"


def compute_ranks(results: Results, tables: list[str], names: list[str]) -> dict[str, np.ndarray]:
    """Return the rank of each contestant on each table by its mean score; 1 is the best."""
    means = [[get_fold_scores(results, t, name).mean() for name in names] for t in tables]
    return dict(zip(names, np.array([rankdata(row) for row in means]).T, strict=True))


def make_score_rows(results: Results, tables: list[str], names: list[str]) -> list[str]:
    """Return one row per table; the best score is bold."""
    lines = [
        "| table | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
    ]
    for table in tables:
        means = {
            n: get_fold_scores(results, table, n).mean()
            for n in names
            if is_complete(results, table, n)
        }
        best = min(means, key=means.__getitem__)
        cells = []
        for name in names:
            cell = format_mean(get_fold_scores(results, table, name)) if name in means else "-"
            cells.append(f"**{cell}**" if name == best else cell)
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    return lines


def make_rank_rows(results: Results, tables: list[str], names: list[str]) -> list[str]:
    """Return the ranks on each table and their mean, best first."""
    each = compute_ranks(results, tables, names)
    order = sorted(names, key=lambda name: each[name].mean())
    lines = ["| contestant | mean rank | " + " | ".join(tables) + " |"]
    lines.append("|---|---|" + "---|" * len(tables))
    for name in order:
        numbers = " | ".join(f"{rank:g}" for rank in each[name])
        lines.append(f"| {name} | **{each[name].mean():.2f}** | {numbers} |")
    return lines


def describe_other_ranks(results: Results, tables: list[str], names: list[str]) -> str:
    """Return a sentence about the mean rank of our other models, each in the place of the first."""
    means = []
    for name in OURS[1:]:
        if all(is_complete(results, table, name) for table in tables):
            replaced = [name if known == OURS[0] else known for known in names]
            mean = compute_ranks(results, tables, replaced)[name].mean()
            means.append(f"{name} {mean:.2f}")
    return f"Mean ranks of others in the place of {OURS[0]}: {', '.join(means)}."


def make_second_rows(results: Results, tables: list[str], names: list[str]) -> list[str]:
    """Return the CPU seconds of one fold, including predictions."""
    lines = ["| table | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for table in tables:
        cells = []
        for name in names:
            known = results.get(table, {}).get(name, {}).values()
            cells.append(f"{np.median([e['cpu_s'] for e in known]):.1f}" if known else "-")
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    return lines


def format_versions(results: Results, names: list[str]) -> str:
    """Format the versions and the dates of the measurements."""
    seen: dict[str, set[str]] = {name: set() for name in names}
    days: set[str] = set()
    for of_table in results.values():
        for name, entries in of_table.items():
            for entry in entries.values():
                seen.setdefault(name, set()).add(entry["version"])
                days.add(entry["date"])
    listed = ", ".join(f"{name} {'/'.join(sorted(seen[name]))}" for name in names if seen[name])
    when = f"on {min(days)}" if len(days) == 1 else f"from {min(days)} to {max(days)}"
    return f"{listed}; measured {when}, one thread."


def render(results: Results) -> str:
    """Render everything between the marks."""
    tables = [table for table in results if results[table]]
    names = [n for n in (*OURS, *PEERS) if any(results[t].get(n) for t in tables)]
    ranked = [name for name in names if name in RANKED]
    finished = [t for t in tables if all(is_complete(results, t, name) for name in ranked)]
    parts = [
        format_versions(results, names),
        "### Scores",
        "\n".join(make_score_rows(results, tables, names)),
        "### Ranks",
        "\n".join(make_rank_rows(results, finished, ranked)),
        describe_other_ranks(results, finished, ranked),
        "### CPU seconds of one fold",
        "\n".join(make_second_rows(results, tables, names)),
    ]
    return "\n\n".join(parts)


def main() -> None:
    """Replace the text between the marks."""
    text = README.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    results: Results = json.loads(RESULTS.read_text())
    README.write_text(f"{before}{BEGIN}\n\n{render(results)}\n\n{END}{after}")


if __name__ == "__main__":
    main()
