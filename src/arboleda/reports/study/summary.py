"""The summary of a study: the best model, its quality, highlights and cautions."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._utils.numbers import duration, integer, number_format, percent
from arboleda.reports.fact_messages import translate
from arboleda.reports.rendering import Bar, Highlight, KeyFigure, Summary
from arboleda.reports.study.leaderboard import write_uncertainty_sentences
from arboleda.reports.study.quality import write_cost_sentences
from arboleda.reports.study.report_data import BASELINES, ReportData, name_scheme
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import get_metric, join_names, lower_label, quote_name, spell_count

__all__ = ["summarise"]

_FEW_TEST_ROWS = 200
_RARE = 0.1
_LOW_RECALL = 0.5
_SUSPICIOUS = 0.999
_USUAL_CLASSES = ("accuracy", "roc_auc", "balanced_accuracy")
_USUAL_NUMBERS = ("r2", "mae", "rmse")

_FIRST_SENTENCES = {
    "best": N_("{name} is the best of {count} models: {metric} {score} in {scheme}."),
    "only": N_("Of {count} models, only {name} could be scored: {metric} {score} in {scheme}."),
    "alone": N_("{name} is the only model in the study: {metric} {score} in {scheme}."),
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
    "mean": N_("always predicts the mean"),
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
        first = _(
            _FIRST_SENTENCES[kind],
            name=translate(self.best["name"]),
            count=spell_count(n_models),
            metric=lower_label(self.report.label),
            score=self.report.format_spread(self.best["cv"]),
            scheme=name_scheme(self.report.study),
        )
        interval = self._format_interval()
        second = _(
            "On the {count} test rows, which were not used for fitting or tuning, it "
            "scores {score}{interval}.",
            count=integer(self.facts["split"]["n_test"]),
            score=self.write(self.test),
            interval=f" ({interval})" if interval else "",
        )
        return [first, second, *self._compare_with_baseline()]

    def figures(self) -> list[KeyFigure]:
        cv, label = self.best["cv"], self.report.label
        spread = "" if cv["sd"] is None else f"± {self.write(cv['sd'])}"
        result = [
            KeyFigure(
                _("{metric}, cross-validated", metric=label),
                self.write(cv["mean"]),
                _("{sd} over {count} folds", sd=spread, count=len(cv["fold_scores"])),
            ),
            KeyFigure(
                _("{metric}, test rows", metric=label),
                self.write(self.test),
                self._format_interval(),
            ),
        ]
        if self.baseline is not None:
            score = self.report.get_test_score(self.baseline)
            label = _("Baseline, test rows")
            result.append(KeyFigure(label, self.write(score), self._describe_gain(score)))
        return [*result, *self._make_other_metrics()]

    def _make_other_metrics(self) -> Iterator[KeyFigure]:
        """Yield a well-known metric if models were chosen by another one."""
        usual = _USUAL_CLASSES if self.report.is_classification else _USUAL_NUMBERS
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
        for kind, no_time in (("failed", False), ("no_time", True)):
            models = [m for m in self.report.failed if self.report.ran_out_of_time(m) is no_time]
            if models:
                yield _(_FAILURES[kind], names=join_names([translate(m["name"]) for m in models]))

    def _format_interval(self) -> str:
        interval = self.best["test"]["interval"]
        low, high = interval["low"], interval["high"]
        if low is None or high is None:
            return ""
        level = f"{100 * interval['level']:g}\N{NO-BREAK SPACE}%"
        return _(
            "{level} interval {low} to {high}",
            level=level,
            low=self.write(low),
            high=self.write(high),
        )

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
        rule = _RULES["class" if self.report.is_classification else "mean"]
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
        if self.best["key"] in BASELINES and len(self.models) > 1:
            yield _(
                "No model is better than the baseline: the columns may not contain "
                "information about the target."
            )
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


_BARS = 6


def make_highlights(report: ReportData) -> list[Highlight]:
    """Collect the highlights that the facts support."""
    return [*_describe_uncertainty(report), *_describe_drivers(report), *_describe_costs(report)]


def _describe_uncertainty(report: ReportData) -> Iterator[Highlight]:
    sentences = list(write_uncertainty_sentences(report))
    link = "comparison" if report.facts.get("comparison") else ""
    if sentences:
        yield Highlight(_("How certain is the result?"), sentences, link=link)


def _describe_drivers(report: ReportData) -> Iterator[Highlight]:
    result = report.facts.get("importance") or {}
    columns = [c for c in result.get("columns", ()) if c["value"] > 0][:_BARS]
    if not columns:
        return
    largest = columns[0]["value"]
    write = number_format([c["value"] for c in columns], get_metric(result["metric"]).bounded)
    bars = [Bar(c["name"], write(c["value"]), c["value"] / largest) for c in columns]
    yield Highlight(
        _("What drives the model?"),
        [_("The most important columns: the loss in score when their values are shuffled.")],
        bars,
        "importance",
    )


def _describe_costs(report: ReportData) -> Iterator[Highlight]:
    timing, total = report.best["timing"], report.facts["timing"]["total_s"]
    sentences = [
        _(
            "The whole study of {count} models took {time}.",
            time=duration(total),
            count=len(report.facts["models"]),
        )
    ]
    if timing["fit_s"] is not None and timing["predict_s"] is not None:
        times = {"fit": duration(timing["fit_s"]), "predict": duration(timing["predict_s"])}
        sentences.insert(
            0, _("Fitting it takes {fit}; predicting the test rows takes {predict}.", **times)
        )
    link = "costs" if report.facts.get("costs") else ""
    yield Highlight(_("What does it cost?"), [*write_cost_sentences(report), *sentences], link=link)
