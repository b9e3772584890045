"""The rules for objects of this library's classes, by the class's full name."""

import numpy as np

from arboleda.study.artifacts.object_rules.agreements import (
    check_bayesian_network,
    check_graph,
    check_group_column,
    check_groups,
    check_lookup_tables,
    check_made_columns,
    check_number_column,
    check_schema,
    same_length,
)
from arboleda.study.artifacts.object_rules.kinds import (
    Array,
    AttributeRule,
    ClassRules,
    DictOf,
    Either,
    Exactly,
    Flag,
    ListOf,
    Number,
    Object,
    Optional,
    Plain,
    Template,
    Text,
    TupleOf,
    Whole,
)
from arboleda.study.artifacts.object_rules.scikit_learn import CLASSES, N_FEATURES

__all__ = ["OWN"]

F, I64, I32, B = np.float64, np.int64, np.int32, np.bool_
NOTHING = Exactly(None)
EACH_CLASS = Array(F, ("n_classes",))
EACH_FEATURE = Array(F, ("n_features",))
BY_CLASS = Array(F, ("n_classes", "n_features"))
NUMBERS = Array(F, ("*",))
PLACES = ListOf(Whole(0, below="n_features"))


def _of_numbers(**more: AttributeRule) -> ClassRules:
    """Classifiers by Bayes' rule over columns of numbers."""
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": Object("Schema"),
            "classes_": CLASSES,
            "class_prior_": EACH_CLASS,
            "_class_weight": EACH_CLASS,
            "_units": Object("Units"),
            **more,
        }
    )


def _selector(**more: AttributeRule) -> ClassRules:
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": Object("Schema"),
            "task_": Text("classification", "regression"),
            "support_": Array(B, ("n_features",)),
            "scores_": EACH_FEATURE,
            **more,
        }
    )


def _greedy_selector() -> ClassRules:
    return _selector(
        order_=Array(I64, ("n_selected",), low=0, below="n_features"),
        order_scores_=Array(F, ("n_selected",)),
        candidates_=Array(I64, ("*",), low=0, below="n_features", is_increasing=True),
    )


def _combination(**more: AttributeRule) -> ClassRules:
    """Members, and the rows that they were judged on."""
    return ClassRules(
        {
            "n_features_in_": Optional(N_FEATURES),
            "n_judged_": Whole(1, size="n_rows"),
            "estimators": ListOf(TupleOf(Text(), Template())),
            "estimators_": ListOf(Object(), "n_members"),
            "_names": ListOf(Text(), "n_members"),
            "named_estimators_": DictOf(Object(), size="n_members"),
            "_region": Object("Region"),
            **more,
        }
    )


# Classes of one method of dynamic selection each, and what the general class calls it.
_METHODS_OF_SELECTION = {
    "_des_p.DESP": "des_p",
    "_knora_e.KNORAE": "knora_e",
    "_knora_u.KNORAU": "knora_u",
    "_lca.LCA": "lca",
    "_mcb.MCB": "mcb",
    "_meta_des.METADES": "meta_des",
    "_ola.OLA": "ola",
    "_rrc.RRC": "rrc",
}


def _dynamic_selection(*methods: str) -> ClassRules:
    """Dynamic selection of classifiers, and how they did on the rows they were judged on."""
    return _combination(
        classes_=CLASSES,
        method=Text(*methods),
        similarity=Number(0, 1),
        consensus_threshold=Either(NOTHING, Number(0, 1)),
        _target=Array(I64, ("n_rows",), low=0, below="n_classes"),
        _behaviour=Array(I64, ("n_rows", "n_members"), low=0, below="n_classes"),
        _hits=Array(B, ("n_rows", "n_members")),
        _competence_of_rows=Optional(Array(F, ("n_rows", "n_members"))),
        _right=Optional(Array(F, ("n_rows", "n_members"))),
        _profiles=Optional(Object("Region")),
        _n_near=Optional(Whole()),
        _n_alike=Optional(Whole()),
        meta_classifier=Template(),
        meta_classifier_=Optional(Either(NOTHING, Object())),
    )


OWN: dict[str, ClassRules] = {
    "arboleda._engine.columns.Schema": ClassRules(
        {
            "names": Either(NOTHING, ListOf(Plain())),
            "levels": ListOf(Either(NOTHING, ListOf(Plain()))),
            # Look-up tables, which are made when they are needed and not kept.
            "n_levels": Optional(Plain()),
            "is_numeric": Optional(Plain()),
            "names_are_text": Optional(Plain()),
            "places": Optional(Plain()),
            "codes": Optional(Plain()),
        },
        (check_schema,),
    ),
    "arboleda.adaboost._schapire_boosting_classifier.SchapireBoostingClassifier": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": Array(I64, (2,), low=0, is_increasing=True),
            "estimator": Template(),
            "estimator_": Template(),
            "_hypothesis": Object(),
        }
    ),
    "arboleda.adaboost._schapire_boosting_classifier._Majority": ClassRules(
        {"parts": Either(TupleOf(Object(), Object()), TupleOf(Object(), Object(), Object()))}
    ),
    "arboleda.combine._dynamic_selection_classifier.DynamicSelectionClassifier": (
        _dynamic_selection(*_METHODS_OF_SELECTION.values())
    ),
    **{
        f"arboleda.combine.{name}": _dynamic_selection(method)
        for name, method in _METHODS_OF_SELECTION.items()
    },
    "arboleda.combine._dynamic_selection_regressor.DynamicSelectionRegressor": _combination(
        _errors=Array(F, ("n_rows", "n_members"))
    ),
    "arboleda.combine._dynamic_selection.Region": ClassRules(
        {"_index": Object("NearestNeighbors"), "n_neighbors": Whole(1)}
    ),
    "arboleda.features._forest_selector.ForestSelector": _selector(
        importances_=EACH_FEATURE,
        null_importances_=Array(F, ("*", "n_features")),
        pvalues_=EACH_FEATURE,
        adjusted_pvalues_=EACH_FEATURE,
    ),
    "arboleda.features._jmi_selector.JMISelector": _greedy_selector(),
    "arboleda.features._mrmr_selector.MRMRSelector": _greedy_selector(),
    "arboleda.learners._bayesian_network_classifier.BayesianNetworkClassifier": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": Object("Schema"),
            "classes_": CLASSES,
            "class_prior_": EACH_CLASS,
            "structure": Text(),
            "_columns": ListOf(Object("Categories", "Numbers"), "n_features"),
            "_known_classes": Array(I64, ("*",), low=0, below="n_classes", is_increasing=True),
            "graph_": Object("DirectedGraph"),
            "_network": Object("Network"),
            "_log_tables": ListOf(Either(*(Array(F, ("*",) * d) for d in range(1, 5)))),
            "tables_": DictOf(Either(*(Array(F, ("*",) * d) for d in range(1, 5)))),
            "states_": DictOf(ListOf(Plain())),
            "log_likelihood_": NUMBERS,
            "log_posterior_": NUMBERS,
        },
        (check_bayesian_network,),
    ),
    "arboleda.learners._bayesian_network_tables.Bin": ClassRules(
        {"low": Number(), "high": Number()}
    ),
    "arboleda.learners._bayesian_network_tables.Categories": ClassRules(
        {"values": ListOf(Plain()), "state_of_code": Array(I32, ("*",), low=-1)}
    ),
    "arboleda.learners._bayesian_network_tables.Numbers": ClassRules(
        {"values": ListOf(Object("Bin")), "cuts": Array(F, ("*",), is_increasing=True)}
    ),
    "arboleda.learners._bayesian_network_tables.Network": ClassRules(
        {"graph": Object("DirectedGraph"), "sizes": ListOf(Whole(1))}
    ),
    "arboleda.learners._diagonal_lda.DiagonalLDA": _of_numbers(
        _scale=EACH_FEATURE, _centroids=BY_CLASS, means_=BY_CLASS, scale_=EACH_FEATURE
    ),
    "arboleda.learners._directed_graph.DirectedGraph": ClassRules(
        {
            "nodes": ListOf(Text(), "n_nodes"),
            "_places": DictOf(Whole(0, below="n_nodes"), size="n_nodes"),
            "parent_places": ListOf(ListOf(Whole(0, below="n_nodes")), "n_nodes"),
            "order": ListOf(Whole(0, below="n_nodes"), "n_nodes"),
        },
        (check_graph,),
    ),
    "arboleda.learners._gaussian_classes.ClassMoments": ClassRules(
        {
            "center": EACH_FEATURE,
            "weight": EACH_CLASS,
            "mean": Array(F, ("n_classes", "n_axes")),
            "scatter": Array(F, ("n_classes", "n_axes", "n_axes")),
            "basis": Either(NOTHING, Array(F, ("n_features", "n_axes"))),
        }
    ),
    "arboleda.learners._gaussian_classes.Spectrum": ClassRules(
        {
            "variance": Array(F, ("n_axes",)),
            "axes": Array(F, ("n_axes", "n_axes")),
            "mean_variance": Number(),
            "n_columns": Whole(),
        }
    ),
    "arboleda.learners._kernel_density_classifier.KernelDensityClassifier": ClassRules(
        {
            **_of_numbers().attributes,
            "_scale": EACH_FEATURE,
            "_rows": ListOf(Array(F, ("*", "n_features")), "n_classes"),
            "_weights": ListOf(NUMBERS, "n_classes"),
            "_widths": ListOf(Number(), "n_classes"),
            "bandwidth_": EACH_CLASS,
        },
        (same_length("_rows", "_weights"),),
    ),
    "arboleda.learners._mixed_naive_bayes.MixedNaiveBayes": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": Object("Schema"),
            "classes_": CLASSES,
            "class_count_": EACH_CLASS,
            "class_prior_": EACH_CLASS,
            "column_kinds_": ListOf(Text("gaussian", "bernoulli", "categorical"), "n_features"),
            "theta_": BY_CLASS,
            "var_": BY_CLASS,
            "epsilon_": Number(),
            "feature_log_prob_": ListOf(
                Either(NOTHING, Array(F, ("n_classes", "*"))), "n_features"
            ),
            "_looked_up": DictOf(
                TupleOf(Array(F, ("*", "n_classes")), Array(B, ("*", "n_classes"))),
                key=Whole(0, below="n_features"),
            ),
        },
        (check_lookup_tables,),
    ),
    "arboleda.learners._nearest_shrunken_centroids.NearestShrunkenCentroids": _of_numbers(
        _centroids=Object("StandardizedCentroids"),
        path_=Optional(Either(NOTHING, Object("ShrinkagePath"))),
        shrink_threshold_=Number(),
        deviations_=BY_CLASS,
        centroids_=BY_CLASS,
        selected_features_=Array(I64, ("*",), low=0, below="n_features", is_increasing=True),
        within_class_std_dev_=EACH_FEATURE,
    ),
    "arboleda.learners._regularized_discriminant_analysis.RegularizationPlane": ClassRules(
        {
            "alpha": Array(F, ("n_alphas",)),
            "gamma": Array(F, ("n_gammas",)),
            "mean_error": Array(F, ("n_alphas", "n_gammas")),
            "standard_error": Array(F, ("n_alphas", "n_gammas")),
            "best_index": TupleOf(Whole(0, below="n_alphas"), Whole(0, below="n_gammas")),
        }
    ),
    "arboleda.learners._regularized_discriminant_analysis.RegularizedDiscriminantAnalysis": (
        _of_numbers(
            _scale=EACH_FEATURE,
            _moments=Object("ClassMoments"),
            _spectra=ListOf(Either(NOTHING, Object("Spectrum")), "n_classes"),
            means_=BY_CLASS,
            plane_=Optional(Either(NOTHING, Object("RegularizationPlane"))),
            alpha_=Number(0, 1),
            gamma_=Number(0, 1),
        )
    ),
    "arboleda.learners._nearest_shrunken_centroids.ShrinkagePath": ClassRules(
        {
            "threshold": Array(F, ("n_thresholds",)),
            "n_features": Array(I64, ("n_thresholds",), low=0),
            "mean_error": Array(F, ("n_thresholds",)),
            "standard_error": Array(F, ("n_thresholds",)),
            "best_index": Whole(0, below="n_thresholds"),
        }
    ),
    "arboleda.learners._nearest_shrunken_centroids.StandardizedCentroids": ClassRules(
        {
            "count": EACH_CLASS,
            "center": EACH_FEATURE,
            "within": EACH_FEATURE,
            "scale": EACH_FEATURE,
            "spread": EACH_CLASS,
            "difference": BY_CLASS,
        }
    ),
    "arboleda.learners._class_rows.Units": ClassRules(
        {"exponent": Array(I32, ("n_features",)), "origin": EACH_FEATURE}
    ),
    "arboleda.study.data.cross_search.CrossedColumns": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "names": ListOf(Text(), "n_features"),
            "categorical": PLACES,
            "task": Text("binary", "multiclass", "regression"),
            "n_classes_": Whole(),
            "made_": ListOf(Object("NumberColumn", "GroupColumn")),
        },
        (check_made_columns,),
    ),
    "arboleda.study.data.feature_crosses.FeatureCross": ClassRules(
        {
            "kind": Text(
                *("sum", "difference", "product", "ratio"),
                *("mean", "sd", "distance", "count", "target"),
            ),
            "numbers": ListOf(Whole()),
            "groups": ListOf(Whole()),
            "output": Whole(),
        }
    ),
    "arboleda.study.data.feature_crosses.GroupColumn": ClassRules(
        {
            "idea": Object("FeatureCross"),
            "groups": Object("Groups"),
            "table": NUMBERS,
            "otherwise": Number(),
        },
        (check_group_column,),
    ),
    "arboleda.study.data.feature_crosses.Groups": ClassRules(
        {
            "columns": ListOf(Whole(), "n_columns"),
            "levels": ListOf(Array(F, ("*",), is_increasing=True), "n_columns"),
            "keys": Array(I64, ("*",), low=0, is_increasing=True),
        },
        (check_groups,),
    ),
    "arboleda.study.data.feature_crosses.NumberColumn": ClassRules(
        {"idea": Object("FeatureCross")}, (check_number_column,)
    ),
    "arboleda.study.data.preparation.LevelCount": ClassRules(
        {"columns": ListOf(Whole()), "many": Flag()}
    ),
}
