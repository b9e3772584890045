"""The facts of a model as a whole: what drives it, how columns act, how sure it is."""

from typing import Any

from arboleda.explanations._effects import describe_effects
from arboleda.explanations._examples import beyond_training, correlated_columns, rows_to_see
from arboleda.explanations._frame_facts import frame_facts
from arboleda.explanations._shap import describe_shap
from arboleda.explanations._sureness import describe_promise
from arboleda.study.execution.step_progress import Progress
from arboleda.study.results.explained_model import ExplainedModel
from arboleda.study.results.model_importance import describe_importance
from arboleda.study.results.model_surrogate import describe_surrogate

__all__ = ["model_facts"]


def model_facts(subject: ExplainedModel, progress: Progress) -> dict[str, Any]:
    """Everything the page of a model needs. The same study and seed give the same facts.

    A part that the model or its rows do not allow is None.
    """
    with progress.step("Shuffling columns to see what the model needs"):
        importance = describe_importance(subject)
    with progress.step("Asking how the columns act"):
        effects = describe_effects(subject, importance)
    with progress.step("Finding what pushes single rows"):
        shap = describe_shap(subject)
    with progress.step("Growing one tree that imitates the model"):
        surrogate = describe_surrogate(subject)
    with progress.step("Checking how sure it is"):
        promise = describe_promise(subject)
    return {
        **frame_facts(subject, "model"),
        "names": list(subject.names),
        "importance": importance,
        "effects": effects,
        "surrogate": surrogate,
        "shap": shap,
        "promise": promise,
        "rows": rows_to_see(subject),
        "correlated": correlated_columns(subject),
        "beyond": beyond_training(subject),
    }
