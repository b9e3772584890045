"""Differences of studies in data, settings and versions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["find_row_mismatch", "list_differences"]

# Number of digits of the hash shown.
_DIGITS = 12
_STUDY = {
    "table": "Table",
    "target": "Target",
    "task": "Task",
    "metric": "Metric",
    "seed": "Seed",
    "test_size": "Test size",
}
_VERSIONS = {
    "arboleda": "arboleda",
    "python": "Python",
    "numpy": "NumPy",
    "scikit_learn": "scikit-learn",
    "platform": "Platform",
    "cores": "Cores",
}


def list_differences(studies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the properties of each study as text, and whether the studies differ in them.

    Parameters
    ----------
    studies : sequence of mapping
        Facts of studies.

    Returns
    -------
    rows : list of dict
        ``what``, ``kind`` ("data", "setting" or "version"), ``values`` and ``same``.
    """
    described = [
        {(kind, what): value for kind, what, value in _iter_settings(facts)} for facts in studies
    ]
    keys = dict.fromkeys(key for one in described for key in one)
    rows = []
    for kind, what in keys:
        values = [one.get((kind, what), "") for one in described]
        rows.append({"what": what, "kind": kind, "values": values, "same": len(set(values)) == 1})
    return rows


def find_row_mismatch(studies: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why the best models cannot be compared row by row, or None if they can."""
    first = studies[0]
    if any(facts["study"]["data_sha256"] != first["study"]["data_sha256"] for facts in studies):
        return "the tables differ"
    for key, what in (("target", "targets"), ("task", "tasks")):
        if any(facts["study"][key] != first["study"][key] for facts in studies):
            return f"the {what} differ"
    if any(
        facts["study"]["scheme"]["test"] == "file" and _get_test_hash(facts) is None
        for facts in studies
    ):
        return "an older version did not record the test table; run the studies again"
    if any(_get_test_hash(facts) != _get_test_hash(first) for facts in studies):
        return "the test tables differ"
    if any(_get_split(facts) != _get_split(first) for facts in studies):
        return "the studies split off their test rows in different ways"
    return None


def _get_test_hash(facts: Mapping[str, Any]) -> str | None:
    """Return the hash of a separate test table; studies of older versions do not have it."""
    result: str | None = facts["study"].get("test_sha256")
    return result


def _get_split(facts: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return how the test rows were split off, and by which column."""
    study = facts["study"]
    return study["scheme"]["test"], study["settings"]["groups"], study["settings"]["time"]


def _iter_settings(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    study, data, split = facts["study"], facts["data"], facts["split"]
    yield "data", "Data, SHA-256", study["data_sha256"][:_DIGITS]
    if _get_test_hash(facts) is not None:
        yield "data", "Test data, SHA-256", study["test_sha256"][:_DIGITS]
    yield "data", "Rows", f"{data['n_rows']:,}"
    yield "data", "Columns", f"{data['n_columns']:,}"
    yield "data", "Training and test rows", f"{split['n_train']:,} + {split['n_test']:,}"
    for key, name in _STUDY.items():
        yield "setting", name, _format_value(study[key])
    settings = study["settings"]
    for key, value in settings.items():
        if key not in (*_STUDY, "random_state"):
            yield "setting", key.replace("_", " ").capitalize(), _format_value(value)
    for key, name in _VERSIONS.items():
        yield "version", name, _format_value(facts["environment"][key])


def _format_value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_format_value(part)}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
