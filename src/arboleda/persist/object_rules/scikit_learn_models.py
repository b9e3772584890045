"""Rules for objects of scikit-learn that predict, by full class name.

Parameters of an estimator that are not named here must be plain values that scikit-learn itself
allows; all other attributes that hold arrays, lists or objects must be named.
"""

from typing import Any

from arboleda.persist.object_rules.agreements import (
    check_layers,
    check_n_neighbors,
    check_probabilities,
    check_rotations,
    check_vector_counts,
)
from arboleda.persist.object_rules.attribute_rules import (
    BY_CLASS,
    CLASSES,
    COEFFICIENTS,
    COUNTS,
    EACH_CLASS,
    EACH_FEATURE,
    FLOAT,
    INT32,
    INT64,
    KERNEL,
    LAYER_OFFSETS,
    LAYERS,
    N_FEATURES,
    NULL,
    NUMBERS,
    OFFSET,
    OPTIONAL_NUMBER,
    AnyOf,
    ArrayRule,
    ConstantRule,
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
    count_class_pairs,
    count_scores,
    make_one_less,
)

__all__ = ["SCIKIT_LEARN_MODELS"]


def _make_linear_rules(
    coef: AttributeRule, intercept: AttributeRule, **more: AttributeRule
) -> ClassRules:
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            **more,
            "coef_": coef,
            "intercept_": intercept,
            "n_iter_": OptionalRule(COUNTS),
        }
    )


def _make_svm_rules(classes: dict[str, AttributeRule], n_functions: Any, **more: Any) -> ClassRules:
    """Return the rules of a machine of libsvm, which trusts the sizes that it is given."""
    dual = ArrayRule(FLOAT, (n_functions[0], "n_vectors"), is_finite=True)
    offsets = ArrayRule(FLOAT, (n_functions[1],), is_finite=True)
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            **classes,
            "kernel": TextRule("linear", "poly", "rbf", "sigmoid"),
            "degree": IntegerRule(0, 1_000),
            "gamma": AnyOf(TextRule("scale", "auto"), NumberRule(0, is_finite=True)),
            "coef0": NumberRule(is_finite=True),
            "_gamma": NumberRule(0, is_finite=True),
            "_sparse": ConstantRule(False),
            "shape_fit_": TupleOf(IntegerRule(1, size="n_rows"), IntegerRule(1, size="n_features")),
            "support_vectors_": ArrayRule(FLOAT, ("n_vectors", "n_features"), is_finite=True),
            "support_": ArrayRule(INT32, ("n_vectors",), low=0, below="n_rows"),
            "dual_coef_": dual,
            "_dual_coef_": dual,
            "intercept_": offsets,
            "_intercept_": offsets,
            "_probA": ArrayRule(FLOAT, ("n_probabilities",), is_finite=True),
            "_probB": ArrayRule(FLOAT, ("n_probabilities",), is_finite=True),
            "n_iter_": OptionalRule(COUNTS),
            "_num_iter": OptionalRule(COUNTS),
            **more,
        },
        (check_probabilities,) if classes else (check_probabilities, check_vector_counts),
    )


def _make_neighbors_rules(**targets: AttributeRule) -> ClassRules:
    """Return the rules of nearest neighbors, whose search tree is rebuilt and never saved."""
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "n_samples_fit_": IntegerRule(1, size="n_rows"),
            "n_neighbors": IntegerRule(1),
            "algorithm": TextRule("auto", "ball_tree", "kd_tree", "brute"),
            "leaf_size": IntegerRule(1),
            "metric": TextRule("minkowski", "euclidean", "manhattan", "chebyshev", "cityblock"),
            "metric_params": NULL,
            "p": NumberRule(1, is_finite=True),
            **targets,
            "_fit_X": ArrayRule(FLOAT, ("n_rows", "n_features"), is_finite=True),
            "_fit_method": TextRule("ball_tree", "kd_tree", "brute"),
            "_tree": NULL,
            "effective_metric_": TextRule(),
            "effective_metric_params_": DictOf(SettingRule()),
        },
        (check_n_neighbors,),
    )


def _make_mlp_rules(**more: AttributeRule) -> ClassRules:
    activation = ("identity", "logistic", "tanh", "relu")
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            **more,
            "activation": TextRule(*activation),
            "out_activation_": TextRule("identity", "logistic", "softmax"),
            "n_layers_": IntegerRule(2),
            "n_outputs_": IntegerRule(1),
            "coefs_": ListOf(ArrayRule(FLOAT, ("*", "*"))),
            "intercepts_": ListOf(ArrayRule(FLOAT, ("*",))),
            "_best_coefs": OptionalRule(LAYERS),
            "_best_intercepts": OptionalRule(LAYER_OFFSETS),
            "loss_curve_": OptionalRule(ListOf(NumberRule())),
            "validation_scores_": OptionalRule(AnyOf(NULL, ListOf(NumberRule()))),
            "_optimizer": OptionalRule(ObjectRule("AdamOptimizer")),
            "_random_state": ObjectRule("RandomState"),
        },
        (check_layers,),
    )


SCIKIT_LEARN_MODELS: dict[str, ClassRules] = {
    "sklearn.calibration.CalibratedClassifierCV": ClassRules(
        {
            "n_features_in_": OptionalRule(N_FEATURES),
            "classes_": CLASSES,
            "method": TextRule("sigmoid"),
            "calibrated_classifiers_": ListOf(ObjectRule("_CalibratedClassifier")),
        }
    ),
    "sklearn.calibration._CalibratedClassifier": ClassRules(
        {
            "classes": CLASSES,
            "estimator": ObjectRule(),
            "calibrators": ListOf(ObjectRule("_SigmoidCalibration"), count_scores),
            "method": TextRule("sigmoid"),
        }
    ),
    "sklearn.calibration._SigmoidCalibration": ClassRules({"a_": NumberRule(), "b_": NumberRule()}),
    "sklearn.compose._target.TransformedTargetRegressor": ClassRules(
        {
            "func": NULL,
            "inverse_func": NULL,
            "regressor": TemplateRule(),
            "transformer": TemplateRule(),
            "regressor_": ObjectRule(),
            "transformer_": ObjectRule(),
            "_training_dim": IntegerRule(1, 2),
            "n_features_in_": OptionalRule(N_FEATURES),
        }
    ),
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": CLASSES,
            "covariance_estimator": NULL,
            "priors_": EACH_CLASS,
            "means_": BY_CLASS,
            "coef_": ArrayRule(FLOAT, (count_scores, "n_features")),
            "intercept_": ArrayRule(FLOAT, (count_scores,)),
            "xbar_": OptionalRule(EACH_FEATURE),
            "scalings_": OptionalRule(ArrayRule(FLOAT, ("n_features", "*"))),
            "covariance_": OptionalRule(ArrayRule(FLOAT, ("n_features", "n_features"))),
            "explained_variance_ratio_": OptionalRule(NUMBERS),
            "_max_components": IntegerRule(),
            "_n_features_out": OptionalRule(IntegerRule()),
        }
    ),
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": CLASSES,
            "covariance_estimator": OptionalRule(NULL),
            "priors_": EACH_CLASS,
            "means_": BY_CLASS,
            "rotations_": ListOf(ArrayRule(FLOAT, ("n_features", "*")), "n_classes"),
            "scalings_": ListOf(NUMBERS, "n_classes"),
            "covariance_": OptionalRule(
                ListOf(ArrayRule(FLOAT, ("n_features", "n_features")), "n_classes")
            ),
        },
        (check_rotations,),
    ),
    "sklearn.dummy.DummyClassifier": ClassRules(
        {
            "n_features_in_": OptionalRule(N_FEATURES),
            "classes_": CLASSES,
            "n_classes_": IntegerRule(1, size="n_classes"),
            "n_outputs_": IntegerRule(1, 1),
            "class_prior_": EACH_CLASS,
            "strategy": TextRule("prior", "most_frequent"),
            "_strategy": TextRule("prior", "most_frequent"),
            "constant": NULL,
            "sparse_output_": ConstantRule(False),
        }
    ),
    "sklearn.dummy.DummyRegressor": ClassRules(
        {
            "n_features_in_": OptionalRule(N_FEATURES),
            "n_outputs_": IntegerRule(1, 1),
            "constant_": ArrayRule(FLOAT, (1, 1)),
        }
    ),
    "sklearn.kernel_ridge.KernelRidge": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "kernel": KERNEL,
            "gamma": OPTIONAL_NUMBER,
            "coef0": OPTIONAL_NUMBER,
            "degree": OPTIONAL_NUMBER,
            "kernel_params": NULL,
            "X_fit_": ArrayRule(FLOAT, ("n_rows", "n_features"), is_finite=True),
            "dual_coef_": AnyOf(ArrayRule(FLOAT, ("n_rows",)), ArrayRule(FLOAT, ("n_rows", 1))),
        }
    ),
    "sklearn.linear_model._base.LinearRegression": _make_linear_rules(
        COEFFICIENTS, OFFSET, rank_=IntegerRule(), singular_=NUMBERS
    ),
    "sklearn.linear_model._coordinate_descent.ElasticNet": _make_linear_rules(
        COEFFICIENTS, OFFSET, dual_gap_=OptionalRule(OFFSET)
    ),
    "sklearn.linear_model._coordinate_descent.Lasso": _make_linear_rules(
        COEFFICIENTS, OFFSET, dual_gap_=OptionalRule(OFFSET)
    ),
    "sklearn.linear_model._logistic.LogisticRegression": _make_linear_rules(
        ArrayRule(FLOAT, (count_scores, "n_features")),
        ArrayRule(FLOAT, (count_scores,)),
        classes_=CLASSES,
    ),
    "sklearn.linear_model._ridge.Ridge": _make_linear_rules(COEFFICIENTS, OFFSET),
    "sklearn.linear_model._ridge.RidgeClassifier": _make_linear_rules(
        AnyOf(EACH_FEATURE, ArrayRule(FLOAT, (count_scores, "n_features"))),
        AnyOf(NumberRule(), ArrayRule(FLOAT, (count_scores,))),
        # The label binarizer has the classes.
        classes_=OptionalRule(CLASSES),
        _label_binarizer=ObjectRule("LabelBinarizer"),
    ),
    "sklearn.naive_bayes.BernoulliNB": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": CLASSES,
            "binarize": OPTIONAL_NUMBER,
            "class_count_": EACH_CLASS,
            "class_log_prior_": EACH_CLASS,
            "feature_count_": BY_CLASS,
            "feature_log_prob_": BY_CLASS,
        }
    ),
    "sklearn.naive_bayes.GaussianNB": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": CLASSES,
            "class_count_": EACH_CLASS,
            "class_prior_": EACH_CLASS,
            "theta_": BY_CLASS,
            "var_": BY_CLASS,
            "epsilon_": NumberRule(),
        }
    ),
    "sklearn.neighbors._classification.KNeighborsClassifier": _make_neighbors_rules(
        weights=AnyOf(NULL, TextRule("uniform", "distance")),
        outputs_2d_=ConstantRule(False),
        classes_=CLASSES,
        _y=ArrayRule(INT64, ("n_rows",), low=0, below="n_classes"),
    ),
    "sklearn.neighbors._regression.KNeighborsRegressor": _make_neighbors_rules(
        weights=AnyOf(NULL, TextRule("uniform", "distance")),
        _y=ArrayRule((FLOAT, INT64), ("n_rows",)),
    ),
    "sklearn.neighbors._unsupervised.NearestNeighbors": _make_neighbors_rules(),
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier": _make_mlp_rules(
        classes_=CLASSES, _label_binarizer=ObjectRule("LabelBinarizer")
    ),
    "sklearn.neural_network._multilayer_perceptron.MLPRegressor": _make_mlp_rules(),
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer": ClassRules(
        {
            "ms": ListOf(AnyOf(NUMBERS, ArrayRule(FLOAT, ("*", "*")))),
            "vs": ListOf(AnyOf(NUMBERS, ArrayRule(FLOAT, ("*", "*")))),
        }
    ),
    "sklearn.svm._classes.LinearSVC": _make_linear_rules(
        ArrayRule(FLOAT, (count_scores, "n_features")),
        AnyOf(NumberRule(), ArrayRule(FLOAT, (count_scores,))),
        classes_=CLASSES,
    ),
    "sklearn.svm._classes.LinearSVR": _make_linear_rules(COEFFICIENTS, OFFSET),
    "sklearn.svm._classes.SVC": _make_svm_rules(
        {"classes_": ArrayRule(INT64, ("n_classes",), low=0, is_increasing=True)},
        (make_one_less("n_classes"), count_class_pairs),
        _n_support=ArrayRule(INT32, ("n_classes",), low=0, total="n_vectors"),
        class_weight_=ArrayRule(FLOAT, ("n_classes",)),
        decision_function_shape=TextRule("ovr", "ovo"),
    ),
    "sklearn.svm._classes.SVR": _make_svm_rules(
        {},
        (1, 1),
        _n_support=ArrayRule(INT32, (2,), low=0),
        class_weight_=OptionalRule(NUMBERS),
    ),
}
