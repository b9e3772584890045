"""The rules for objects of scikit-learn's classes, by the class's full name.

Settings of an estimator that are not named here must be plain values that scikit-learn itself
allows; all other attributes that hold arrays, lists or objects must be named.
"""

from typing import Any

import numpy as np

from arboleda.study.artifacts.object_rules.agreements import (
    Transformers,
    check_columns,
    check_encodings,
    check_layers,
    check_n_neighbors,
    check_one_hot,
    check_probabilities,
    check_rotations,
    check_steps,
    check_vector_counts,
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
    NotANumber,
    Number,
    Object,
    Optional,
    Plain,
    Template,
    Text,
    TupleOf,
    Whole,
    n_pairs,
    n_scores,
    one_less,
)

__all__ = ["CLASSES", "N_FEATURES", "SCIKIT_LEARN"]

F, I64, I32, B = np.float64, np.int64, np.int32, np.bool_
NOTHING = Exactly(None)
N_FEATURES = Whole(0, size="n_features")
# Classes of a study are numbers from 0 up.
CLASSES = Array(I64, ("n_classes",), low=0, is_increasing=True)
EACH_CLASS = Array(F, ("n_classes",))
EACH_FEATURE = Array(F, ("n_features",))
BY_CLASS = Array(F, ("n_classes", "n_features"))
NUMBERS = Array(F, ("*",))
COUNTS = Either(NOTHING, Whole(), Array((I64, I32), ("*",)))
OFFSET = Either(Number(), Array(F, (1,)))
COEFFICIENTS = Either(EACH_FEATURE, Array(F, (1, "n_features")))
MAYBE_NUMBER = Either(NOTHING, Number())
LAYERS = Either(NOTHING, ListOf(Array(F, ("*", "*"))))
LAYER_OFFSETS = Either(NOTHING, ListOf(Array(F, ("*",))))
CATEGORIES = ListOf(Array(F, ("*",), is_increasing=True), "n_features")
KERNEL = Text("rbf", "linear", "poly", "polynomial", "sigmoid", "cosine", "laplacian")


def _linear(coef: AttributeRule, intercept: AttributeRule, **more: AttributeRule) -> ClassRules:
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            **more,
            "coef_": coef,
            "intercept_": intercept,
            "n_iter_": Optional(COUNTS),
        }
    )


def _vectors(classes: dict[str, AttributeRule], n_functions: Any, **more: Any) -> ClassRules:
    """Machines of libsvm, which reads as many numbers as it is told."""
    dual = Array(F, (n_functions[0], "n_vectors"), is_finite=True)
    offsets = Array(F, (n_functions[1],), is_finite=True)
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            **classes,
            "kernel": Text("linear", "poly", "rbf", "sigmoid"),
            "degree": Whole(0, 1_000),
            "gamma": Either(Text("scale", "auto"), Number(0, is_finite=True)),
            "coef0": Number(is_finite=True),
            "_gamma": Number(0, is_finite=True),
            "_sparse": Exactly(False),
            "shape_fit_": TupleOf(Whole(1, size="n_rows"), Whole(1, size="n_features")),
            "support_vectors_": Array(F, ("n_vectors", "n_features"), is_finite=True),
            "support_": Array(I32, ("n_vectors",), low=0, below="n_rows"),
            "dual_coef_": dual,
            "_dual_coef_": dual,
            "intercept_": offsets,
            "_intercept_": offsets,
            "_probA": Array(F, ("n_probabilities",), is_finite=True),
            "_probB": Array(F, ("n_probabilities",), is_finite=True),
            "n_iter_": Optional(COUNTS),
            "_num_iter": Optional(COUNTS),
            **more,
        },
        (check_probabilities,) if classes else (check_probabilities, check_vector_counts),
    )


def _neighbours(**answers: AttributeRule) -> ClassRules:
    """Rows and answers; the tree over the rows is never kept, but grown again."""
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "n_samples_fit_": Whole(1, size="n_rows"),
            "n_neighbors": Whole(1),
            "algorithm": Text("auto", "ball_tree", "kd_tree", "brute"),
            "leaf_size": Whole(1),
            "metric": Text("minkowski", "euclidean", "manhattan", "chebyshev", "cityblock"),
            "metric_params": NOTHING,
            "p": Number(1, is_finite=True),
            **answers,
            "_fit_X": Array(F, ("n_rows", "n_features"), is_finite=True),
            "_fit_method": Text("ball_tree", "kd_tree", "brute"),
            "_tree": NOTHING,
            "effective_metric_": Text(),
            "effective_metric_params_": DictOf(Plain()),
        },
        (check_n_neighbors,),
    )


def _network(**more: AttributeRule) -> ClassRules:
    activation = ("identity", "logistic", "tanh", "relu")
    return ClassRules(
        {
            "n_features_in_": N_FEATURES,
            **more,
            "activation": Text(*activation),
            "out_activation_": Text("identity", "logistic", "softmax"),
            "n_layers_": Whole(2),
            "n_outputs_": Whole(1),
            "coefs_": ListOf(Array(F, ("*", "*"))),
            "intercepts_": ListOf(Array(F, ("*",))),
            "_best_coefs": Optional(LAYERS),
            "_best_intercepts": Optional(LAYER_OFFSETS),
            "loss_curve_": Optional(ListOf(Number())),
            "validation_scores_": Optional(Either(NOTHING, ListOf(Number()))),
            "_optimizer": Optional(Object("AdamOptimizer")),
            "_random_state": Object("RandomState"),
        },
        (check_layers,),
    )


def _splitter() -> ClassRules:
    return ClassRules({"n_splits": Whole(2), "shuffle": Flag(), "random_state": Plain()})


SCIKIT_LEARN: dict[str, ClassRules] = {
    "sklearn.calibration.CalibratedClassifierCV": ClassRules(
        {
            "n_features_in_": Optional(N_FEATURES),
            "classes_": CLASSES,
            "method": Text("sigmoid"),
            "calibrated_classifiers_": ListOf(Object("_CalibratedClassifier")),
        }
    ),
    "sklearn.calibration._CalibratedClassifier": ClassRules(
        {
            "classes": CLASSES,
            "estimator": Object(),
            "calibrators": ListOf(Object("_SigmoidCalibration"), n_scores),
            "method": Text("sigmoid"),
        }
    ),
    "sklearn.calibration._SigmoidCalibration": ClassRules({"a_": Number(), "b_": Number()}),
    "sklearn.compose._column_transformer.ColumnTransformer": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "transformers": Transformers(is_template=True),
            "transformer_weights": NOTHING,
            "transformers_": Transformers(),
            "_columns": ListOf(ListOf(Whole(0, below="n_features"))),
            "_transformer_to_input_indices": DictOf(ListOf(Whole(0, below="n_features"))),
            "_remainder": Plain(),
            "sparse_output_": Exactly(False),
            "output_indices_": DictOf(Plain()),
        },
        (check_columns,),
    ),
    "sklearn.compose._target.TransformedTargetRegressor": ClassRules(
        {
            "func": NOTHING,
            "inverse_func": NOTHING,
            "regressor": Template(),
            "transformer": Template(),
            "regressor_": Object(),
            "transformer_": Object(),
            "_training_dim": Whole(1, 2),
            "n_features_in_": Optional(N_FEATURES),
        }
    ),
    "sklearn.decomposition._pca.PCA": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "n_components_": Whole(0, size="n_components"),
            "components_": Array(F, ("n_components", "n_features")),
            "mean_": EACH_FEATURE,
            "explained_variance_": Array(F, ("n_components",)),
            "explained_variance_ratio_": Array(F, ("n_components",)),
            "singular_values_": Array(F, ("n_components",)),
            "noise_variance_": Number(),
        }
    ),
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": CLASSES,
            "covariance_estimator": NOTHING,
            "priors_": EACH_CLASS,
            "means_": BY_CLASS,
            "coef_": Array(F, (n_scores, "n_features")),
            "intercept_": Array(F, (n_scores,)),
            "xbar_": Optional(EACH_FEATURE),
            "scalings_": Optional(Array(F, ("n_features", "*"))),
            "covariance_": Optional(Array(F, ("n_features", "n_features"))),
            "explained_variance_ratio_": Optional(NUMBERS),
            "_max_components": Whole(),
            "_n_features_out": Optional(Whole()),
        }
    ),
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": CLASSES,
            "covariance_estimator": Optional(NOTHING),
            "priors_": EACH_CLASS,
            "means_": BY_CLASS,
            "rotations_": ListOf(Array(F, ("n_features", "*")), "n_classes"),
            "scalings_": ListOf(NUMBERS, "n_classes"),
            "covariance_": Optional(ListOf(Array(F, ("n_features", "n_features")), "n_classes")),
        },
        (check_rotations,),
    ),
    "sklearn.dummy.DummyClassifier": ClassRules(
        {
            "n_features_in_": Optional(N_FEATURES),
            "classes_": CLASSES,
            "n_classes_": Whole(1, size="n_classes"),
            "n_outputs_": Whole(1, 1),
            "class_prior_": EACH_CLASS,
            "strategy": Text("prior", "most_frequent"),
            "_strategy": Text("prior", "most_frequent"),
            "constant": NOTHING,
            "sparse_output_": Exactly(False),
        }
    ),
    "sklearn.dummy.DummyRegressor": ClassRules(
        {
            "n_features_in_": Optional(N_FEATURES),
            "n_outputs_": Whole(1, 1),
            "constant_": Array(F, (1, 1)),
        }
    ),
    "sklearn.feature_selection._rfe.RFE": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "estimator": Template(),
            "estimator_": Object(),
            "n_features_": Whole(0, size="n_selected"),
            "support_": Array(B, ("n_features",), total="n_selected"),
            "ranking_": Array(I64, ("n_features",), low=1),
            "importance_getter": Text("auto"),
        }
    ),
    "sklearn.feature_selection._sequential.SequentialFeatureSelector": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "estimator": Template(),
            "n_features_to_select_": Whole(0, size="n_selected"),
            "support_": Array(B, ("n_features",), total="n_selected"),
        }
    ),
    "sklearn.impute._base.MissingIndicator": ClassRules(
        {
            "missing_values": NotANumber(),
            "n_features_in_": Optional(N_FEATURES),
            "_n_features": Whole(0, size="n_features"),
            "features_": Array(I64, ("*",), low=0, below="n_features", is_increasing=True),
            "features": Text("missing-only"),
            "sparse": Either(Text("auto"), Exactly(False)),
            "_precomputed": Optional(Flag()),
        }
    ),
    "sklearn.impute._base.SimpleImputer": ClassRules(
        {
            "missing_values": NotANumber(),
            "n_features_in_": N_FEATURES,
            "statistics_": EACH_FEATURE,
            "fill_value": MAYBE_NUMBER,
            "indicator_": Either(NOTHING, Object("MissingIndicator")),
            "_fit_dtype": Exactly(np.dtype(F)),
            "_fill_dtype": Optional(Exactly(np.dtype(F))),
        }
    ),
    "sklearn.kernel_approximation.Nystroem": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "kernel": KERNEL,
            "gamma": MAYBE_NUMBER,
            "coef0": MAYBE_NUMBER,
            "degree": MAYBE_NUMBER,
            "kernel_params": NOTHING,
            "components_": Array(F, ("n_rows", "n_features"), is_finite=True),
            "normalization_": Array(F, ("n_rows", "n_rows")),
            "component_indices_": Array(I64, ("n_rows",), low=0),
            "_n_features_out": Whole(0, size="n_rows"),
        }
    ),
    "sklearn.kernel_ridge.KernelRidge": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "kernel": KERNEL,
            "gamma": MAYBE_NUMBER,
            "coef0": MAYBE_NUMBER,
            "degree": MAYBE_NUMBER,
            "kernel_params": NOTHING,
            "X_fit_": Array(F, ("n_rows", "n_features"), is_finite=True),
            "dual_coef_": Either(Array(F, ("n_rows",)), Array(F, ("n_rows", 1))),
        }
    ),
    "sklearn.linear_model._base.LinearRegression": _linear(
        COEFFICIENTS, OFFSET, rank_=Whole(), singular_=NUMBERS
    ),
    "sklearn.linear_model._coordinate_descent.ElasticNet": _linear(
        COEFFICIENTS, OFFSET, dual_gap_=Optional(OFFSET)
    ),
    "sklearn.linear_model._coordinate_descent.Lasso": _linear(
        COEFFICIENTS, OFFSET, dual_gap_=Optional(OFFSET)
    ),
    "sklearn.linear_model._logistic.LogisticRegression": _linear(
        Array(F, (n_scores, "n_features")), Array(F, (n_scores,)), classes_=CLASSES
    ),
    "sklearn.linear_model._ridge.Ridge": _linear(COEFFICIENTS, OFFSET),
    "sklearn.linear_model._ridge.RidgeClassifier": _linear(
        Either(EACH_FEATURE, Array(F, (n_scores, "n_features"))),
        Either(Number(), Array(F, (n_scores,))),
        # The label binarizer holds the classes.
        classes_=Optional(CLASSES),
        _label_binarizer=Object("LabelBinarizer"),
    ),
    "sklearn.model_selection._split.KFold": _splitter(),
    "sklearn.model_selection._split.StratifiedKFold": _splitter(),
    "sklearn.naive_bayes.BernoulliNB": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "classes_": CLASSES,
            "binarize": MAYBE_NUMBER,
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
            "epsilon_": Number(),
        }
    ),
    "sklearn.neighbors._classification.KNeighborsClassifier": _neighbours(
        weights=Either(NOTHING, Text("uniform", "distance")),
        outputs_2d_=Exactly(False),
        classes_=CLASSES,
        _y=Array(I64, ("n_rows",), low=0, below="n_classes"),
    ),
    "sklearn.neighbors._regression.KNeighborsRegressor": _neighbours(
        weights=Either(NOTHING, Text("uniform", "distance")), _y=Array((F, I64), ("n_rows",))
    ),
    "sklearn.neighbors._unsupervised.NearestNeighbors": _neighbours(),
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier": _network(
        classes_=CLASSES, _label_binarizer=Object("LabelBinarizer")
    ),
    "sklearn.neural_network._multilayer_perceptron.MLPRegressor": _network(),
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer": ClassRules(
        {
            "ms": ListOf(Either(NUMBERS, Array(F, ("*", "*")))),
            "vs": ListOf(Either(NUMBERS, Array(F, ("*", "*")))),
        }
    ),
    "sklearn.pipeline.Pipeline": ClassRules(
        {
            "steps": ListOf(TupleOf(Text(), Either(Text("passthrough"), NOTHING, Object()))),
            # A pipeline's cache is a folder of pickles, which fitting it again would open.
            "memory": NOTHING,
            "transform_input": Optional(NOTHING),
        },
        (check_steps,),
    ),
    "sklearn.preprocessing._data.QuantileTransformer": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "n_quantiles_": Whole(1, size="n_quantiles"),
            "output_distribution": Text("uniform", "normal"),
            "references_": Array(F, ("n_quantiles",), is_finite=True, is_increasing=True),
            "quantiles_": Array(F, ("n_quantiles", "n_features")),
        }
    ),
    "sklearn.preprocessing._data.StandardScaler": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "mean_": Either(NOTHING, EACH_FEATURE),
            "var_": Either(NOTHING, EACH_FEATURE),
            "scale_": Either(NOTHING, EACH_FEATURE),
            "n_samples_seen_": Either(Number(), Array((F, I64), ("n_features",))),
        }
    ),
    "sklearn.preprocessing._encoders.OneHotEncoder": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "categories": Text("auto"),
            "drop": NOTHING,
            "drop_idx_": NOTHING,
            "_drop_idx_after_grouping": Optional(NOTHING),
            "dtype": Exactly(F),
            "handle_unknown": Text("error", "ignore", "infrequent_if_exist"),
            "sparse_output": Exactly(False),
            "categories_": CATEGORIES,
            "_infrequent_enabled": Flag(),
            "_infrequent_indices": Optional(
                ListOf(Either(NOTHING, Array(I64, ("*",), low=0, is_increasing=True)), "n_features")
            ),
            "_default_to_infrequent_mappings": Optional(
                ListOf(Either(NOTHING, Array(I64, ("*",), low=0)), "n_features")
            ),
            "_n_features_outs": ListOf(Whole(1), "n_features"),
        },
        (check_one_hot,),
    ),
    "sklearn.preprocessing._function_transformer.FunctionTransformer": ClassRules(
        {
            "func": NOTHING,
            "inverse_func": NOTHING,
            "kw_args": NOTHING,
            "inv_kw_args": NOTHING,
            "n_features_in_": Optional(N_FEATURES),
        }
    ),
    "sklearn.preprocessing._label.LabelBinarizer": ClassRules(
        {
            "classes_": CLASSES,
            "y_type_": Text("binary", "multiclass"),
            "neg_label": Whole(-1),
            "pos_label": Whole(),
            "sparse_output": Exactly(False),
            "sparse_input_": Exactly(False),
        }
    ),
    "sklearn.preprocessing._target_encoder.TargetEncoder": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "categories": Text("auto"),
            "categories_": CATEGORIES,
            "target_type_": Text("binary", "continuous", "multiclass"),
            "classes_": Either(NOTHING, CLASSES),
            "encodings_": ListOf(NUMBERS),
            "target_mean_": Either(Number(), NUMBERS),
            "_infrequent_enabled": Exactly(False),
        },
        (check_encodings,),
    ),
    "sklearn.svm._classes.LinearSVC": _linear(
        Array(F, (n_scores, "n_features")),
        Either(Number(), Array(F, (n_scores,))),
        classes_=CLASSES,
    ),
    "sklearn.svm._classes.LinearSVR": _linear(COEFFICIENTS, OFFSET),
    "sklearn.svm._classes.SVC": _vectors(
        {"classes_": Array(I64, ("n_classes",), low=0, is_increasing=True)},
        (one_less("n_classes"), n_pairs),
        _n_support=Array(I32, ("n_classes",), low=0, total="n_vectors"),
        class_weight_=Array(F, ("n_classes",)),
        decision_function_shape=Text("ovr", "ovo"),
    ),
    "sklearn.svm._classes.SVR": _vectors(
        {},
        (1, 1),
        _n_support=Array(I32, (2,), low=0),
        class_weight_=Optional(NUMBERS),
    ),
    "sklearn.utils._bunch.Bunch": ClassRules({}),
}
