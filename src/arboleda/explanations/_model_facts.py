"""The facts of a model: importance and effects of columns, surrogate, uncertainty."""

from typing import Any

from arboleda.explanations._effects import describe_effects
from arboleda.explanations._examples import (
    count_rows_beyond_training,
    find_correlated_columns,
    find_instructive_rows,
)
from arboleda.explanations._frame_facts import make_frame_facts
from arboleda.explanations._shap import describe_shap
from arboleda.explanations._uncertainty import describe_coverage
from arboleda.study.execution.progress import Progress
from arboleda.study.results.explained_model import ExplainedModel
from arboleda.study.results.importance import describe_importance, describe_surrogate

__all__ = ["make_model_facts"]


def make_model_facts(subject: ExplainedModel, progress: Progress) -> dict[str, Any]:
    """Compute the facts of a model; the same study and seed give the same facts.

    Parts that cannot be computed for the model or its rows are None.
    """
    with progress.step("Computing permutation importance"):
        importance = describe_importance(subject)
    with progress.step("Computing effects of columns"):
        effects = describe_effects(subject, importance)
    with progress.step("Computing contributions of columns"):
        shap = describe_shap(subject)
    with progress.step("Fitting a surrogate tree"):
        surrogate = describe_surrogate(subject)
    with progress.step("Checking calibration and coverage"):
        coverage = describe_coverage(subject)
    return {
        **make_frame_facts(subject, "model"),
        "names": list(subject.names),
        "importance": importance,
        "effects": effects,
        "surrogate": surrogate,
        "shap": shap,
        "promise": coverage,
        "rows": find_instructive_rows(subject),
        "correlated": find_correlated_columns(subject),
        "beyond": count_rows_beyond_training(subject),
    }
