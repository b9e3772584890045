"""Fitted estimators of scikit-learn as bytes that can be read without running code of theirs.

The bytes are those of skops: a zip archive with a description in JSON and one file for every
array. Its reader trusts all estimators of scikit-learn; ours is narrower: a description is read
only if all that it names stands in the lists below, and every array is as long as it says.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["TRUSTED", "SkopsFileError", "estimators_from_bytes", "estimators_to_bytes"]

# What the description may be made of: skops' names of the kinds of nodes. None of them calls a
# function that the file names, but for the constructors of these classes: see _CONSTRUCTED.
_NODES = {
    "ConstructorFromReduceNode",
    "DTypeNode",
    "DictNode",
    "JsonNode",
    "ListNode",
    "NdArrayNode",
    "ObjectNode",
    "RandomStateNode",
    "SliceNode",
    "TupleNode",
    "TypeNode",
}
_CONSTRUCTED = {"arboleda._bridge.schema.Schema"}
_PLAIN = {
    "builtins.bool",
    "builtins.dict",
    "builtins.float",
    "builtins.int",
    "builtins.list",
    "builtins.slice",
    "builtins.str",
    "builtins.tuple",
    "numpy.bool",
    "numpy.dtype",
    "numpy.float64",
    "numpy.int64",
    "numpy.ndarray",
    "numpy.random.mtrand.RandomState",
}
_OURS = {
    "arboleda._bridge.schema.Schema",
    "arboleda.adaboost._schapire_boosting_classifier.SchapireBoostingClassifier",
    "arboleda.adaboost._schapire_boosting_classifier._Majority",
    "arboleda.combine._des_p.DESP",
    "arboleda.combine._dynamic_selection_classifier.DynamicSelectionClassifier",
    "arboleda.combine._dynamic_selection_regressor.DynamicSelectionRegressor",
    "arboleda.combine._knora_e.KNORAE",
    "arboleda.combine._knora_u.KNORAU",
    "arboleda.combine._lca.LCA",
    "arboleda.combine._mcb.MCB",
    "arboleda.combine._meta_des.METADES",
    "arboleda.combine._ola.OLA",
    "arboleda.combine._region.Region",
    "arboleda.combine._rrc.RRC",
    "arboleda.features._forest_selector.ForestSelector",
    "arboleda.features._jmi_selector.JMISelector",
    "arboleda.features._mrmr_selector.MRMRSelector",
    "arboleda.learners._bayesian_network_classifier.BayesianNetworkClassifier",
    "arboleda.learners._bayesian_network_states.Bin",
    "arboleda.learners._bayesian_network_states.Categories",
    "arboleda.learners._bayesian_network_states.Numbers",
    "arboleda.learners._bayesian_network_tables.Network",
    "arboleda.learners._diagonal_lda.DiagonalLDA",
    "arboleda.learners._directed_graph.DirectedGraph",
    "arboleda.learners._gaussian_classes.ClassMoments",
    "arboleda.learners._gaussian_classes.Spectrum",
    "arboleda.learners._kernel_density_classifier.KernelDensityClassifier",
    "arboleda.learners._mixed_naive_bayes.MixedNaiveBayes",
    "arboleda.learners._nearest_shrunken_centroids.NearestShrunkenCentroids",
    "arboleda.learners._regularization_plane.RegularizationPlane",
    "arboleda.learners._regularized_discriminant_analysis.RegularizedDiscriminantAnalysis",
    "arboleda.learners._shrinkage_path.ShrinkagePath",
    "arboleda.learners._standardized_centroids.StandardizedCentroids",
    "arboleda.learners._units.Units",
    "arboleda.study.crossed.crossed_columns.CrossedColumns",
    "arboleda.study.crossed.ideas.Idea",
    "arboleda.study.crossed.made.GroupColumn",
    "arboleda.study.crossed.made.Groups",
    "arboleda.study.crossed.made.NumberColumn",
    "arboleda.study.preparation.LevelCount",
}
_SCIKIT_LEARN = {
    "sklearn.calibration.CalibratedClassifierCV",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.compose._target.TransformedTargetRegressor",
    "sklearn.decomposition._pca.PCA",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
    "sklearn.dummy.DummyClassifier",
    "sklearn.dummy.DummyRegressor",
    "sklearn.feature_selection._rfe.RFE",
    "sklearn.feature_selection._sequential.SequentialFeatureSelector",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.kernel_ridge.KernelRidge",
    "sklearn.linear_model._base.LinearRegression",
    "sklearn.linear_model._coordinate_descent.ElasticNet",
    "sklearn.linear_model._coordinate_descent.Lasso",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.linear_model._ridge.Ridge",
    "sklearn.linear_model._ridge.RidgeClassifier",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.naive_bayes.BernoulliNB",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.neighbors._classification.KNeighborsClassifier",
    "sklearn.neighbors._regression.KNeighborsRegressor",
    "sklearn.neighbors._unsupervised.NearestNeighbors",
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier",
    "sklearn.neural_network._multilayer_perceptron.MLPRegressor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.QuantileTransformer",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._function_transformer.FunctionTransformer",
    "sklearn.preprocessing._label.LabelBinarizer",
    "sklearn.preprocessing._target_encoder.TargetEncoder",
    "sklearn.svm._classes.LinearSVC",
    "sklearn.svm._classes.LinearSVR",
    "sklearn.svm._classes.SVC",
    "sklearn.svm._classes.SVR",
    "sklearn.utils._bunch.Bunch",
}
TRUSTED = frozenset(_PLAIN | _OURS | _SCIKIT_LEARN)

_DESCRIPTION = "schema.json"


class SkopsFileError(ValueError):
    """The bytes are no such file, are damaged, or name what is not trusted."""


def estimators_to_bytes(estimators: list[Any]) -> bytes:
    """The bytes of a list of fitted estimators, or None in the place of one.

    Raises
    ------
    TypeError
        If they hold an object of a type that is not trusted when the bytes are read.
    """
    from skops.io import dumps

    content = dumps(estimators)
    try:
        _check(content)
    except SkopsFileError as error:
        raise TypeError(f"cannot be kept: {error}") from error
    return bytes(content)


def estimators_from_bytes(content: bytes) -> list[Any]:
    """The list of fitted estimators that `estimators_to_bytes` was given.

    No code of the file is run; the memory taken is in proportion to its length.

    Raises
    ------
    SkopsFileError
        If anything is wrong with the bytes.
    """
    from skops.io import loads

    _check(content)
    try:
        found = loads(content, trusted=sorted(TRUSTED))
    except MemoryError:
        raise
    except Exception as error:  # a damaged description fails in ways that cannot be listed
        raise SkopsFileError(_first_line(error)) from error
    if not isinstance(found, list):
        raise SkopsFileError("it holds no list of estimators")
    return found


def _check(content: bytes) -> None:
    """Refuse bytes that hold more than trusted types and arrays of their length."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                _check_member(archive, member)
            description = json.loads(archive.read(_DESCRIPTION))
        for node in _nodes(description):
            _check_node(node)
    except SkopsFileError:
        raise
    except RecursionError as error:
        raise SkopsFileError("it is nested too deeply") from error
    # zipfile says by these what is wrong with an archive, json with a text.
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise SkopsFileError(_first_line(error)) from error


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse what grows when it is read: an array's header may promise any length."""
    if member.compress_type != zipfile.ZIP_STORED:
        raise SkopsFileError("it is compressed")
    if member.filename == _DESCRIPTION:
        return
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise SkopsFileError(f"the array {member.filename} is of another format")
        length = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject or file.tell() + length != member.file_size:
            raise SkopsFileError(f"the array {member.filename} is not as long as it says")


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every description of an object in the description, its own included."""
    if isinstance(value, dict):
        if "__loader__" in value:
            yield value
        for inner in value.values():
            yield from _nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _nodes(inner)


def _check_node(node: dict[str, Any]) -> None:
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    if loader not in _NODES:
        raise SkopsFileError(f"it holds a {str(loader)[:60]}")
    if name not in TRUSTED or (loader == "ConstructorFromReduceNode" and name not in _CONSTRUCTED):
        raise SkopsFileError(f"it names {name[:120]}, which is not trusted")
    # A pipeline's cache is a folder of pickles, which fitting it again would open.
    if name == "sklearn.pipeline.Pipeline":
        memory = node["content"]["content"]["memory"]
        if memory["__loader__"] != "JsonNode" or memory["content"] != "null":
            raise SkopsFileError("a pipeline of it has a cache")


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__
