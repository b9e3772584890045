"""Combining models: what members say of rows, and the rules that make one answer of it."""

from arboleda.combine._outputs import MemberOutputs, out_of_fold_outputs, outputs_of

__all__ = ["MemberOutputs", "out_of_fold_outputs", "outputs_of"]
