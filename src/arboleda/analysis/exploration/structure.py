"""The structure of the rows: principal components, clusters, maps, and outliers by proximity."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE, Isomap, smacof
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

from arboleda.analysis.exploration.explored_table import (
    CodedColumns,
    ExploredTable,
    ExploredTarget,
    code_columns,
    prepare,
    rescale_extremes,
)
from arboleda.facts.exploration import (
    BicFacts,
    ClustersFacts,
    ComponentsFacts,
    IsomapFacts,
    Loading,
    MapFacts,
    MixturesFacts,
    OutlierFacts,
    OutliersFacts,
    ScalingFacts,
    TsneFacts,
    UnusualValue,
)
from arboleda.facts.model import HistogramFacts
from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.reports.fact_messages import write_message
from arboleda.tables.describe import compute_histogram
from arboleda.tables.table import Column

__all__ = [
    "Cloud",
    "compute_outlier_scores",
    "describe_clusters",
    "describe_components",
    "describe_isomap",
    "describe_outliers",
    "describe_scaling",
    "describe_tsne",
    "make_cloud",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

MOST_ROWS, CELLS = 5000, 6_000_000
FEWEST_ROWS = 10
COMPONENTS = 50  # maximum number computed
KEPT_VARIANCE = 0.9
MIXED_COMPONENTS = 8  # used by mixtures, whose covariances grow quadratically
MOST_CLUSTERS = 10
SILHOUETTE_ROWS = 2000
MAP_ROWS = 1000
SCALED_ROWS = 500  # for multidimensional scaling, whose iterations have quadratic cost
DRAWN_ROWS = 1500
WIDE = 2000  # with more prepared columns, the components are approximated
PERPLEXITY, NEIGHBORS = 30, 10
_STREAM, _MAP_STREAM = 2, 3
_COVARIANCES: tuple[Literal["full"], Literal["diag"]] = ("full", "diag")


@dataclass(frozen=True)
class Cloud:
    """Rows as points: their ``scores`` on the principal components."""

    rows: Rows
    pca: PCA
    scores: Floats
    sources: list[str]
    n_kept: int
    goal: ExploredTarget | None
    seed: int

    @property
    def kept(self) -> Floats:
        """Scores on the components that explain most of the variance."""
        return self.scores[:, : self.n_kept]


def make_cloud(subject: ExploredTable) -> Cloud | str:
    """Compute the principal components of a sample of rows, or return why there are none."""
    features = subject.features
    if not features:
        return "the table has no feature columns"
    most = min(MOST_ROWS, max(500, CELLS // len(features)))
    rows = subject.sample(most, _STREAM)
    if len(rows) < FEWEST_ROWS:
        return write_message("fewer_rows", count=FEWEST_ROWS)
    matrix, sources = prepare(code_columns(subject, rows))
    if matrix.shape[1] < 2 or not matrix.std(axis=0).any():
        return "the prepared columns span fewer than two dimensions"
    n_components = min(COMPONENTS, *matrix.shape)
    solver = "covariance_eigh" if matrix.shape[1] <= WIDE else "randomized"
    pca = PCA(n_components, svd_solver=solver, random_state=subject.seed).fit(matrix)
    total = np.cumsum(pca.explained_variance_ratio_)
    n_kept = min(n_components, max(2, int(np.searchsorted(total, KEPT_VARIANCE)) + 1))
    scores = pca.transform(matrix)
    return Cloud(rows, pca, scores, sources, n_kept, subject.goal, subject.seed)


def describe_components(cloud: Cloud) -> ComponentsFacts:
    """Compute explained variance, loadings of the first two components, and their map."""
    drawn = _draw_subset(len(cloud.rows), DRAWN_ROWS, cloud.seed)
    return ComponentsFacts(
        n_rows=len(cloud.rows),
        n_prepared=len(cloud.sources),
        explained=[float(v) for v in cloud.pca.explained_variance_ratio_],
        n_kept=cloud.n_kept,
        loadings=[_compute_loadings(cloud, k) for k in (0, 1)],
        map=_make_map(cloud, cloud.rows[drawn], cloud.scores[drawn, :2]),
    )


def _compute_loadings(cloud: Cloud, component: int, most: int = 6) -> list[Loading]:
    """Return the share of the squared weights of a component per column, the largest first."""
    shares: dict[str, float] = {}
    for name, weight in zip(cloud.sources, cloud.pca.components_[component], strict=True):
        shares[name] = shares.get(name, 0.0) + float(weight) ** 2
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    return [Loading(name=name, share=share) for name, share in ranked[:most]]


def describe_clusters(cloud: Cloud) -> ClustersFacts:
    """Cluster by k-means and Gaussian mixtures, with inertia, silhouette and BIC, k up to ten."""
    points = cloud.kept
    n_distinct = len(np.unique(points.round(9), axis=0))
    most = min(MOST_CLUSTERS, n_distinct - 1, len(points) // 2)
    ks = range(1, most + 1)
    fits = [KMeans(k, n_init=4, random_state=cloud.seed).fit(points) for k in ks]
    sampled = _draw_subset(len(points), SILHOUETTE_ROWS, cloud.seed)
    return ClustersFacts(
        n_rows=len(points),
        n_components=points.shape[1],
        k=list(ks),
        inertia=[float(fit.inertia_) for fit in fits],
        silhouette=[
            None if k == 1 else _compute_silhouette(points, sampled, fits[k - 1]) for k in ks
        ],
        n_silhouette_rows=len(sampled),
        mixtures=_fit_mixtures(cloud, list(ks)),
    )


def _compute_silhouette(points: Floats, sampled: Rows, fit: KMeans) -> float | None:
    labels = fit.labels_[sampled]
    if not 1 < len(np.unique(labels)) < len(sampled):
        return None
    return float(silhouette_score(points[sampled], labels))


def _fit_mixtures(cloud: Cloud, ks: list[int]) -> MixturesFacts:
    points = cloud.scores[:, : min(MIXED_COMPONENTS, cloud.n_kept)]
    full, diagonal = (
        [_compute_bic(points, k, kind, cloud.seed) for k in ks] for kind in _COVARIANCES
    )
    return MixturesFacts(
        n_components=points.shape[1],
        bic=BicFacts(full=full, diag=diagonal),
    )


def _compute_bic(points: Floats, k: int, kind: Literal["full", "diag"], seed: int) -> float | None:
    mixture = GaussianMixture(k, covariance_type=kind, random_state=seed)
    with warnings.catch_warnings():
        # Without convergence the likelihood is slightly low, which the curve tolerates.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return float(mixture.fit(points).bic(points))
        except ValueError:  # a component collapsed to a single point
            return None


def describe_scaling(cloud: Cloud) -> ScalingFacts | None:
    """Map rows by multidimensional scaling; None with fewer than ten distinct rows.

    The initial map is the first two principal components, which equal classical scaling of
    Euclidean distances; majorization then lowers the stress (Borg and Groenen 2005, chapter 8).
    ``stress`` is Kruskal's stress-1 of the map.
    """
    points, rows = _select_distinct(cloud, SCALED_ROWS)
    if len(rows) < FEWEST_ROWS:
        return None
    distances = pdist(points)
    start = points[:, :2]
    places, *_ = smacof(
        squareform(distances), n_components=2, init=start, n_init=1, max_iter=300, eps=1e-6
    )
    mapped = pdist(places)
    stress = np.sqrt(np.sum((mapped - distances) ** 2) / np.sum(mapped**2))
    return ScalingFacts(
        n_rows=len(rows),
        stress=float(stress),
        map=_make_map(cloud, rows, np.asarray(places, dtype=np.float64)),
    )


def describe_tsne(cloud: Cloud) -> TsneFacts | None:
    """Map distinct rows of a sample by t-SNE; None with fewer than ten of them."""
    points, rows = _select_distinct(cloud, MAP_ROWS)
    if len(rows) < FEWEST_ROWS:
        return None
    perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
    estimator = TSNE(perplexity=perplexity, init="pca", random_state=cloud.seed)
    places = np.asarray(estimator.fit_transform(points), dtype=np.float64)
    return TsneFacts(n_rows=len(rows), perplexity=perplexity, map=_make_map(cloud, rows, places))


def describe_isomap(cloud: Cloud) -> IsomapFacts | None:
    """Map distinct rows of a sample by Isomap; None with fewer than ten of them."""
    points, rows = _select_distinct(cloud, MAP_ROWS)
    if len(rows) < FEWEST_ROWS:
        return None
    n_neighbors = min(NEIGHBORS, len(rows) - 1)
    estimator = Isomap(n_neighbors=n_neighbors, n_components=2, eigen_solver="dense")
    with warnings.catch_warnings():
        # Isomap connects the components of a disconnected neighbourhood graph, with a warning.
        warnings.filterwarnings("ignore", message="The number of connected components")
        warnings.filterwarnings("ignore", message="Changing the sparsity structure")
        places = np.asarray(estimator.fit_transform(points), dtype=np.float64)
    return IsomapFacts(
        n_rows=len(rows), n_neighbors=n_neighbors, map=_make_map(cloud, rows, places)
    )


def _select_distinct(cloud: Cloud, most: int) -> tuple[Floats, Rows]:
    """Return the distinct points of the sample; duplicates would coincide."""
    chosen = _draw_subset(len(cloud.rows), most, cloud.seed)
    points = cloud.kept[chosen]
    _, first = np.unique(points.round(9), axis=0, return_index=True)
    kept = np.sort(first)
    return points[kept], cloud.rows[chosen[kept]]


def _draw_subset(n: int, most: int, seed: int) -> Rows:
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng([seed, _MAP_STREAM]).permutation(n)[:most])


def _make_map(cloud: Cloud, rows: Rows, points: Floats) -> MapFacts:
    """Return positions with the longer side scaled to 1, row numbers from 1, and targets.

    A target is a class index, a value, or None if missing.
    """
    low = points.min(axis=0)
    side = float((points.max(axis=0) - low).max()) or 1.0
    places = ((points - low) / side).round(4)
    targets = None
    if cloud.goal is not None:
        known = cloud.goal.known[rows]
        targets = [
            (int(v) if cloud.goal.labels else v) if is_known else None
            for v, is_known in zip(cloud.goal.y[rows].tolist(), known, strict=True)
        ]
    return MapFacts(
        rows=(rows + 1).tolist(),
        x=places[:, 0].tolist(),
        y=places[:, 1].tolist(),
        targets=targets,
    )


TREES = 200
FOREST_ROWS, OUTLIER_CELLS = 4000, 6_000_000
SHOWN, REASONS = 10, 4
SUSPICIOUS = 10.0
_FOREST_STREAM = 4


def describe_outliers(subject: ExploredTable) -> OutliersFacts | None:
    """Find the rows with the highest outlier scores and the columns in which they are unusual.

    None without features, with fewer than ten rows, or with fewer than two classes.
    """
    most = min(FOREST_ROWS, max(500, OUTLIER_CELLS // max(1, len(subject.features))))
    rows = subject.sample(most, _FOREST_STREAM)
    goal = subject.goal
    if goal is not None:
        rows = rows[goal.known[rows]]
    if not subject.features or len(rows) < FEWEST_ROWS:
        return None
    if goal is not None and len(np.unique(goal.y[rows])) < 2:
        return None
    coded = code_columns(subject, rows)
    scores = compute_outlier_scores(
        coded, None if goal is None else goal.y[rows], goal, subject.seed
    )
    top = np.argsort(-scores, kind="stable")[:SHOWN]
    histogram = compute_histogram(np.clip(scores, None, 2 * SUSPICIOUS), 24)
    return OutliersFacts(
        n_rows=len(rows),
        n_trees=TREES,
        n_suspicious=int((scores > SUSPICIOUS).sum()),
        histogram=None if histogram is None else HistogramFacts(**histogram),
        rows=[
            _describe_row(subject, coded, rows, int(place), float(scores[place])) for place in top
        ],
    )


def compute_outlier_scores(
    coded: CodedColumns, y: Floats | None, goal: ExploredTarget | None, seed: int
) -> Floats:
    """Compute the outlier scores of a forest, within the class of each row.

    The forest predicts the target. Without a target, it discriminates the rows from rows whose
    columns were permuted independently, which have the same marginal distributions but no
    dependence: Breiman (2003), "Manual: setting up, using, and understanding random forests",
    section "Unsupervised learning".
    """
    options: dict[str, Any] = {
        "n_estimators": TREES,
        "categorical_features": list(coded.categorical) or None,
        "random_state": seed,
        "n_jobs": 1,
    }
    if goal is not None and y is not None:
        if goal.labels:
            classes = y.astype(np.int64)
            forest = RandomForestClassifier(**options).fit(coded.x, classes)
            return forest.outlier_scores(coded.x, classes)
        # Splits, and therefore proximities, do not depend on the unit of the target.
        values = rescale_extremes(y[:, np.newaxis])[:, 0]
        return RandomForestRegressor(**options).fit(coded.x, values).outlier_scores(coded.x)
    random = np.random.default_rng([seed, _FOREST_STREAM])
    permuted = random.permuted(coded.x, axis=0)
    real = np.repeat([1, 0], len(coded.x))
    forest = RandomForestClassifier(**options).fit(np.vstack([coded.x, permuted]), real)
    return forest.outlier_scores(coded.x, real[: len(coded.x)])


def _describe_row(
    subject: ExploredTable, coded: CodedColumns, rows: Rows, place: int, score: float
) -> OutlierFacts:
    goal = subject.goal
    alike = np.ones(len(rows), dtype=bool)
    target: str | float | None = None
    if goal is not None:
        own = goal.y[rows[place]]
        target = goal.labels[int(own)] if goal.labels else float(own)
        if goal.labels:
            alike = goal.y[rows] == own
    rarity = [_compute_rarity(coded, j, place, alike) for j in range(len(coded.names))]
    reasons = np.argsort(rarity, kind="stable")[:REASONS]
    return OutlierFacts(
        row=int(rows[place]) + 1,
        score=score,
        target=target,
        unusual=[
            UnusualValue(
                column=coded.names[j],
                value=_decode_value(subject.features[j], int(rows[place])),
                share=rarity[j],
            )
            for j in reasons
            if rarity[j] < 0.5
        ],
    )


def _compute_rarity(coded: CodedColumns, j: int, place: int, alike: npt.NDArray[np.bool_]) -> float:
    """Return the share of rows of its class that are as extreme or have the same category."""
    values, own = coded.x[alike, j], coded.x[place, j]
    if np.isnan(own):
        return float(np.isnan(values).mean())
    if j in coded.categorical:
        return float((values == own).mean())
    return float(min(1.0, 2 * min((values <= own).mean(), (values >= own).mean())))


def _decode_value(column: Column, row: int) -> str | float | bool | None:
    value = column.values[row]
    if np.isnan(value):
        return None
    if column.kind == "string":
        return column.levels[int(value)]
    if column.kind == "datetime":
        stamp = np.datetime64(int(value), "s")
        return str(stamp).replace("T", " ").removesuffix(" 00:00:00")
    return bool(value) if column.kind == "boolean" else float(value)
