"""Pages of explanations, rendered from the facts, and their methods in sentences."""

import shlex
from collections.abc import Mapping
from typing import Any

from arboleda._utils.numbers import integer, plain
from arboleda.facts.explanation import (
    SCHEMA_VERSION,
    ExplanationFacts,
    ModelExplanation,
    RowExplanation,
)
from arboleda.reports.explanation.model_page import make_model_view
from arboleda.reports.explanation.row_page import make_row_view
from arboleda.reports.explanation.wording import AnyExplanation
from arboleda.reports.fact_messages import translate
from arboleda.reports.rendering import DATA_PAGES, render_page, use_facts
from arboleda.reports.translation import N_, pgettext
from arboleda.reports.translation import gettext as _

__all__ = ["make_method_view", "render_explanation"]

_PARTS = {
    "train": N_("a training row: the model was fitted on it"),
    "test": N_("a test row: the model has not seen it"),
}


def render_explanation(facts: Mapping[str, Any], language: str = "en") -> str:
    """Render the facts of an explanation as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        As in ``explanation.schema.json``; its strings may contain arbitrary text.
    language : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.
    """
    with use_facts(facts, SCHEMA_VERSION, "explain the study again", language):
        explained = ExplanationFacts.model_validate(facts).root
        view = (
            make_row_view(explained)
            if isinstance(explained, RowExplanation)
            else make_model_view(explained)
        )
        return render_page(
            f"explanation_{explained.about}.html.j2",
            {**view, **_make_frame(explained)},
            DATA_PAGES,
        )


def _make_frame(facts: AnyExplanation) -> dict[str, Any]:
    here, study = facts.environment, facts.study
    return {
        "headline": _make_headline(facts),
        "method": make_method_view(facts),
        "command": _make_command(facts),
        "environment": [
            ("arboleda", here.arboleda),
            ("Python", here.python),
            ("NumPy", here.numpy),
            ("scikit-learn", here.scikit_learn),
            (_("Data, SHA-256"), study.data_sha256),
        ],
        "version": facts.arboleda_version,
    }


def _make_headline(facts: AnyExplanation) -> list[str]:
    study, model = facts.study, facts.model
    headline = [_("{target}, by {name}", target=study.target, name=translate(model.name))]
    if isinstance(facts, RowExplanation):
        part = facts.row.part
        return [*headline, _(_PARTS[part])]
    return [
        *headline,
        _(
            "{n_train} training rows, {n_test} test rows",
            n_train=integer(study.n_train),
            n_test=integer(study.n_test),
        ),
    ]


def _make_command(facts: AnyExplanation) -> str:
    words = ["arboleda", "explain", facts.study.folder]
    if isinstance(facts, RowExplanation):
        words += ["--row", str(facts.row.number)]
    return shlex.join([*words, "--seed", str(facts.seed)])


def make_method_view(facts: AnyExplanation) -> list[tuple[str, str]]:
    """List the steps of a page with their methods."""
    if isinstance(facts, RowExplanation):
        steps = _describe_row(facts)
    else:
        steps = _describe_model_page(facts)
    return list(steps.items())


def _describe_model(facts: AnyExplanation) -> str:
    model = facts.model
    params = [f"{key} = {_format_scalar(value)}" for key, value in model.params.items()]
    return _(
        "{name} ({parts}), rank {rank} of {n_models} on the leaderboard of the study, "
        "fitted on the {n_train} training rows.",
        name=translate(model.name),
        parts=", ".join([model.engine, *params]),
        rank=model.rank,
        n_models=model.n_models,
        n_train=integer(facts.study.n_train),
    )


def _format_scalar(value: Any) -> str:
    if value is None:
        return pgettext("value", "none")
    return (
        plain(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )


def _describe_row(facts: RowExplanation) -> dict[str, str]:
    steps = {
        _("Model"): _describe_model(facts),
        _("Row"): (
            _(
                "Number {number} of {n_rows} data rows of the table, counted from 1.",
                number=integer(facts.row.number),
                n_rows=integer(facts.row.n_rows),
            )
        ),
    }
    if facts.range is not None:
        steps[_("Sets and intervals")] = _(_CONFORMAL)
    steps[_("What if")] = _(
        "The row itself with one column at quantiles of the training rows, or at their "
        "most frequent categories (individual conditional expectation, Goldstein et al. "
        "2015). The combinations may include some that no real row has."
    )
    return steps | {_("Seed"): _describe_seed(facts)}


def _describe_model_page(facts: ModelExplanation) -> dict[str, str]:
    steps = {_("Model"): _describe_model(facts)}
    if facts.importance is not None:
        steps[_("What drives it")] = _(
            "Permutation importance (Breiman 2001; Fisher, Rudin and Dominici 2019) on "
            "rows not used for fitting."
        )
    if facts.surrogate is not None:
        steps[_("Surrogate tree")] = _(
            "A tree fitted to the predictions of the model for {n_fit} training rows and "
            "evaluated on {n_rows} test rows.",
            n_fit=integer(facts.surrogate.n_fit),
            n_rows=integer(facts.surrogate.n_rows),
        )
    if facts.promise is not None:
        steps[_("Sets and intervals")] = _(
            "{conformal} Coverage is estimated by calibrating on each half of the test "
            "rows and evaluating on the other.",
            conformal=_(_CONFORMAL),
        )
    return steps | {_("Seed"): _describe_seed(facts)}


_CONFORMAL = N_(
    "Split-conformal prediction (Vovk, Gammerman and Shafer 2005; Lei et al. 2018) "
    "calibrated on test rows, which the model has not seen. The guarantee holds for rows "
    "of the same distribution, not after a distribution shift."
)


def _describe_seed(facts: AnyExplanation) -> str:
    return _("{seed}; the same study, seed and versions give the same page.", seed=facts.seed)
