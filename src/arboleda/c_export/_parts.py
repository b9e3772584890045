"""The C functions of a model, and those shared by all models."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ModelCode:
    """A model as C code, which computes a state from a row, and all outputs from the state.

    Parameters
    ----------
    prefix : str
        Prefix of the names of its functions and tables.
    n_state, n_scores, n_outputs : int
        Sizes of the state, of the scores, and of probabilities or values. A single score of a
        classifier is positive for the second class; otherwise the largest score decides.
    definitions : list of str
        Tables and functions.
    score_function : str
    needs : set of str
        Shared functions that it calls.
    """

    prefix: str
    n_state: int
    n_scores: int
    n_outputs: int
    definitions: list[str] = field(default_factory=list)
    score_function: str = ""
    needs: set[str] = field(default_factory=set)

    def define_state(self, *body: str) -> None:
        """Add the function that fills the state from a row ``x``."""
        self.definitions.append(self._write_function("state", "x", body))

    def define_scores(self, *body: str) -> None:
        """Make the function that fills the scores from the state; no body: a copy of the state.

        It is in the file only for the outermost model.
        """
        self.score_function = self._write_function(
            "scores", "state", body or _write_copy(self.n_scores)
        )

    def define_outputs(self, *body: str) -> None:
        """Add the function that fills probabilities or values; no body: a copy of the state."""
        copied = body or _write_copy(self.n_outputs)
        self.definitions.append(self._write_function("outputs", "state", copied))

    def _write_function(self, what: str, given: str, body: tuple[str, ...]) -> str:
        head = f"static void {self.prefix}_{what}(const number *{given}, number *out) {{"
        return "\n".join([head, *(f"  {line}" for line in body), "}"])


def _write_copy(n: int) -> tuple[str, ...]:
    return "int k;", f"for (k = 0; k < {n}; ++k) out[k] = state[k];"


# Shared functions by name; each is in a file only if a model calls it.
SHARED = {
    "logistic": """\
/* 1 / (1 + exp(-z)). */
static number logistic(number z) {
  return z < 0 ? EXP(z) / (1 + EXP(z)) : 1 / (1 + EXP(-z));
}""",
    "softmax": """\
/* exp(z[k]) divided by their sum. */
static void softmax(const number *z, int n, number *out) {
  number largest = z[0], sum = 0;
  int k;
  for (k = 1; k < n; ++k) largest = z[k] > largest ? z[k] : largest;
  for (k = 0; k < n; ++k) sum += out[k] = EXP(z[k] - largest);
  for (k = 0; k < n; ++k) out[k] /= sum;
}""",
    "one_against_rest": """\
/* 1 / (1 + exp(-2 z[k])), divided by their sum. */
static void one_against_rest(const number *z, int n, number *out) {
  number sum = 0;
  int k;
  for (k = 0; k < n; ++k) {
    out[k] = logistic(2 * z[k]);
    if (out[k] < LEAST) out[k] = LEAST;
    sum += out[k];
  }
  for (k = 0; k < n; ++k) out[k] /= sum;
}""",
}
