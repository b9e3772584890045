"""Why a model answers as it does, and how sure it is: for any estimator of scikit-learn's kind."""

__all__: list[str] = []
