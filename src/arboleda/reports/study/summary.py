"""The summary of a study: the best model, its quality, highlights and cautions."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._utils.numbers import integer, number_format, percent
from arboleda.reports.fact_messages import translate
from arboleda.reports.rendering import KeyFigure, Summary
from arboleda.reports.study.highlights import make_highlights
from arboleda.reports.study.report_data import ReportData, name_scheme
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import get_metric, join_names, lower_label, quote_name, spell_count

__all__ = ["describe_baseline", "summarise"]

_FEW_TEST_ROWS = 200
_RARE = 0.1
_LOW_RECALL = 0.5
_SUSPICIOUS = 0.999
_USUAL_CLASSES = ("accuracy", "roc_auc", "balanced_accuracy")
# Well-known metrics of tasks without classes.
_USUAL = {
    "regression": ("r2", "mae", "rmse"),
    "survival": ("concordance", "dynamic_auc", "integrated_brier"),
    "ranking": ("map", "ndcg:1", "ndcg:10"),
}

_FIRST_SENTENCES = {
    "best": N_(
        "{name} is the best of {count} models: {metric} {score} on the {rows} test rows, which "
        "were not used for fitting or tuning{interval}."
    ),
    "only": N_(
        "Of {count} models, only {name} could be scored: {metric} {score} on the {rows} test rows, "
        "which were not used for fitting or tuning{interval}."
    ),
    "alone": N_(
        "{name} is the only model in the study: {metric} {score} on the {rows} test rows, which "
        "were not used for fitting or tuning{interval}."
    ),
}

_CROSS_VALIDATED = {
    "corrected": N_(
        "Its score in {scheme}, corrected for the choice among {count} candidates, is {honest} "
        "({interval}); uncorrected, as the best of them, it is {score}, which is optimistic."
    ),
    "unchanged": N_(
        "Its score in {scheme}, as the best of {count} candidates, is {score}; the correction for "
        "the choice among them did not change it ({interval})."
    ),
    "optimistic": N_(
        "Its score in {scheme}, {score}, is that of the best of {count} candidates and optimistic; "
        "these folds do not allow estimating by how much."
    ),
    "single": N_("Its score in {scheme} is {score}."),
}

_FAILURES = {
    "failed": N_("{names} could not be fitted; the leaderboard shows the errors."),
    "no_time": N_("There was no time left for {names}; use a longer --time-budget."),
}

_GAINS = {
    "below": N_("{difference} below the best model"),
    "above": N_("{difference} above the best model"),
    "lower": N_("the best model is {share} lower"),
    "higher": N_("the best model is {share} higher"),
}

_DISTANCES = {
    "above": N_("That is {distance} above the baseline, which {rule} ({score})."),
    "below": N_("That is {distance} below the baseline, which {rule} ({score})."),
}

_RULES = {
    "class": N_("always predicts the most frequent class"),
    "regression": N_("always predicts the mean"),
    "survival": N_("predicts the same survival curve for all rows"),
    "ranking": N_("gives all rows the same score"),
}


def summarise(facts: Mapping[str, Any]) -> Summary:
    """Write the sentences, key figures, highlights and cautions of a study."""
    report = ReportData(facts)
    if not report.models:
        return Summary([_("No model could be fitted; the leaderboard shows the errors.")], [], [])
    words = _Words(report)
    return Summary(
        words.sentences(), words.figures(), list(words.cautions()), make_highlights(report)
    )


def describe_baseline(report: ReportData) -> str:
    """State that no model is better than the baseline; empty if one is."""
    models, baseline = report.models, report.baseline
    if baseline is None or len(models) < 2:
        return ""
    if models[0] is baseline:
        return _(
            "No model is better than the baseline: the columns may not contain "
            "information about the target."
        )
    comparison = report.facts.get("comparison")
    if comparison is None or baseline["key"] not in comparison["not_distinguishable"]:
        return ""
    return _(
        "No model is distinguishable from the baseline, which ignores all columns: on these rows, "
        "the lead of {name} may be chance.",
        name=translate(models[0]["name"]),
    )


class _Words:
    """The sentences of the summary, with the formatted numbers they share."""

    def __init__(self, report: ReportData) -> None:
        self.report, self.facts, self.models = report, report.facts, report.models
        self.best, self.up, self.write = report.best, report.greater_is_better, report.format_score
        self.test = report.get_test_score(self.best)
        baseline = report.baseline
        self.baseline = baseline if baseline is not self.best else None

    def sentences(self) -> list[str]:
        n_models, kind = len(self.models), "best"
        if n_models == 1:
            n_models, kind = len(self.facts["models"]), "only" if self.report.failed else "alone"
        interval = self.report.format_interval(self.best["test"]["interval"])
        appended = f" ({interval})" if interval else ""
        first = _(
            _FIRST_SENTENCES[kind],
            name=translate(self.best["name"]),
            count=spell_count(n_models),
            metric=lower_label(self.report.label),
            score=self.write(self.test),
            rows=integer(self.facts["split"]["n_test"]),
            interval=appended,
        )
        return [first, self._describe_cross_validation(), *self._compare_with_baseline()]

    def _describe_cross_validation(self) -> str:
        selection, count = self.facts.get("selection"), self.report.n_candidates
        honest = None if selection is None else selection["honest"]
        corrected = self.write(honest["mean"]) if honest else ""
        if count == 1:
            kind = "single"
        elif not honest:
            kind = "optimistic"
        else:
            is_same = corrected == self.write(self.best["cv"]["mean"])
            kind = "unchanged" if is_same else "corrected"
        return _(
            _CROSS_VALIDATED[kind],
            scheme=name_scheme(self.report.study),
            count=integer(count),
            score=self.report.format_spread(self.best["cv"]),
            honest=corrected,
            interval=self.report.format_interval(honest),
        )

    def figures(self) -> list[KeyFigure]:
        label = self.report.label
        result = [
            KeyFigure(
                _("{metric}, test rows", metric=label),
                self.write(self.test),
                self.report.format_interval(self.best["test"]["interval"]),
            ),
            *self._make_cross_validated(),
        ]
        if self.baseline is not None:
            score = self.report.get_test_score(self.baseline)
            label = _("Baseline, test rows")
            result.append(KeyFigure(label, self.write(score), self._describe_gain(score)))
        return [*result, *self._make_other_metrics()]

    def _make_cross_validated(self) -> Iterator[KeyFigure]:
        """Yield the score corrected for the choice, and the one of the best of many."""
        cv, label, count = self.best["cv"], self.report.label, self.report.n_candidates
        selection = self.facts.get("selection")
        if count > 1 and selection is not None and selection["honest"] is not None:
            yield KeyFigure(
                _("{metric}, corrected for the choice", metric=label),
                self.write(selection["honest"]["mean"]),
                self.report.format_interval(selection["honest"]),
            )
        spread = "" if cv["sd"] is None else f"± {self.write(cv['sd'])}"
        note = (
            _("best of {count} candidates, optimistic", count=integer(count))
            if count > 1
            else ngettext(
                "{sd} over {count} fold",
                "{sd} over {count} folds",
                len(cv["fold_scores"]),
                sd=spread,
                count=len(cv["fold_scores"]),
            )
        )
        yield KeyFigure(_("{metric}, cross-validated", metric=label), self.write(cv["mean"]), note)

    def _make_other_metrics(self) -> Iterator[KeyFigure]:
        """Yield a well-known metric if models were chosen by another one."""
        usual = _USUAL.get(self.report.task, _USUAL_CLASSES)
        result = self.best["test"]["metrics"]
        known = [k for k in usual if k != self.report.key and result.get(k) is not None][:2]
        scores = [
            (
                get_metric(key).label,
                number_format([result[key]], get_metric(key).bounded)(result[key]),
            )
            for key in known
        ]
        if scores:
            (label, score), *rest = scores
            note = "".join(_("{metric} {score}", metric=m, score=s) for m, s in rest)
            yield KeyFigure(_("{metric}, test rows", metric=label), score, note)

    def cautions(self) -> Iterator[str]:
        yield from (translate(each["text"]) for each in self.facts.get("cautions") or [])
        yield from self._check_scores()
        yield from self._check_probabilities()
        yield from self._check_classes()
        yield from self._check_rows()
        for kind, sentence in _FAILURES.items():
            names = [translate(m["name"]) for m in self.report.failed if m["status"] == kind]
            if names:
                yield _(sentence, names=join_names(names))

    def _describe_gain(self, score: float | None) -> str:
        if score is None or self.test is None:
            return ""
        ahead = self.test - score if self.up else score - self.test
        if self.up:
            side = "below" if ahead >= 0 else "above"
            return _(_GAINS[side], difference=self.write(abs(ahead)))
        if not score:
            return ""
        side = "lower" if ahead >= 0 else "higher"
        return _(_GAINS[side], share=percent(abs(ahead) / abs(score), 0))

    def _compare_with_baseline(self) -> list[str]:
        if self.baseline is None:
            return []
        score = self.report.get_test_score(self.baseline)
        if score is None or self.test is None:
            return []
        above = self.test >= score if self.up else self.test > score
        gap = abs(self.test - score)
        share = gap / abs(score) if score else None
        distance = self.write(gap) if self.up else percent(share, 0)
        sentence = _DISTANCES["above" if above else "below"]
        rule = _RULES["class" if self.report.is_classification else self.report.task]
        return [
            _(
                sentence,
                distance=distance,
                rule=_(rule),
                score=self.write(score),
            )
        ]

    def _check_scores(self) -> Iterator[str]:
        cv = self.best["cv"]
        baseline = describe_baseline(self.report)
        if baseline:
            yield baseline
        if cv["sd"] is None:
            return
        compared = self.facts.get("comparison") is not None  # more reliable than this rule
        near = (
            []
            if compared
            else [
                translate(model["name"])
                for model in self.models[1:]
                if model is not self.baseline and abs(model["cv"]["mean"] - cv["mean"]) <= cv["sd"]
            ]
        )
        if near:
            yield ngettext(
                "{names} is within one standard deviation of the best score; other folds "
                "may rank the models differently.",
                "{names} are within one standard deviation of the best score; other folds "
                "may rank the models differently.",
                len(near),
                names=join_names(near),
            )
        if self.test is not None and cv["sd"] > 0:
            behind = (cv["mean"] - self.test) * (1 if self.up else -1) / cv["sd"]
            if behind > 2:
                yield _(
                    "The test score is worse than the cross-validated one by more than "
                    "two standard deviations; rely on the test score."
                )
        if self.up and self.test is not None and self.test >= _SUSPICIOUS:
            yield _(
                "The score is almost perfect: check that no column was derived from the "
                "target or is known only after it."
            )

    def _check_probabilities(self) -> Iterator[str]:
        result = self.best["test"]["calibration"]
        if result is not None and result["error"] > result["largest_by_chance"]:
            gap, chance = percent(result["error"]), percent(result["largest_by_chance"])
            where = _("; see the section on calibration") if self.facts["calibration"] else ""
            yield _(
                "The best model's probabilities are off by {gap} on average, more than "
                "chance explains ({chance}){where}.",
                gap=gap,
                chance=chance,
                where=where,
            )

    def _check_classes(self) -> Iterator[str]:
        classes = self.facts["split"]["classes"]
        if not classes:
            return
        total = sum(row["train"] + row["test"] for row in classes) or 1
        shares = {row["label"]: (row["train"] + row["test"]) / total for row in classes}
        rarest = min(shares, key=lambda label: shares[label])
        if shares[rarest] < _RARE and len(classes) <= 1 / _RARE:
            yield _(
                "The classes are imbalanced ({label} is {share} of the rows): read the "
                "scores per class as well as the accuracy.",
                label=quote_name(rarest),
                share=percent(shares[rarest]),
            )
        weak = [
            row for row in self.best["test"]["per_class"] or [] if row["recall"] < _LOW_RECALL
        ]  # fmt: skip
        if weak:
            worst = min(weak, key=lambda row: row["recall"])
            others = (
                _(
                    " ({count} more classes have a recall below one half)",
                    count=spell_count(len(weak) - 1),
                )
                if weak[1:]
                else ""
            )
            yield _(
                "The best model finds only {share} of the test rows of class {label}{others}.",
                share=percent(worst["recall"], 0),
                label=quote_name(worst["label"]),
                others=others,
            )

    def _check_rows(self) -> Iterator[str]:
        data, n_test = self.facts["data"], self.facts["split"]["n_test"]
        if n_test < _FEW_TEST_ROWS:
            yield _(
                "The test set is small ({count} rows): its scores are uncertain, as the "
                "interval shows.",
                count=integer(n_test),
            )
        copies, dropped = data["n_duplicate_rows"], data["rows_dropped"]
        if copies:
            yield ngettext(
                "{count} row is an exact copy of another; copies on both sides of a split "
                "inflate scores.",
                "{count} rows are exact copies of others; copies on both sides of a split "
                "inflate scores.",
                copies,
                count=integer(copies),
            )
        if dropped:
            yield ngettext(
                "{count} row was dropped before the study.",
                "{count} rows were dropped before the study.",
                dropped,
                count=integer(dropped),
            )
        left_out = [quote_name(c["name"]) for c in data["columns"] if c["role"] == "left_out"]
        if left_out:
            yield ngettext(
                "{names} was excluded from all models.",
                "{names} were excluded from all models.",
                len(left_out),
                names=join_names(left_out),
            )
