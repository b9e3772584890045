"""Bayesian network classifiers: naive, augmented, or with a given graph."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda._engine.table import check_table
from arboleda._utils.frames import new_frame
from arboleda._utils.number_types import is_integer
from arboleda.learners._bayes_rule import Array, BayesRuleClassifier, Floats
from arboleda.learners._bayesian_network_inference import draw_states, learn_tables, log_joint
from arboleda.learners._bayesian_network_structure import Structure, build_graph, node_names
from arboleda.learners._bayesian_network_tables import (
    MISSING,
    Categories,
    ColumnStates,
    Network,
    learn_states,
    logarithms,
    table_states,
)
from arboleda.learners._class_rows import ClassRows, dense_table, read_class_rows
from arboleda.learners._columns import Bins
from arboleda.learners._directed_graph import DirectedGraph
from arboleda.learners._graph_drawing import draw_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Maximum total weight for which sums of weighted logarithms do not overflow.
_MAX_TOTAL_WEIGHT = 1e300


class BayesianNetworkClassifier(BayesRuleClassifier):
    """Bayesian network classifier: an acyclic graph with a probability table for each node.

    The columns and the target are the nodes of a graph, along which their joint distribution
    factorises: P(x, k) = prod_v P(v | parents of v). This gives the posterior of the target,
    P(k | x). Naive Bayes is the network in which the target is the only parent of each column.
    Tree-augmented naive Bayes (TAN) adds another column as a second parent to every column but one,
    and chooses the network with the largest likelihood. Forest-augmented naive Bayes (FAN) adds a
    second parent only where the gain exceeds the cost of the additional parameters.

    The table of a node holds the probability of each of its states x given those of its parents,

        P(x | parents) = (N(x, parents) + alpha) / (N(parents) + alpha r),

    with N the weight of rows and r the number of states.

    Parameters
    ----------
    structure : {"fan", "tan", "naive"}, DirectedGraph or collection of (parent, child), \
default="fan"
        "fan": forest-augmented naive Bayes; "tan": tree-augmented naive Bayes (Friedman et al.
        1997); "naive": naive Bayes; otherwise the edges of the graph, as pairs of names of columns
        or of the target. Columns without an edge are independent of all others.
    alpha : float, default=1.0
        0: maximum-likelihood tables. Otherwise maximum a posteriori (MAP) tables under a symmetric
        Dirichlet prior with parameter alpha + 1.
    n_bins : int or "mdl", default="mdl"
        Binning of numeric columns. "mdl": cuts that minimize the entropy of the classes, as long as
        they shorten the description length (Fayyad & Irani 1993); a column that is uninformative by
        itself is not cut and has no influence. A number: bins of about equal weight.
    categorical_features : "from_dtype", None, or array-like of bool, int or str, \
default="from_dtype"
        Categorical columns: a mask, indices or names; "from_dtype": columns of a categorical,
        enumeration or text type. As for the trees of this library.
    target : hashable, default=None
        Name of the target in the graph. None: the name of y if it is a named Series, otherwise
        "y"; followed by "_" if a column has this name.
    max_iter : int, default=100
        Maximum number of iterations of expectation-maximization, used with missing values.
    tol : float, default=1e-4
        Stop when an iteration raises the log posterior of the tables by less than this per row.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
        Class probabilities of a row with all values missing.
    graph_ : DirectedGraph
        The nodes are the columns, named "x0", "x1" and so on if they have no names, and the target.
    states_ : dict of node to tuple
        States of each node: categories, `Bin` with the smallest and the largest value in training,
        or classes.
    tables_ : dict of node to ndarray
        P(node | parents): the first axes are the parents in the order of ``graph_.parents(node)``,
        the last is the node.
    log_likelihood_ : ndarray of shape (n_iterations,)
        Log-likelihood of all observed values, after each iteration.
    log_posterior_ : ndarray of shape (n_iterations,)
        The objective: the log-likelihood plus alpha times the sum of the logarithms of the tables.
        It never decreases. With ``alpha=0`` it is the log-likelihood.
    n_iter_ : int
        Number of iterations; 1 without missing values, for which counting is sufficient.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.

    See Also
    --------
    MixedNaiveBayes : The naive network, with normal distributions for numeric columns.

    Notes
    -----
    Missing values are neither imputed nor treated as a category. In `fit` the tables are estimated
    by expectation-maximization, which starts from the complete observations and is valid if values
    are missing at random given the observed ones. In `predict` missing values are summed out
    exactly by variable elimination. Unseen categories are treated as missing values.

    Tree and forest are computed from the rows that have both values of a pair, and directed away
    from the first column. The tree of "tan" has the largest sum of conditional mutual information
    I(A; B | target). This grows by chance with the number of categories, and columns of very many
    categories are joined to most others. For "fan", the gain in log-likelihood from joining two
    columns is reduced by the number of additional free parameters (Akaike 1974), and pairs without
    a positive gain are not joined. Neither joins columns with a single state, or pairs whose table
    with the target would have more than 1,048,576 entries.

    With ``alpha=0`` a row may be impossible under every class; `predict_proba` then returns
    ``class_prior_``. For combinations of parents that do not occur in the training rows, the states
    of a node are equally probable. A class whose rows all have weight 0 has probability 0.

    References
    ----------
    J. Pearl (1988), "Probabilistic Reasoning in Intelligent Systems". N. Friedman, D. Geiger, M.
    Goldszmidt (1997), "Bayesian network classifiers", Machine Learning 29. P. J. F. Lucas (2004),
    "Restricted Bayesian network structure learning", Advances in Bayesian Networks, Springer. H.
    Akaike (1974), "A new look at the statistical model identification", IEEE Transactions on
    Automatic Control 19. C. K. Chow, C. N. Liu (1968), "Approximating discrete probability
    distributions with dependence trees", IEEE Transactions on Information Theory 14. U. M. Fayyad,
    K. B. Irani (1993), "Multi-interval discretization of continuous-valued attributes for
    classification learning", IJCAI.

    Examples
    --------
    >>> import pandas as pd
    >>> from arboleda import BayesianNetworkClassifier
    >>> X = pd.DataFrame({
    ...     "season": ["dry", "dry", "dry", "wet", "wet", "wet"],
    ...     "sprinkler": ["on", "on", "off", "off", "off", None],
    ... })
    >>> wet_grass = pd.Series(["yes", "yes", "no", "yes", "yes", "no"], name="grass")
    >>> model = BayesianNetworkClassifier(
    ...     [("season", "sprinkler"), ("season", "grass"), ("sprinkler", "grass")]
    ... ).fit(X, wet_grass)
    >>> model.predict_proba(pd.DataFrame({"season": ["dry"], "sprinkler": [None]})).round(3)
    array([[0.417, 0.583]])
    >>> model.d_separated("season", "grass", given="sprinkler")
    False
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "n_bins": [Interval(Integral, 2, None, closed="left"), StrOptions({"mdl"})],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
    }

    graph_: DirectedGraph
    states_: dict[Hashable, tuple[Any, ...]]
    tables_: dict[Hashable, Floats]
    log_likelihood_: Floats
    log_posterior_: Floats
    n_iter_: int

    def __init__(
        self,
        structure: Structure = "fan",
        *,
        alpha: float = 1.0,
        n_bins: Bins = "mdl",
        categorical_features: Any = "from_dtype",
        target: Hashable | None = None,
        max_iter: int = 100,
        tol: float = 1e-4,
    ) -> None:
        self.structure = structure
        self.alpha = alpha
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.target = target
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the tables and, unless it is given, the graph.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table. Values may be missing; infinite values raise an error.
        y : array-like of shape (n_samples,)
            Labels of any type, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. Weights are counts: their
            scale relative to alpha matters.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, an edge names an unknown column, edges form a cycle, the
            target has no edge, a table would be too large, or X, y or the weights are invalid. The
            estimator is left unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            rows = read_class_rows(
                self, X, y, sample_weight, categorical_features=self.categorical_features
            )
            _check_weight(rows.weight)
            self.classes_: Array = rows.classes
            self._columns = learn_states(rows, self.schema_, self.n_bins)
            nodes = node_names(self.schema_.names, rows.table.n_columns, self.target, y)
            self._fit_network(nodes, rows)
        return self

    def _fit_network(self, nodes: tuple[Hashable, ...], rows: ClassRows) -> None:
        self._known_classes = np.flatnonzero(rows.class_weight > 0.0)
        n_classes = self._known_classes.size
        sizes = (*(max(1, len(column.values)) for column in self._columns), n_classes)
        states = table_states(self._columns, rows.table)
        states[:, -1] = np.searchsorted(self._known_classes, rows.labels)
        self.graph_ = build_graph(self.structure, nodes, states, sizes, rows.weight)
        self._network = Network(self.graph_, sizes)
        learned = learn_tables(
            self._network, states, rows.weight, self.alpha, self.max_iter, self.tol
        )
        self.log_likelihood_ = learned.log_likelihood
        self.log_posterior_ = learned.log_posterior
        self.n_iter_ = len(learned.log_likelihood)
        self._log_tables = logarithms(learned.tables)
        own = (self._network.family(node).index(node) for node in range(len(nodes)))
        self.tables_ = {
            name: np.ascontiguousarray(np.moveaxis(table, axis, -1))
            for name, table, axis in zip(nodes, learned.tables, own, strict=True)
        }
        known = tuple(rows.classes[self._known_classes].tolist())
        values = (*(column.values for column in self._columns), known)
        self.states_ = dict(zip(nodes, values, strict=True))
        nothing = np.full((1, len(nodes)), MISSING, dtype=np.int32)
        nothing[0, np.array(sizes) == 1] = 0
        prior = np.exp(log_joint(self._network, self._log_tables, nothing, len(nodes) - 1)[0])
        self.class_prior_: Floats = np.zeros(rows.classes.size)
        self.class_prior_[self._known_classes] = prior / prior.sum()

    def _log_joint(self, X: Any) -> Floats:
        table = dense_table(self, check_table(self, X, reset=False))
        states = table_states(self._columns, table)
        joint = np.full((table.n_rows, self.classes_.size), -np.inf)
        joint[:, self._known_classes] = log_joint(
            self._network, self._log_tables, states, len(self._columns)
        )
        impossible = np.isneginf(joint.max(axis=1))
        with np.errstate(divide="ignore"):
            joint[impossible] = np.log(self.class_prior_)
        return joint

    def d_separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Return whether two sets of nodes are d-separated by a third one.

        Parameters
        ----------
        a, b, given : hashable, or iterable of hashable
            Names of one node, or of several; no node may be in two of them.

        Returns
        -------
        separated : bool

        See Also
        --------
        DirectedGraph.d_separated : Definition.
        """
        check_is_fitted(self)
        return self.graph_.d_separated(a, b, given)

    def sample(
        self, n_samples: int = 1, random_state: int | np.random.RandomState | None = None
    ) -> tuple[Any, Array]:
        """Draw rows from the network.

        A numeric value is drawn uniformly between the smallest and the largest training value of
        its bin. Values are missing only in columns without any training value.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int or RandomState, default=None

        Returns
        -------
        X : pandas.DataFrame, or ndarray of shape (n_samples, n_features)
            A data frame with categorical columns if the columns have names. Otherwise an array of
            numbers, or of objects if there are categories.
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if not is_integer(n_samples) or isinstance(n_samples, bool) or n_samples < 1:
            raise ValueError(f"n_samples must be a whole number of at least 1; got {n_samples!r}")
        rng = check_random_state(random_state)
        states = draw_states(self._network, list(self.tables_.values()), int(n_samples), rng)
        drawn = [column.draw(states[:, j], rng) for j, column in enumerate(self._columns)]
        labels: Array = self.classes_[self._known_classes[states[:, -1]]]
        if self.schema_.names is None:
            return np.column_stack(drawn), labels
        frame = new_frame(dict(zip(self.schema_.names, drawn, strict=True)))
        kinds = zip(self.schema_.names, self._columns, strict=True)
        return frame.astype({name: "category" for name, c in kinds if _is_category(c)}), labels

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the graph in layers, parents above children; the target is coloured.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure that fits all names.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        check_is_fitted(self)
        return draw_graph(self.graph_, ax, root=len(self._columns))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _is_category(column: ColumnStates) -> bool:
    return isinstance(column, Categories)


def _check_weight(weight: Floats) -> None:
    if weight.sum() > _MAX_TOTAL_WEIGHT:
        raise ValueError(
            f"the sum of sample_weight is {weight.sum():.3g}, more than {_MAX_TOTAL_WEIGHT:.0e}: "
            "divide all weights by the same number"
        )
