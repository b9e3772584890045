"""Rules for objects of scikit-learn that prepare, select or split data, by full class name."""

import numpy as np

from arboleda.persist.object_rules.agreements import (
    TransformersRule,
    check_columns,
    check_encodings,
    check_one_hot,
    check_steps,
)
from arboleda.persist.object_rules.attribute_rules import (
    BOOL,
    CATEGORIES,
    CLASSES,
    EACH_FEATURE,
    FLOAT,
    INT64,
    KERNEL,
    N_FEATURES,
    NULL,
    NUMBERS,
    OPTIONAL_NUMBER,
    AnyOf,
    ArrayRule,
    BooleanRule,
    ConstantRule,
    DictOf,
    IntegerRule,
    ListOf,
    NanRule,
    NumberRule,
    ObjectRule,
    OptionalRule,
    SettingRule,
    TemplateRule,
    TextRule,
    TupleOf,
)
from arboleda.persist.object_rules.context import (
    ClassRules,
)

__all__ = ["SCIKIT_LEARN_TRANSFORMERS"]


def _make_splitter_rules() -> ClassRules:
    return ClassRules(
        {"n_splits": IntegerRule(2), "shuffle": BooleanRule(), "random_state": SettingRule()}
    )


SCIKIT_LEARN_TRANSFORMERS: dict[str, ClassRules] = {
    "sklearn.compose._column_transformer.ColumnTransformer": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "transformers": TransformersRule(is_template=True),
            "transformer_weights": NULL,
            "transformers_": TransformersRule(),
            "_columns": ListOf(ListOf(IntegerRule(0, below="n_features"))),
            "_transformer_to_input_indices": DictOf(ListOf(IntegerRule(0, below="n_features"))),
            "_remainder": SettingRule(),
            "sparse_output_": ConstantRule(False),
            "output_indices_": DictOf(SettingRule()),
        },
        (check_columns,),
    ),
    "sklearn.decomposition._pca.PCA": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "n_components_": IntegerRule(0, size="n_components"),
            "components_": ArrayRule(FLOAT, ("n_components", "n_features")),
            "mean_": EACH_FEATURE,
            "explained_variance_": ArrayRule(FLOAT, ("n_components",)),
            "explained_variance_ratio_": ArrayRule(FLOAT, ("n_components",)),
            "singular_values_": ArrayRule(FLOAT, ("n_components",)),
            "noise_variance_": NumberRule(),
        }
    ),
    "sklearn.feature_selection._rfe.RFE": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "estimator": TemplateRule(),
            "estimator_": ObjectRule(),
            "n_features_": IntegerRule(0, size="n_selected"),
            "support_": ArrayRule(BOOL, ("n_features",), total="n_selected"),
            "ranking_": ArrayRule(INT64, ("n_features",), low=1),
            "importance_getter": TextRule("auto"),
        }
    ),
    "sklearn.feature_selection._sequential.SequentialFeatureSelector": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "estimator": TemplateRule(),
            "n_features_to_select_": IntegerRule(0, size="n_selected"),
            "support_": ArrayRule(BOOL, ("n_features",), total="n_selected"),
        }
    ),
    "sklearn.impute._base.MissingIndicator": ClassRules(
        {
            "missing_values": NanRule(),
            "n_features_in_": OptionalRule(N_FEATURES),
            "_n_features": IntegerRule(0, size="n_features"),
            "features_": ArrayRule(INT64, ("*",), low=0, below="n_features", is_increasing=True),
            "features": TextRule("missing-only"),
            "sparse": AnyOf(TextRule("auto"), ConstantRule(False)),
            "_precomputed": OptionalRule(BooleanRule()),
        }
    ),
    "sklearn.impute._base.SimpleImputer": ClassRules(
        {
            "missing_values": NanRule(),
            "n_features_in_": N_FEATURES,
            "statistics_": EACH_FEATURE,
            "fill_value": OPTIONAL_NUMBER,
            "indicator_": AnyOf(NULL, ObjectRule("MissingIndicator")),
            "_fit_dtype": ConstantRule(np.dtype(FLOAT)),
            "_fill_dtype": OptionalRule(ConstantRule(np.dtype(FLOAT))),
        }
    ),
    "sklearn.kernel_approximation.Nystroem": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "kernel": KERNEL,
            "gamma": OPTIONAL_NUMBER,
            "coef0": OPTIONAL_NUMBER,
            "degree": OPTIONAL_NUMBER,
            "kernel_params": NULL,
            "components_": ArrayRule(FLOAT, ("n_rows", "n_features"), is_finite=True),
            "normalization_": ArrayRule(FLOAT, ("n_rows", "n_rows")),
            "component_indices_": ArrayRule(INT64, ("n_rows",), low=0),
            "_n_features_out": IntegerRule(0, size="n_rows"),
        }
    ),
    "sklearn.model_selection._split.KFold": _make_splitter_rules(),
    "sklearn.model_selection._split.StratifiedKFold": _make_splitter_rules(),
    "sklearn.pipeline.Pipeline": ClassRules(
        {
            "steps": ListOf(
                TupleOf(TextRule(), AnyOf(TextRule("passthrough"), NULL, ObjectRule()))
            ),
            # A pipeline's cache is a folder of pickles, which would be opened by refitting.
            "memory": NULL,
            "transform_input": OptionalRule(NULL),
        },
        (check_steps,),
    ),
    "sklearn.preprocessing._data.QuantileTransformer": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "n_quantiles_": IntegerRule(1, size="n_quantiles"),
            "output_distribution": TextRule("uniform", "normal"),
            "references_": ArrayRule(FLOAT, ("n_quantiles",), is_finite=True, is_increasing=True),
            "quantiles_": ArrayRule(FLOAT, ("n_quantiles", "n_features")),
        }
    ),
    "sklearn.preprocessing._data.StandardScaler": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "mean_": AnyOf(NULL, EACH_FEATURE),
            "var_": AnyOf(NULL, EACH_FEATURE),
            "scale_": AnyOf(NULL, EACH_FEATURE),
            "n_samples_seen_": AnyOf(NumberRule(), ArrayRule((FLOAT, INT64), ("n_features",))),
        }
    ),
    "sklearn.preprocessing._encoders.OneHotEncoder": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "categories": TextRule("auto"),
            "drop": NULL,
            "drop_idx_": NULL,
            "_drop_idx_after_grouping": OptionalRule(NULL),
            "dtype": ConstantRule(FLOAT),
            "handle_unknown": TextRule("error", "ignore", "infrequent_if_exist"),
            "sparse_output": ConstantRule(False),
            "categories_": CATEGORIES,
            "_infrequent_enabled": BooleanRule(),
            "_infrequent_indices": OptionalRule(
                ListOf(
                    AnyOf(NULL, ArrayRule(INT64, ("*",), low=0, is_increasing=True)), "n_features"
                )
            ),
            "_default_to_infrequent_mappings": OptionalRule(
                ListOf(AnyOf(NULL, ArrayRule(INT64, ("*",), low=0)), "n_features")
            ),
            "_n_features_outs": ListOf(IntegerRule(1), "n_features"),
        },
        (check_one_hot,),
    ),
    "sklearn.preprocessing._function_transformer.FunctionTransformer": ClassRules(
        {
            "func": NULL,
            "inverse_func": NULL,
            "kw_args": NULL,
            "inv_kw_args": NULL,
            "n_features_in_": OptionalRule(N_FEATURES),
        }
    ),
    "sklearn.preprocessing._label.LabelBinarizer": ClassRules(
        {
            "classes_": CLASSES,
            "y_type_": TextRule("binary", "multiclass"),
            "neg_label": IntegerRule(-1),
            "pos_label": IntegerRule(),
            "sparse_output": ConstantRule(False),
            "sparse_input_": ConstantRule(False),
        }
    ),
    "sklearn.preprocessing._target_encoder.TargetEncoder": ClassRules(
        {
            "n_features_in_": N_FEATURES,
            "categories": TextRule("auto"),
            "categories_": CATEGORIES,
            "target_type_": TextRule("binary", "continuous", "multiclass"),
            "classes_": AnyOf(NULL, CLASSES),
            "encodings_": ListOf(NUMBERS),
            "target_mean_": AnyOf(NumberRule(), NUMBERS),
            "_infrequent_enabled": ConstantRule(False),
        },
        (check_encodings,),
    ),
    "sklearn.utils._bunch.Bunch": ClassRules({}),
}
