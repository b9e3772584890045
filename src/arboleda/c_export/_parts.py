"""The functions that a model is in C, and those that all models share."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Part:
    """A model as C: a state follows from a row, and all answers from the state.

    Parameters
    ----------
    prefix : str
        Of the names of its functions and tables.
    n_state, n_scores, n_outputs : int
        Numbers of the state, of the scores, and of probabilities or values. A single score of a
        classifier is positive for the second class; else the largest of them tells the class.
    definitions : list of str
        Tables and functions.
    score_function : str
    needs : set of str
        Shared functions that are called.
    """

    prefix: str
    n_state: int
    n_scores: int
    n_outputs: int
    definitions: list[str] = field(default_factory=list)
    score_function: str = ""
    needs: set[str] = field(default_factory=set)

    def state(self, *body: str) -> None:
        """Add the function that fills the state from a row ``x``."""
        self.definitions.append(self._function("state", "x", body))

    def scores(self, *body: str) -> None:
        """Make the function that fills the scores from the state; nothing: they are the state.

        It stands in the file only if nobody else asks the model.
        """
        self.score_function = self._function("scores", "state", body or _copy(self.n_scores))

    def outputs(self, *body: str) -> None:
        """Add the function that fills probabilities or values; nothing: they are the state."""
        copied = body or _copy(self.n_outputs)
        self.definitions.append(self._function("outputs", "state", copied))

    def _function(self, what: str, given: str, body: tuple[str, ...]) -> str:
        head = f"static void {self.prefix}_{what}(const number *{given}, number *out) {{"
        return "\n".join([head, *(f"  {line}" for line in body), "}"])


def _copy(n: int) -> tuple[str, ...]:
    return "int k;", f"for (k = 0; k < {n}; ++k) out[k] = state[k];"


# Shared functions, by name; each is in a file only if a model calls it.
SHARED = {
    "logistic": """\
/* 1 / (1 + exp(-z)). */
static number logistic(number z) {
  return z < 0 ? EXP(z) / (1 + EXP(z)) : 1 / (1 + EXP(-z));
}""",
    "softmax": """\
/* exp(z[k]) as shares of their sum. */
static void softmax(const number *z, int n, number *out) {
  number largest = z[0], sum = 0;
  int k;
  for (k = 1; k < n; ++k) largest = z[k] > largest ? z[k] : largest;
  for (k = 0; k < n; ++k) sum += out[k] = EXP(z[k] - largest);
  for (k = 0; k < n; ++k) out[k] /= sum;
}""",
    "one_against_rest": """\
/* 1 / (1 + exp(-2 z[k])), as shares of their sum. */
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
