"""Rules for objects of this library's classes, by full class name."""

from arboleda.persist.object_rules.agreements import (
    check_bayesian_network,
    check_graph,
    check_group_column,
    check_groups,
    check_lookup_tables,
    check_made_columns,
    check_number_column,
    check_schema,
    make_length_check,
)
from arboleda.persist.object_rules.attribute_rules import (
    BOOL,
    BY_CLASS,
    CLASSES,
    EACH_CLASS,
    EACH_FEATURE,
    FLOAT,
    INT32,
    INT64,
    N_FEATURES,
    NULL,
    NUMBERS,
    PLACES,
    AnyOf,
    ArrayRule,
    BooleanRule,
    DictOf,
    IntegerRule,
    ListOf,
    NumberRule,
    ObjectRule,
    OptionalRule,
    SettingRule,
    TemplateRule,
    TextRule,
    TupleOf,
)
from arboleda.persist.object_rules.context import (
    AttributeRule,
    ClassRules,
)

__all__ = ["OWN"]


def _make_numeric_rules(**more: AttributeRule) -> ClassRules:
    """Return the rules of a classifier by Bayes' rule on numeric columns."""
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": ObjectRule("Schema"),
            "classes_": CLASSES,
            "class_prior_": EACH_CLASS,
            "_class_weight": EACH_CLASS,
            "_units": ObjectRule("Units"),
            **more,
        }
    )


def _make_selector_rules(**more: AttributeRule) -> ClassRules:
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": ObjectRule("Schema"),
            "task_": TextRule("classification", "regression"),
            "support_": ArrayRule(BOOL, ("n_features",)),
            "scores_": EACH_FEATURE,
            **more,
        }
    )


def _make_greedy_selector_rules() -> ClassRules:
    return _make_selector_rules(
        order_=ArrayRule(INT64, ("n_selected",), low=0, below="n_features"),
        order_scores_=ArrayRule(FLOAT, ("n_selected",)),
        candidates_=ArrayRule(INT64, ("*",), low=0, below="n_features", is_increasing=True),
    )


def _make_ensemble_rules(**more: AttributeRule) -> ClassRules:
    """Return the rules of an ensemble with the rows that its members were scored on."""
    return ClassRules(
        {
            "n_features_in_": OptionalRule(N_FEATURES),
            "n_judged_": IntegerRule(1, size="n_rows"),
            "estimators": ListOf(TupleOf(TextRule(), TemplateRule())),
            "estimators_": ListOf(ObjectRule(), "n_members"),
            "_names": ListOf(TextRule(), "n_members"),
            "named_estimators_": DictOf(ObjectRule(), size="n_members"),
            "_region": ObjectRule("Region"),
            **more,
        }
    )


# Classes of a single method of dynamic selection, and the general class's names of the methods.
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


def _make_dynamic_selection_rules(*methods: str) -> ClassRules:
    """Return the rules of dynamic selection, with the members' results on the scored rows."""
    return _make_ensemble_rules(
        classes_=CLASSES,
        method=TextRule(*methods),
        similarity=NumberRule(0, 1),
        consensus_threshold=AnyOf(NULL, NumberRule(0, 1)),
        _target=ArrayRule(INT64, ("n_rows",), low=0, below="n_classes"),
        _behaviour=ArrayRule(INT64, ("n_rows", "n_members"), low=0, below="n_classes"),
        _hits=ArrayRule(BOOL, ("n_rows", "n_members")),
        _competence_of_rows=OptionalRule(ArrayRule(FLOAT, ("n_rows", "n_members"))),
        _right=OptionalRule(ArrayRule(FLOAT, ("n_rows", "n_members"))),
        _profiles=OptionalRule(ObjectRule("Region")),
        _n_near=OptionalRule(IntegerRule()),
        _n_alike=OptionalRule(IntegerRule()),
        meta_classifier=TemplateRule(),
        meta_classifier_=OptionalRule(AnyOf(NULL, ObjectRule())),
    )


OWN: dict[str, ClassRules] = {
    "arboleda._engine.columns.Schema": ClassRules(
        {
            "names": AnyOf(NULL, ListOf(SettingRule())),
            "levels": ListOf(AnyOf(NULL, ListOf(SettingRule()))),
            # Cached look-up tables, which are not saved but computed when needed.
            "n_levels": OptionalRule(SettingRule()),
            "is_numeric": OptionalRule(SettingRule()),
            "names_are_text": OptionalRule(SettingRule()),
            "places": OptionalRule(SettingRule()),
            "codes": OptionalRule(SettingRule()),
        },
        (check_schema,),
    ),
    "arboleda.adaboost._schapire_boosting_classifier.SchapireBoostingClassifier": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": ArrayRule(INT64, (2,), low=0, is_increasing=True),
            "estimator": TemplateRule(),
            "estimator_": TemplateRule(),
            "_hypothesis": ObjectRule(),
        }
    ),
    "arboleda.adaboost._schapire_boosting_classifier._Majority": ClassRules(
        {
            "parts": AnyOf(
                TupleOf(ObjectRule(), ObjectRule()),
                TupleOf(ObjectRule(), ObjectRule(), ObjectRule()),
            )
        }
    ),
    "arboleda.combine._dynamic_selection_classifier.DynamicSelectionClassifier": (
        _make_dynamic_selection_rules(*_METHODS_OF_SELECTION.values())
    ),
    **{
        f"arboleda.combine.{name}": _make_dynamic_selection_rules(method)
        for name, method in _METHODS_OF_SELECTION.items()
    },
    "arboleda.combine._dynamic_selection_regressor.DynamicSelectionRegressor": _make_ensemble_rules(
        _errors=ArrayRule(FLOAT, ("n_rows", "n_members"))
    ),
    "arboleda.combine._dynamic_selection.Region": ClassRules(
        {"_index": ObjectRule("NearestNeighbors"), "n_neighbors": IntegerRule(1)}
    ),
    "arboleda.features._forest_selector.ForestSelector": _make_selector_rules(
        importances_=EACH_FEATURE,
        null_importances_=ArrayRule(FLOAT, ("*", "n_features")),
        pvalues_=EACH_FEATURE,
        adjusted_pvalues_=EACH_FEATURE,
    ),
    "arboleda.features._jmi_selector.JMISelector": _make_greedy_selector_rules(),
    "arboleda.features._mrmr_selector.MRMRSelector": _make_greedy_selector_rules(),
    "arboleda.learners._bayesian_network_classifier.BayesianNetworkClassifier": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": ObjectRule("Schema"),
            "classes_": CLASSES,
            "class_prior_": EACH_CLASS,
            "structure": TextRule(),
            "_columns": ListOf(ObjectRule("Categories", "Numbers"), "n_features"),
            "_known_classes": ArrayRule(
                INT64, ("*",), low=0, below="n_classes", is_increasing=True
            ),
            "graph_": ObjectRule("DirectedGraph"),
            "_network": ObjectRule("Network"),
            "_log_tables": ListOf(AnyOf(*(ArrayRule(FLOAT, ("*",) * d) for d in range(1, 5)))),
            "tables_": DictOf(AnyOf(*(ArrayRule(FLOAT, ("*",) * d) for d in range(1, 5)))),
            "states_": DictOf(ListOf(SettingRule())),
            "log_likelihood_": NUMBERS,
            "log_posterior_": NUMBERS,
        },
        (check_bayesian_network,),
    ),
    "arboleda.learners._bayesian_network_tables.Bin": ClassRules(
        {"low": NumberRule(), "high": NumberRule()}
    ),
    "arboleda.learners._bayesian_network_tables.Categories": ClassRules(
        {"values": ListOf(SettingRule()), "state_of_code": ArrayRule(INT32, ("*",), low=-1)}
    ),
    "arboleda.learners._bayesian_network_tables.Numbers": ClassRules(
        {"values": ListOf(ObjectRule("Bin")), "cuts": ArrayRule(FLOAT, ("*",), is_increasing=True)}
    ),
    "arboleda.learners._bayesian_network_tables.Network": ClassRules(
        {"graph": ObjectRule("DirectedGraph"), "sizes": ListOf(IntegerRule(1))}
    ),
    "arboleda.learners._diagonal_lda.DiagonalLDA": _make_numeric_rules(
        _scale=EACH_FEATURE, _centroids=BY_CLASS, means_=BY_CLASS, scale_=EACH_FEATURE
    ),
    "arboleda.learners._directed_graph.DirectedGraph": ClassRules(
        {
            "nodes": ListOf(TextRule(), "n_nodes"),
            "_places": DictOf(IntegerRule(0, below="n_nodes"), size="n_nodes"),
            "parent_places": ListOf(ListOf(IntegerRule(0, below="n_nodes")), "n_nodes"),
            "order": ListOf(IntegerRule(0, below="n_nodes"), "n_nodes"),
        },
        (check_graph,),
    ),
    "arboleda.learners._gaussian_classes.ClassMoments": ClassRules(
        {
            "center": EACH_FEATURE,
            "weight": EACH_CLASS,
            "mean": ArrayRule(FLOAT, ("n_classes", "n_axes")),
            "scatter": ArrayRule(FLOAT, ("n_classes", "n_axes", "n_axes")),
            "basis": AnyOf(NULL, ArrayRule(FLOAT, ("n_features", "n_axes"))),
        }
    ),
    "arboleda.learners._gaussian_classes.Spectrum": ClassRules(
        {
            "variance": ArrayRule(FLOAT, ("n_axes",)),
            "axes": ArrayRule(FLOAT, ("n_axes", "n_axes")),
            "mean_variance": NumberRule(),
            "n_columns": IntegerRule(),
        }
    ),
    "arboleda.learners._kernel_density_classifier.KernelDensityClassifier": ClassRules(
        {
            **_make_numeric_rules().attributes,
            "_scale": EACH_FEATURE,
            "_rows": ListOf(ArrayRule(FLOAT, ("*", "n_features")), "n_classes"),
            "_weights": ListOf(NUMBERS, "n_classes"),
            "_widths": ListOf(NumberRule(), "n_classes"),
            "bandwidth_": EACH_CLASS,
        },
        (make_length_check("_rows", "_weights"),),
    ),
    "arboleda.learners._mixed_naive_bayes.MixedNaiveBayes": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": ObjectRule("Schema"),
            "classes_": CLASSES,
            "class_count_": EACH_CLASS,
            "class_prior_": EACH_CLASS,
            "column_kinds_": ListOf(TextRule("gaussian", "bernoulli", "categorical"), "n_features"),
            "theta_": BY_CLASS,
            "var_": BY_CLASS,
            "epsilon_": NumberRule(),
            "feature_log_prob_": ListOf(
                AnyOf(NULL, ArrayRule(FLOAT, ("n_classes", "*"))), "n_features"
            ),
            "_looked_up": DictOf(
                TupleOf(ArrayRule(FLOAT, ("*", "n_classes")), ArrayRule(BOOL, ("*", "n_classes"))),
                key=IntegerRule(0, below="n_features"),
            ),
        },
        (check_lookup_tables,),
    ),
    "arboleda.learners._nearest_shrunken_centroids.NearestShrunkenCentroids": _make_numeric_rules(
        _centroids=ObjectRule("StandardizedCentroids"),
        path_=OptionalRule(AnyOf(NULL, ObjectRule("ShrinkagePath"))),
        shrink_threshold_=NumberRule(),
        deviations_=BY_CLASS,
        centroids_=BY_CLASS,
        selected_features_=ArrayRule(INT64, ("*",), low=0, below="n_features", is_increasing=True),
        within_class_std_dev_=EACH_FEATURE,
    ),
    "arboleda.learners._regularized_discriminant_analysis.RegularizationPlane": ClassRules(
        {
            "alpha": ArrayRule(FLOAT, ("n_alphas",)),
            "gamma": ArrayRule(FLOAT, ("n_gammas",)),
            "mean_error": ArrayRule(FLOAT, ("n_alphas", "n_gammas")),
            "standard_error": ArrayRule(FLOAT, ("n_alphas", "n_gammas")),
            "best_index": TupleOf(
                IntegerRule(0, below="n_alphas"), IntegerRule(0, below="n_gammas")
            ),
        }
    ),
    "arboleda.learners._regularized_discriminant_analysis.RegularizedDiscriminantAnalysis": (
        _make_numeric_rules(
            _scale=EACH_FEATURE,
            _moments=ObjectRule("ClassMoments"),
            _spectra=ListOf(AnyOf(NULL, ObjectRule("Spectrum")), "n_classes"),
            means_=BY_CLASS,
            plane_=OptionalRule(AnyOf(NULL, ObjectRule("RegularizationPlane"))),
            alpha_=NumberRule(0, 1),
            gamma_=NumberRule(0, 1),
        )
    ),
    "arboleda.learners._nearest_shrunken_centroids.ShrinkagePath": ClassRules(
        {
            "threshold": ArrayRule(FLOAT, ("n_thresholds",)),
            "n_features": ArrayRule(INT64, ("n_thresholds",), low=0),
            "mean_error": ArrayRule(FLOAT, ("n_thresholds",)),
            "standard_error": ArrayRule(FLOAT, ("n_thresholds",)),
            "best_index": IntegerRule(0, below="n_thresholds"),
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
        {"exponent": ArrayRule(INT32, ("n_features",)), "origin": EACH_FEATURE}
    ),
    "arboleda.features.cross_search.CrossedColumns": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "names": ListOf(TextRule(), "n_features"),
            "categorical": PLACES,
            "task": TextRule("binary", "multiclass", "regression"),
            "n_classes_": IntegerRule(),
            "made_": ListOf(ObjectRule("NumberColumn", "GroupColumn")),
        },
        (check_made_columns,),
    ),
    "arboleda.features.feature_crosses.FeatureCross": ClassRules(
        {
            "kind": TextRule(
                *("sum", "difference", "product", "ratio"),
                *("mean", "sd", "distance", "count", "target"),
            ),
            "numbers": ListOf(IntegerRule()),
            "groups": ListOf(IntegerRule()),
            "output": IntegerRule(),
        }
    ),
    "arboleda.features.feature_crosses.GroupColumn": ClassRules(
        {
            "idea": ObjectRule("FeatureCross"),
            "groups": ObjectRule("Groups"),
            "table": NUMBERS,
            "otherwise": NumberRule(),
        },
        (check_group_column,),
    ),
    "arboleda.features.feature_crosses.Groups": ClassRules(
        {
            "columns": ListOf(IntegerRule(), "n_columns"),
            "levels": ListOf(ArrayRule(FLOAT, ("*",), is_increasing=True), "n_columns"),
            "keys": ArrayRule(INT64, ("*",), low=0, is_increasing=True),
        },
        (check_groups,),
    ),
    "arboleda.features.feature_crosses.NumberColumn": ClassRules(
        {"idea": ObjectRule("FeatureCross")}, (check_number_column,)
    ),
    "arboleda.survival._cox_regression.CoxRegression": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "schema_": ObjectRule("Schema"),
            "coef_": EACH_FEATURE,
            "mean_": EACH_FEATURE,
            "standard_error_": EACH_FEATURE,
            "log_likelihood_": NumberRule(),
            "n_iter_": IntegerRule(),
            "unique_times_": ArrayRule(FLOAT, ("n_times",), is_increasing=True, is_finite=True),
            "baseline_hazard_": ArrayRule(FLOAT, ("n_times",)),
            "time_range_": ArrayRule(FLOAT, (2,), is_finite=True),
        }
    ),
    "arboleda.catalogue.preparation.LevelCount": ClassRules(
        {"columns": ListOf(IntegerRule()), "many": BooleanRule()}
    ),
}
