"""Comparison of studies: from their folders to facts and one page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import arboleda
from arboleda.analysis.comparison.compared_studies import ComparedStudies
from arboleda.analysis.comparison.differences import (
    compare_best,
    find_row_mismatch,
    list_differences,
)
from arboleda.diagnose import compare_over_data_sets
from arboleda.facts.comparison import (
    SCHEMA_VERSION,
    BestModelFacts,
    ComparedCell,
    ComparedModel,
    ComparedStudy,
    ComparisonOfStudies,
    OverTablesFacts,
    PairedFacts,
    RankedModel,
)
from arboleda.facts.study import StudyTiming
from arboleda.reports.comparison.page import write_sentences
from arboleda.reports.fact_messages import collect_messages
from arboleda.study import Study, StudyError, StudyResult
from arboleda.study.artifacts.files import check_language
from arboleda.study.execution.progress import Progress
from arboleda.study.results.leaderboard import params_text

__all__ = ["compare", "make_facts"]


def compare(
    folders: Sequence[str | Path], *, progress: bool = False, lang: str = "en"
) -> ComparedStudies:
    """Compare finished studies: settings, leaderboards and best models.

    The best models of studies of one table are compared on their shared test rows; models shared
    by studies of at least three tables are ranked over the tables (Friedman's
    test and Nemenyi's; see `arboleda.diagnose.compare_over_data_sets`).

    Parameters
    ----------
    folders : sequence of str or path
        The folders of at least two studies.
    progress : bool, default=False
        Show progress on standard error.
    lang : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    ComparedStudies
        An object with ``facts`` (plain values, described by `comparison.schema.json`) and
        ``save(path)``, which writes the page.

    Raises
    ------
    StudyError
        If there are fewer than two folders, a folder is given twice, or a study cannot be read or
        has no model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     for key in ("lda", "cart"):
    ...         _ = Study("iris", target="target", models=key, output_dir=f"{folder}/{key}").run()
    ...     found = compare([f"{folder}/lda", f"{folder}/cart"])
    >>> found.facts["sentences"][:2]
    ['The two studies are of the same table.', 'They differ in models.']
    """
    if isinstance(folders, (str, Path)) or len(folders) < 2:
        raise StudyError("Comparing needs the folders of at least two studies.")
    check_language(lang)
    paths = [str(folder) for folder in folders]
    places = [str(Path(path).resolve()) for path in paths]
    twice = next((path for path, at in zip(paths, places, strict=True) if places.count(at) > 1), "")
    if twice:
        raise StudyError(f"The study {twice} is given twice; give each folder once.")
    reporter = Progress(progress)
    with reporter.step("Reading the studies"):
        studies = [_load(path) for path in paths]
    with reporter.step("Comparing them"):
        facts = make_facts(paths, studies).model_dump(mode="json", exclude_unset=True)
    facts["messages"] = collect_messages(facts)
    for study in studies:
        facts["messages"] |= study.facts.get("messages", {})
    return ComparedStudies(facts, lang)


def _load(folder: str) -> StudyResult:
    study = Study.load(folder)
    facts: dict[str, Any] = study.facts
    if not facts["models"] or facts["models"][0]["status"] != "ok":
        raise StudyError(
            f"Every model of the study in {folder} failed; there is nothing to compare."
        )
    return study


# Minimum number of tables for ranks over tables.
FEWEST_TABLES = 3


def make_facts(folders: Sequence[str], studies: Sequence[StudyResult]) -> ComparisonOfStudies:
    """Compute the facts of a comparison."""
    study_facts = [one.facts for one in studies]
    names = _shorten_names(folders, study_facts)
    why_not = find_row_mismatch(study_facts)
    facts = ComparisonOfStudies(
        schema_version=SCHEMA_VERSION,
        arboleda_version=arboleda.__version__,
        studies=[
            _describe_study(name, folder, one)
            for name, folder, one in zip(names, folders, study_facts, strict=True)
        ],
        differences=list_differences(study_facts),
        leaderboard=_make_leaderboard(study_facts),
        paired=PairedFacts(why_not=why_not, pairs=[]) if why_not else compare_best(studies),
        over_tables=_compare_over_tables(names, study_facts),
        sentences=[],
    )
    return facts.model_copy(update={"sentences": write_sentences(facts)})


def _shorten_names(folders: Sequence[str], study_facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the last parts of the folder names, or the full names if these are not unique."""
    short = [Path(folder).resolve().name for folder in folders]
    return list(short) if len(set(short)) == len(short) else list(folders)


def _describe_study(name: str, folder: str, facts: Mapping[str, Any]) -> ComparedStudy:
    study, best = facts["study"], facts["models"][0]
    honest = (facts.get("selection") or {}).get("honest")
    return ComparedStudy(
        name=name,
        folder=folder,
        table=study["table"],
        target=study["target"],
        metric_label=study["metric_label"],
        best=BestModelFacts(
            key=best["key"],
            name=best["name"],
            params=params_text(best),
            cv=best["cv"]["mean"],
            sd=best["cv"]["sd"],
            honest=None if honest is None else honest["mean"],
            test=best["test"]["metrics"].get(study["metric"]),
            low=best["test"]["interval"]["low"],
            high=best["test"]["interval"]["high"],
        ),
        n_models=sum(model["status"] == "ok" for model in facts["models"]),
        timing=StudyTiming(
            started=facts["timing"]["started"],
            total_s=facts["timing"]["total_s"],
        ),
    )


def _make_leaderboard(study_facts: Sequence[Mapping[str, Any]]) -> list[ComparedModel]:
    """Return a row for each model of any study, in the order of its best rank."""
    names: dict[str, str] = {}
    places: list[dict[str, ComparedCell]] = []
    for facts in study_facts:
        metric = facts["study"]["metric"]
        here: dict[str, ComparedCell] = {}
        for rank, model in enumerate(facts["models"], start=1):
            names.setdefault(model["key"], model["name"])
            if model["status"] == "ok":
                test = model["test"]["metrics"].get(metric)
                here[model["key"]] = ComparedCell(rank=rank, cv=model["cv"]["mean"], test=test)
        places.append(here)
    rows = [
        ComparedModel(key=key, name=name, cells=[here.get(key) for here in places])
        for key, name in names.items()
    ]
    return sorted(rows, key=lambda row: min((c.rank for c in row.cells if c), default=10**9))


def _compare_over_tables(
    named: Sequence[str], study_facts: Sequence[Mapping[str, Any]]
) -> OverTablesFacts | None:
    """Compute Friedman's and Nemenyi's tests of the models shared by all studies, over tables.

    Of several studies of the same table and target, only the first is used.
    """
    by_table: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for name, facts in zip(named, study_facts, strict=True):
        study = facts["study"]
        by_table.setdefault(f"{study['data_sha256']} {study['target']}", (name, facts))
    chosen = [facts for _, facts in by_table.values()]
    if len(chosen) < FEWEST_TABLES:
        return None
    scores = [_get_errors(facts) for facts in chosen]
    keys = [key for key in scores[0] if all(key in one for one in scores)]
    if len(keys) < 2:
        return None
    names = {model["key"]: model["name"] for facts in chosen for model in facts["models"]}
    table = np.array([[one[key] for key in keys] for one in scores])
    result = compare_over_data_sets(table, names=keys)
    order = np.argsort(result.mean_rank, kind="stable")
    return OverTablesFacts(
        tables=[name for name, _ in by_table.values()],
        models=[
            RankedModel(
                key=keys[k],
                name=names[keys[k]],
                mean_rank=float(result.mean_rank[k]),
                ranks=result.ranks[:, k].tolist(),
            )
            for k in order
        ],
        p=result.f_p_value,
        alpha=result.alpha,
        critical_difference=result.critical_difference,
        groups=[list(group) for group in result.groups],
    )


def _get_errors(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return the test score of each model, negated if larger is better."""
    metric = facts["study"]["metric"]
    sign = -1.0 if facts["study"]["greater_is_better"] else 1.0
    return {
        model["key"]: sign * model["test"]["metrics"][metric]
        for model in facts["models"]
        if model["status"] == "ok" and model["test"]["metrics"].get(metric) is not None
    }
