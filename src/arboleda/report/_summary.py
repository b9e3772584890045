"""The study in plain words: who did best, how good it is, and what to be careful about."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arboleda._numbers import NOTHING, integer, number_format, percent
from arboleda.report._metrics import metric
from arboleda.report._words import count_word, listed, quoted

__all__ = ["KeyFigure", "Summary", "baseline_of", "finished", "summarise"]

_BASELINES = ("most_frequent", "mean")
_PEOPLE = ("Matthews", "Brier", "Cohen")
_FEW_TEST_ROWS = 200
_RARE = 0.1
_LOW_RECALL = 0.5
_SUSPICIOUS = 0.999


@dataclass(frozen=True)
class KeyFigure:
    """A number that stands large at the top of the page."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class Summary:
    """What a reader takes along who reads nothing else."""

    sentences: Sequence[str]
    figures: Sequence[KeyFigure]
    cautions: Sequence[str]


def finished(models: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """List the models that have scores, best first."""
    return [model for model in models if model["status"] == "ok"]


def baseline_of(models: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Find the model that ignores all columns, if it was fitted."""
    return next((model for model in finished(models) if model["key"] in _BASELINES), None)


def summarise(facts: Mapping[str, Any]) -> Summary:
    """Write sentences, key figures and cautions drawn from the facts alone."""
    models = finished(facts["models"])
    if not models:
        text = "No model could be fitted; the leaderboard says why for each of them."
        return Summary([text], [], [])
    words = _Words(facts, models)
    return Summary(words.sentences(), words.figures(), list(words.cautions()))


class _Words:
    """The numbers the sentences share, each in its written form."""

    def __init__(self, facts: Mapping[str, Any], models: Sequence[Mapping[str, Any]]) -> None:
        self.facts, self.models, self.best = facts, models, models[0]
        study = facts["study"]
        self.key: str = study["metric"]
        self.label: str = study["metric_label"]
        self.up = study["greater_is_better"]
        self.test = self.best["test"]["metrics"].get(self.key)
        self.interval = self.best["test"]["interval"]
        baseline = baseline_of(models)
        self.baseline = baseline if baseline is not self.best else None
        self.write = number_format(
            [model["cv"]["mean"] for model in models], metric(self.key).bounded
        )

    def sentences(self) -> list[str]:
        cv, folds = self.best["cv"], self.facts["study"]["folds"]
        others = f"of {count_word(len(self.models))} models" if len(self.models) > 1 else "alone"
        verb = f"did best {others}" if len(self.models) > 1 else "was studied alone"
        first = (
            f"{self.best['name']} {verb}: {self._noun()} {self.write(cv['mean'])} ±"
            f" {self.write(cv['sd'])} in {count_word(folds)}-fold cross-validation."
        )
        second = (
            f"On the {integer(self.facts['split']['n_test'])} test rows, which took no part in"
            f" fitting or tuning, it reached {self.write(self.test)}"
            f"{self._interval_words(' (', ')')}."
        )
        return [first, second, *self._against_baseline()]

    def figures(self) -> list[KeyFigure]:
        cv = self.best["cv"]
        found = [
            KeyFigure(
                f"{self.label}, cross-validated",
                self.write(cv["mean"]),
                f"± {self.write(cv['sd'])} over {self.facts['study']['folds']} folds",
            ),
            KeyFigure(
                f"{self.label}, test rows", self.write(self.test), self._interval_words("", "")
            ),
        ]
        if self.baseline is not None:
            score = self.baseline["test"]["metrics"].get(self.key)
            found.append(KeyFigure("Baseline, test rows", self.write(score), self._gain(score)))
        return found

    def cautions(self) -> Iterator[str]:
        yield from self._about_scores()
        yield from self._about_probabilities()
        yield from self._about_classes()
        yield from self._about_rows()
        failed = [model["name"] for model in self.facts["models"] if model["status"] != "ok"]
        if failed:
            yield f"{listed(failed)} could not be fitted; the leaderboard says why."

    def _noun(self) -> str:
        """Name the metric within a sentence: words in lower case, abbreviations as they are."""
        first = self.label.split(" ")[0]
        if not first[1:].replace("-", "").islower() or first in _PEOPLE:
            return self.label
        return self.label[0].lower() + self.label[1:]

    def _interval_words(self, before: str, after: str) -> str:
        low, high = self.interval["low"], self.interval["high"]
        if low is None or high is None:
            return ""
        level = f"{100 * self.interval['level']:g}\N{NO-BREAK SPACE}%"
        return f"{before}{level} interval {self.write(low)} to {self.write(high)}{after}"

    def _gain(self, score: float | None) -> str:
        if score is None or self.test is None:
            return ""
        ahead = self.test - score if self.up else score - self.test
        if self.up:
            return f"{self.write(abs(ahead))} {'below' if ahead >= 0 else 'above'} the best model"
        if not score:
            return ""
        share = percent(abs(ahead) / abs(score), 0)
        return f"the best model is {share} {'lower' if ahead >= 0 else 'higher'}"

    def _against_baseline(self) -> list[str]:
        if self.baseline is None:
            return []
        score = self.baseline["test"]["metrics"].get(self.key)
        if score is None or self.test is None:
            return []
        rule = (
            "always answers the mean" if self.facts["study"]["task"] == "regression"
            else "always answers the most frequent class"
        )  # fmt: skip
        if self.up:
            distance = f"{self.write(abs(self.test - score))}"
            side = "above" if self.test >= score else "below"
        else:
            distance = percent(abs(self.test - score) / abs(score), 0) if score else NOTHING
            side = "below" if self.test <= score else "above"
        return [f"That is {distance} {side} the baseline, which {rule} ({self.write(score)})."]

    def _about_scores(self) -> Iterator[str]:
        cv = self.best["cv"]
        if self.best["key"] in _BASELINES and len(self.models) > 1:
            yield "No model did better than the baseline: the columns may not tell the target."
        near = [
            model["name"]
            for model in self.models[1:]
            if model is not self.baseline and abs(model["cv"]["mean"] - cv["mean"]) <= cv["sd"]
        ]
        if near:
            verb = "lies" if len(near) == 1 else "lie"
            yield (
                f"{listed(near)} {verb} within one standard deviation of the best score; other"
                " folds could rank them otherwise."
            )
        if self.test is not None and cv["sd"] > 0:
            behind = (cv["mean"] - self.test) * (1 if self.up else -1) / cv["sd"]
            if behind > 2:
                yield (
                    "The test score is worse than the cross-validated one by more than two standard"
                    " deviations; trust the test score."
                )
        if self.up and self.test is not None and self.test >= _SUSPICIOUS:
            yield (
                "The score is close to perfect: check that no column was made from the target or"
                " is known only after it."
            )

    def _about_probabilities(self) -> Iterator[str]:
        found = self.best["test"]["calibration"]
        if found is not None and found["error"] > found["largest_by_chance"]:
            gap, chance = percent(found["error"]), percent(found["largest_by_chance"])
            yield (
                f"The best model's probabilities are off by {gap} on average, more than chance"
                f" explains ({chance}); the section on calibration says what helps."
            )

    def _about_classes(self) -> Iterator[str]:
        classes = self.facts["split"]["classes"]
        if not classes:
            return
        total = sum(row["train"] + row["test"] for row in classes) or 1
        shares = {row["label"]: (row["train"] + row["test"]) / total for row in classes}
        rarest = min(shares, key=lambda label: shares[label])
        if shares[rarest] < _RARE and len(classes) <= 1 / _RARE:
            yield (
                f"The classes are uneven ({quoted(rarest)} is {percent(shares[rarest])} of the"
                " rows): read the scores per class beside the accuracy."
            )
        weak = [
            row for row in self.best["test"]["per_class"] or [] if row["recall"] < _LOW_RECALL
        ]  # fmt: skip
        if weak:
            worst = min(weak, key=lambda row: row["recall"])
            others = f" ({count_word(len(weak) - 1)} more are missed as often)" if weak[1:] else ""
            yield (
                f"The best model finds only {percent(worst['recall'], 0)} of the test rows of"
                f" class {quoted(worst['label'])}{others}."
            )

    def _about_rows(self) -> Iterator[str]:
        data, n_test = self.facts["data"], self.facts["split"]["n_test"]
        if n_test < _FEW_TEST_ROWS:
            yield (
                f"The test set is small ({integer(n_test)} rows): its scores are uncertain, as the"
                " interval shows."
            )
        if data["n_duplicate_rows"]:
            yield (
                f"{integer(data['n_duplicate_rows'])} rows are exact copies of others; copies on"
                " both sides of a split make scores look better than they are."
            )
        if data["rows_dropped"]:
            yield f"{integer(data['rows_dropped'])} rows were dropped before the study."
        left_out = [c["name"] for c in data["columns"] if c["role"] == "left_out"]
        if left_out:
            verb = "was" if len(left_out) == 1 else "were"
            yield f"{listed([quoted(name) for name in left_out])} {verb} left out of all models."
