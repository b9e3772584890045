"""The metrics: key, name, meaning, task, direction, range, and the names that people type.

The options of a study, the reports and the documentation read this table. How each metric is
computed is in `arboleda.scoring.measures`, by the same keys.
"""

import difflib
import math
import re
from dataclasses import dataclass
from typing import Literal

from arboleda.reports.translation import N_

__all__ = [
    "METRIC_NAMES",
    "PARAMETER_LABELS",
    "MetricName",
    "find_metric_name",
    "list_metric_names",
    "resolve_metric_key",
    "split_metric_key",
]

MetricTask = Literal["classification", "regression", "survival", "ranking"]


@dataclass(frozen=True)
class MetricName:
    """A metric as users see it.

    Attributes
    ----------
    label, meaning : str
        English messages; pages translate them.
    task : str or None
        None for a number of the pages by which no model can be chosen.
    greater_is_better : bool
    range : tuple of float
        Smallest and largest possible value.
    aliases : tuple of str
        Other names: those of scikit-learn, of boosting libraries, and abbreviations.
    parameter, default : str, float or None
        Name and default of the number that may follow the key, as in ``pinball:0.9``.
    two_classes : bool
        Whether the metric is of the positive class of two.
    has_unit : bool
        Whether values are in units of the target or of costs, rather than of the order of one.
    title : str
        The label where there is room for it, if it is not ``label``.
    """

    label: str
    meaning: str
    task: MetricTask | None = "classification"
    greater_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)
    aliases: tuple[str, ...] = ()
    parameter: str | None = None
    default: float | None = None
    two_classes: bool = False
    has_unit: bool = False
    title: str = ""

    @property
    def full_label(self) -> str:
        """The label where there is room for it."""
        return self.title or self.label


def _make_loss(
    label: str,
    meaning: str,
    aliases: str = "",
    *,
    task: MetricTask | None = "regression",
    greatest: float = math.inf,
    has_unit: bool = False,
    parameter: str | None = None,
    default: float | None = None,
) -> MetricName:
    """Make the entry of a metric with 0 as its best value."""
    return MetricName(
        label,
        meaning,
        task,
        False,
        (0.0, greatest),
        tuple(aliases.split()),
        parameter,
        default,
        has_unit=has_unit,
    )


METRIC_NAMES: dict[str, MetricName] = {
    "accuracy": MetricName(
        N_("Accuracy"),
        N_("Share of correctly predicted rows."),
        aliases=("acc", "accuracy_score", "f1_micro", "precision_micro", "recall_micro"),
    ),
    "error": _make_loss(
        N_("Error"),
        N_("Share of incorrectly predicted rows."),
        "error_rate zero_one_loss misclassification merror",
        task="classification",
        greatest=1.0,
    ),
    "balanced_accuracy": MetricName(
        N_("Balanced accuracy"),
        N_("Mean of the recalls of all classes; rare and common classes have equal weight."),
        aliases=("balanced_accuracy_score", "balanced_acc", "bal_acc", "bacc"),
    ),
    "precision": MetricName(
        N_("Precision"),
        N_("Share of the rows predicted as a class that belong to it."),
        aliases=("precision_score", "ppv"),
        two_classes=True,
    ),
    "recall": MetricName(
        N_("Recall"),
        N_("Share of the rows of a class that are predicted as it."),
        aliases=("recall_score", "sensitivity", "tpr"),
        two_classes=True,
    ),
    "specificity": MetricName(
        N_("Specificity"),
        N_("Share of the rows of other classes that are not predicted as the class."),
        aliases=("tnr", "selectivity"),
        two_classes=True,
    ),
    "f1": MetricName(
        N_("F1"),
        N_("Harmonic mean of precision and recall."),
        aliases=("f1_score", "f_score", "f_measure"),
        two_classes=True,
    ),
    "precision_macro": MetricName(
        N_("Precision (macro)"), N_("Unweighted mean of the precision of all classes.")
    ),
    "recall_macro": MetricName(
        N_("Recall (macro)"), N_("Unweighted mean of the recall of all classes.")
    ),
    "specificity_macro": MetricName(
        N_("Specificity (macro)"), N_("Unweighted mean of the specificity of all classes.")
    ),
    "f1_macro": MetricName(
        N_("Macro F1"), N_("Unweighted mean of the F1 of all classes."), aliases=("macro_f1",)
    ),
    "precision_weighted": MetricName(
        N_("Weighted precision"),
        N_("Mean of the precision of all classes, weighted by their numbers of rows."),
    ),
    "recall_weighted": MetricName(
        N_("Weighted recall"),
        N_("Mean of the recall of all classes, weighted by their numbers of rows: the accuracy."),
    ),
    "f1_weighted": MetricName(
        N_("Weighted F1"),
        N_("Mean of the F1 of all classes, weighted by their numbers of rows."),
        aliases=("weighted_f1",),
    ),
    "mcc": MetricName(
        N_("MCC"),
        N_("Matthews correlation between true and predicted classes: 1 is perfect, 0 is chance."),
        range=(-1.0, 1.0),
        title=N_("Matthews correlation"),
        aliases=("matthews_corrcoef", "matthews", "matthews_correlation", "phi"),
    ),
    "kappa": MetricName(
        N_("Cohen's kappa"),
        N_("Agreement of true and predicted classes beyond chance: 1 is perfect, 0 is chance."),
        range=(-1.0, 1.0),
        aliases=("cohen_kappa", "cohen_kappa_score", "cohens_kappa"),
    ),
    "roc_auc": MetricName(
        N_("ROC AUC"),
        N_(
            "Probability that a row of a class has a higher score for it than a row of "
            "another class (averaged over the classes if there are more than two)."
        ),
        aliases=("auc", "auroc", "roc", "roc_auc_score", "roc_auc_ovr", "rocauc"),
    ),
    "average_precision": MetricName(
        N_("Average precision"),
        N_("Area under the precision-recall curve, as a step function."),
        aliases=(
            "pr_auc", "auc_pr", "auprc", "prauc", "aucpr", "ap", "average_precision_score",
        ),
    ),
    "top_k": MetricName(
        N_("Top-k accuracy"),
        N_("Share of the rows whose class is among the k with the highest scores."),
        aliases=("top_k_accuracy", "top_k_accuracy_score", "topk"),
        parameter="k",
        default=2.0,
    ),
    "log_loss": _make_loss(
        N_("Log-loss"),
        N_(
            "Mean negative logarithm of the probability of the true class; confident "
            "errors cost most."
        ),
        "logloss cross_entropy binary_logloss multi_logloss mlogloss nll",
        task="classification",
    ),
    "brier": _make_loss(
        N_("Brier score"),
        N_("Mean squared difference between predicted probabilities and outcomes."),
        "brier_score brier_score_loss",
        task="classification",
        greatest=2.0,
    ),
    "cost": MetricName(
        N_("Mean cost"),
        N_(
            "Mean cost per row according to the cost matrix, predicting the class of "
            "least expected cost."
        ),
        greater_is_better=False,
        range=(-math.inf, math.inf),
        aliases=("mean_cost",),
        has_unit=True,
    ),
    "ece": _make_loss(
        N_("ECE"),
        N_("Expected calibration error: mean gap between predicted and observed frequencies."),
        task=None,
        greatest=1.0,
    ),
    "rmse": _make_loss(
        N_("RMSE"),
        N_("Square root of the mean squared error, in the unit of the target."),
        "root_mean_squared_error rms",
        has_unit=True,
    ),
    "mae": _make_loss(
        N_("MAE"),
        N_("Mean absolute error, in the unit of the target."),
        "mean_absolute_error l1",
        has_unit=True,
    ),
    "r2": MetricName(
        N_("R²"),
        N_(
            "Share of the variance of the target that is explained; 0 corresponds to "
            "predicting the mean."
        ),
        "regression",
        range=(-math.inf, 1.0),
        aliases=("r2_score", "r_squared", "rsquared", "r²", "r^2"),
    ),
    "mse": _make_loss(
        N_("MSE"),
        N_("Mean squared error, in the squared unit of the target."),
        "mean_squared_error l2",
        has_unit=True,
    ),
    "nmse": _make_loss(
        N_("NMSE"), N_("Mean squared error divided by the variance of the target.")
    ),
    "mape": _make_loss(
        N_("MAPE"),
        N_("Mean absolute error relative to the true value."),
        "mean_absolute_percentage_error",
        ),
    "msle": _make_loss(
        N_("MSLE"),
        N_("Mean squared difference of the logarithms of one plus the value."),
        "mean_squared_log_error",
        ),
    "rmsle": _make_loss(
        N_("RMSLE"),
        N_("Square root of the mean squared difference of the logarithms of one plus the value."),
        "root_mean_squared_log_error",
        ),
    "poisson": _make_loss(
        N_("Poisson deviance"),
        N_("Mean deviance of counts under a Poisson distribution."),
        "poisson_deviance mean_poisson_deviance",
        has_unit=True,
    ),
    "gamma": _make_loss(
        N_("Gamma deviance"),
        N_("Mean deviance of positive values under a gamma distribution."),
        "gamma_deviance mean_gamma_deviance",
        ),
    "pinball": _make_loss(
        N_("Pinball loss"),
        N_("Mean loss of predicting a quantile: errors below and above it have different weights."),
        "pinball_loss mean_pinball_loss quantile quantile_loss",
        has_unit=True,
        parameter="quantile",
        default=0.5,
    ),
    "integrated_brier": _make_loss(
        N_("Integrated Brier score"),
        N_(
            "Mean over time of the squared difference between the predicted survival and whether "
            "the event has taken place; rows are weighted so that censoring does not bias it. It "
            "judges order and calibration together."
        ),
        "ibs integrated_brier_score",
        task="survival",
        greatest=1.0,
    ),
    "concordance": MetricName(
        N_("Concordance index"),
        N_(
            "Share of the pairs of rows of known order whose predicted risks have the order of "
            "their times (Harrell's C); 0.5 is chance."
        ),
        "survival",
        aliases=("c_index", "cindex", "concordance_index", "harrell_c", "harrells_c"),
    ),
    "dynamic_auc": MetricName(
        N_("AUC over time"),
        N_(
            "Mean over time of the area under the ROC curve of rows with the event by a time "
            "against rows after it."
        ),
        "survival",
        aliases=("mean_auc", "time_dependent_auc", "cumulative_dynamic_auc"),
    ),
    "ndcg": MetricName(
        N_("NDCG"),
        N_(
            "Normalized discounted cumulative gain of the first ranks, as the mean over the "
            "queries: 1 if the rows of every query are in the best order."
        ),
        "ranking",
        aliases=("ndcg_score",),
        parameter="k",
        default=10.0,
    ),
    "map": MetricName(
        N_("MAP"),
        N_(
            "Mean average precision: the share of relevant rows up to the rank of each relevant "
            "row, averaged over these rows and over the queries."
        ),
        "ranking",
        aliases=("mean_average_precision",),
    ),
    "mrr": MetricName(
        N_("MRR"),
        N_("Mean over the queries of 1 divided by the rank of the first relevant row."),
        "ranking",
        aliases=("mean_reciprocal_rank",),
    ),
}  # fmt: skip
# Labels of the metrics with a parameter.
PARAMETER_LABELS = {
    "top_k": N_("Top-{value} accuracy"),
    "pinball": N_("Pinball loss at {value}"),
    "ndcg": N_("NDCG@{value}"),
}
_ALIASES = {alias: key for key, name in METRIC_NAMES.items() for alias in name.aliases}
# top_3, top5 and top_5_accuracy are written top_k:3 and top_k:5; ndcg@5 is ndcg:5.
_TOP = re.compile(r"top_?(\d+)(?:_accuracy)?")
_NDCG = re.compile(r"ndcg_?@_?(\d+)")


def list_metric_names(task: str) -> list[str]:
    """Return the keys of the metrics of a task by which models can be chosen."""
    return [key for key, name in METRIC_NAMES.items() if name.task == task]


def find_metric_name(key: str) -> MetricName | None:
    """Return the entry of a canonical key, with or without its parameter; None if unknown."""
    return METRIC_NAMES.get(split_metric_key(key)[0])


def split_metric_key(key: str) -> tuple[str, float | None]:
    """Split a canonical key into its name and its parameter.

    Examples
    --------
    >>> split_metric_key("pinball:0.9"), split_metric_key("mae")
    (('pinball', 0.9), ('mae', None))
    """
    name, colon, text = key.partition(":")
    known = METRIC_NAMES.get(name)
    if not colon or known is None or known.parameter is None:
        return key, None
    return name, float(text)


def resolve_metric_key(text: str) -> str:
    """Return the canonical key of a metric that is named as people type it.

    Raises
    ------
    ValueError
        If there is no such metric; the message suggests one.

    Examples
    --------
    >>> [resolve_metric_key(text) for text in ("AUC", "neg_log_loss", "top-3", "quantile:0.9")]
    ['roc_auc', 'log_loss', 'top_k:3', 'pinball:0.9']
    """
    typed = text.strip().lower().replace("-", "_").replace(" ", "_").removeprefix("neg_")
    found = _TOP.fullmatch(typed)
    typed = typed if found is None else f"top_k:{found[1]}"
    typed = _NDCG.sub(r"ndcg:\1", typed)
    name, colon, parameter = typed.partition(":")
    key = _ALIASES.get(name, name)
    known = METRIC_NAMES.get(key)
    if known is None or known.task is None:
        raise ValueError(f"There is no metric {text[:60]!r}; {_suggest_metric(name)}")
    if known.parameter is None or known.default is None:
        if colon:
            raise ValueError(f"The metric {key} has no parameter, got {text[:60]!r}.")
        return key
    return f"{key}:{_read_parameter(key, parameter if colon else known.default, text):g}"


def _read_parameter(key: str, value: str | float, text: str) -> float:
    """Return the number behind a key: a count of classes, or a quantile."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if key == "top_k" and not (number >= 1 and number == round(number)):
        raise ValueError(f"The k of top_k must be an integer of at least 1, got {text[:60]!r}.")
    if key == "ndcg" and not (number >= 1 and number == round(number)):
        raise ValueError(f"The ranks of ndcg must be an integer of at least 1, got {text[:60]!r}.")
    if key == "pinball" and not 0.0 < number < 1.0:
        raise ValueError(
            f"The quantile must be between 0 and 1, as in pinball:0.9, got {text[:60]!r}."
        )
    return number


def _suggest_metric(name: str) -> str:
    """Return what to write instead of a name that no metric has."""
    keys = [key for key, entry in METRIC_NAMES.items() if entry.task is not None]
    near = difflib.get_close_matches(name, [*keys, *_ALIASES], n=1, cutoff=0.6)
    if near:
        return f"did you mean {_ALIASES.get(near[0], near[0])!r}?"
    return f"choose one of {', '.join(keys)}, or a Python function as module:function."
