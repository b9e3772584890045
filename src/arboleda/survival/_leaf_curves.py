"""Survival curves of the leaves of a forest, kept as their jumps.

The Nelson-Aalen and the Kaplan-Meier estimate of a leaf change only at the times of its own events,
of which there are few: all leaves of a tree together have at most as many as its rows. So the jumps
are kept, in compressed rows as of a sparse matrix with a row per node. A table of leaves by times
would be larger by orders of magnitude.

As both estimates are sums of jumps, so is their mean over trees: every curve falls or rises
monotonically by construction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from arboleda._utils.errors import ModelFormatError
from arboleda.persist import SavedArray

if TYPE_CHECKING:
    from arboleda.persist.fields import Sections

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MAX_BLOCK_CELLS = 1 << 22  # numbers of a block of curves in memory


@dataclass(frozen=True, eq=False)
class LeafCurves:
    """Jumps of the curves of all leaves.

    Parameters
    ----------
    begins : ndarray of int64, shape (nodes of all trees + 1,)
        The jumps of node i are those from ``begins[i]`` up to ``begins[i + 1]``; inner nodes have
        none.
    time : ndarray of int64, shape (n_jumps,)
        Index of the time of each jump among the event times of the forest; ascending in a leaf.
    hazard : ndarray of float64, shape (n_jumps,)
        Events divided by the rows at risk: the jump of the Nelson-Aalen estimate.
    """

    begins: Integers
    time: Integers
    hazard: Floats

    @classmethod
    def concatenate(cls, parts: Iterable[LeafCurves]) -> LeafCurves:
        """Return the curves of several forests as those of one."""
        listed = list(parts)
        offsets = np.cumsum([0, *(len(part.time) for part in listed)])
        begins = [part.begins[:-1] + at for part, at in zip(listed, offsets, strict=False)]
        return cls(
            np.concatenate([*begins, offsets[-1:]]).astype(np.int64),
            np.concatenate([part.time for part in listed]),
            np.concatenate([part.hazard for part in listed]),
        )

    def of_nodes(self, first: int, last: int) -> LeafCurves:
        """Return the curves of the nodes from `first` up to `last`."""
        begins = self.begins[first : last + 1]
        jumps = slice(begins[0], begins[-1])
        return LeafCurves(begins - begins[0], self.time[jumps], self.hazard[jumps])

    def compute_drops(self) -> Floats:
        """Return the jumps of the Kaplan-Meier estimates, as positive numbers."""
        drops = np.empty_like(self.hazard)
        starts = self.begins[:-1][np.diff(self.begins) > 0]
        before = np.ones(len(starts))
        lengths = np.diff(np.append(starts, len(self.hazard)))
        # One jump of every leaf at a time: leaves have few.
        while starts.size:
            hazard = self.hazard[starts]
            drops[starts] = before * hazard
            more = lengths > 1
            before = (before * (1.0 - hazard))[more]
            starts, lengths = starts[more] + 1, lengths[more] - 1
        return drops

    def evaluate(
        self, nodes: Integers, event_times: Floats, times: Floats, jumps: Floats
    ) -> Floats:
        """Sum the jumps up to each time over the trees, and divide by their number.

        Parameters
        ----------
        nodes : ndarray of int64, shape (n_samples, n_trees)
            Leaf of each row in each tree, counted over the nodes of all trees.
        event_times : ndarray of shape (n_event_times,)
            Event times of the forest, ascending.
        times : ndarray of shape (n_times,)
            Where the curves are evaluated; ascending.
        jumps : ndarray of shape (n_jumps,)
            Those of `hazard` or of `compute_drops`.

        Returns
        -------
        curves : ndarray of shape (n_samples, n_times)
        """
        n_rows, n_trees = nodes.shape
        # Jumps count from the first requested time on that is not before them; the last column
        # takes those after all requested times.
        at = np.searchsorted(times, event_times)[self.time]
        shape = (len(self.begins) - 1, len(times) + 1)
        of_node = csr_array((jumps, at, self.begins), shape=shape)
        curves = np.empty((n_rows, len(times)))
        step = max(1, MAX_BLOCK_CELLS // (len(times) + 1))
        for first in range(0, n_rows, step):
            block = nodes[first : first + step]
            n_block = len(block)
            membership = csr_array(
                (
                    np.ones(block.size),
                    block.ravel(),
                    np.arange(0, block.size + 1, n_trees, dtype=np.int64),
                ),
                shape=(n_block, shape[0]),
            )
            sums = (membership @ of_node).toarray()[:, :-1]
            np.cumsum(sums, axis=1, out=curves[first : first + step])
        curves /= n_trees
        return curves


def make_leaf_curves(
    leaf_nodes: Integers,
    n_nodes: int,
    leaf_begins: Integers,
    rows: Integers,
    target: Floats,
    weight: Floats,
    n_times: int,
) -> LeafCurves:
    """Compute the curves of one tree.

    Parameters
    ----------
    leaf_nodes : ndarray of int64, shape (n_leaves,)
        Node of each leaf.
    n_nodes : int
    leaf_begins : ndarray of int64, shape (n_leaves + 1,)
        The rows of leaf i are ``rows[leaf_begins[i]:leaf_begins[i + 1]]``.
    rows : ndarray of int64
    target : ndarray of shape (n_samples,)
        Signed ranks: k for an event at the k-th event time (from 1), -k for a row censored before
        the next one.
    weight : ndarray of shape (n_samples,)
        Weights, times the number of draws of the tree.
    n_times : int
        Number of event times.
    """
    leaf = np.repeat(np.arange(len(leaf_nodes)), np.diff(leaf_begins))
    of_row = target[rows]
    key = leaf * (n_times + 1) + np.abs(of_row).astype(np.int64)
    order = np.argsort(key, kind="stable")
    key, w = key[order], weight[rows[order]]
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    events = np.add.reduceat(w * (of_row[order] > 0.0), firsts)
    leaving = np.add.reduceat(w, firsts)
    group_leaf = key[firsts] // (n_times + 1)
    left_before = np.concatenate([[0.0], np.cumsum(leaving)])
    ends = np.searchsorted(group_leaf, group_leaf, side="right")
    at_risk = left_before[ends] - left_before[:-1]
    has_event = events > 0.0
    n_jumps = np.zeros(n_nodes, dtype=np.int64)
    n_jumps[leaf_nodes] = np.bincount(group_leaf[has_event], minlength=len(leaf_nodes))
    return LeafCurves(
        np.concatenate([[0], np.cumsum(n_jumps)]),
        key[firsts][has_event] % (n_times + 1) - 1,
        np.minimum(events[has_event] / at_risk[has_event], 1.0),
    )


class LeafCurvesField:
    """Field of a model file for leaf curves: three arrays."""

    _ARRAYS = (("begins", np.int64), ("time", np.int64), ("hazard", np.float64))

    def encode(self, name: str, value: LeafCurves, sections: Sections) -> Any:
        """Return the header entry."""
        return {
            part: SavedArray(dtype).encode(f"{name}.{part}", getattr(value, part), sections)
            for part, dtype in self._ARRAYS
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> LeafCurves:
        """Return the validated curves."""
        if not isinstance(stored, dict) or stored.keys() != dict(self._ARRAYS).keys():
            raise ModelFormatError(f"{name} does not hold survival curves of leaves")
        curves = LeafCurves(
            **{
                part: SavedArray(dtype).decode(f"{name}.{part}", stored[part], sections)
                for part, dtype in self._ARRAYS
            }
        )
        if not _is_valid(curves):
            raise ModelFormatError(f"{name} holds arrays that are not survival curves of leaves")
        return curves


def _is_valid(curves: LeafCurves) -> bool:
    begins, hazard = curves.begins, curves.hazard
    return (
        len(begins) > 1
        and begins[0] == 0
        and bool((np.diff(begins) >= 0).all())
        and begins[-1] == len(curves.time) == len(hazard)
        and bool((curves.time >= 0).all())
        and bool(((hazard > 0.0) & (hazard <= 1.0)).all())
    )
