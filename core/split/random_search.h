// One split of a node by one feature, drawn at random (extremely randomised trees: Geurts, Ernst,
// Wehenkel 2006). Missing values are tried on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "split/node_view.h"
#include "split/random_draw.h"
#include "split/scan.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
template <class Criterion>
class RandomSearch {
 public:
  RandomSearch(const Criterion& criterion, const SplitLimits& limits, RandomDraw& draw)
      : criterion_(criterion), limits_(limits), draw_(draw), sides_(criterion.make_sides()) {}

  // codes: one a row of the node. Improves `best`; false when all rows have the same code.
  bool search(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
              std::span<const Code> codes, Split& best) {
    Split drawn;
    if (!draw_.draw_split(node.rows, node.key, feature, column, codes, drawn)) return false;
    try_sides(node, column, codes, drawn, best);
    return true;
  }

 private:
  using Slot = typename Criterion::Slot;

  void try_sides(const NodeView<Criterion>& node, const CodedColumn& column,
                 std::span<const Code> codes, Split& drawn, Split& best) {
    const PresentCodes& present = draw_.present_codes();
    const Code missing = column.get_missing_code();
    sides_.reset(node.total, codes.size());
    if (column.is_categorical) {
      move(node, codes,
           [&](Code code) { return code != missing && draw_.category_goes_left(code); });
    } else {
      move_range(node, codes, 0, drawn.code);
    }
    if (!present.is_one_code) drawn.next_code = present.highest;
    consider(sides_, limits_, drawn, best);
    if (present.is_one_code || present.n_present == codes.size()) return;
    move_range(node, codes, missing, missing);
    drawn.missing_left = true;
    if (column.is_categorical) drawn.left_codes.push_back(missing);
    consider(sides_, limits_, drawn, best);
  }

  void move_range(const NodeView<Criterion>& node, std::span<const Code> codes, Code first,
                  Code last) {
    const Code span = last - first;
    move(node, codes, [=](Code code) { return code - first <= span; });
  }

  template <class GoesLeft>
  void move(const NodeView<Criterion>& node, std::span<const Code> codes,
            const GoesLeft& goes_left) {
    if constexpr (requires { criterion_.sum_if(node.local, goes_left, cell_.data()); }) {
      cell_.resize(criterion_.width());
      const auto is_moved = [&](std::size_t i) { return goes_left(codes[i]); };
      if (criterion_.sum_if(node.local, is_moved, cell_.data()))
        return sides_.move_cell(cell_.data());
    }
    // Listed first, because the side of a row is unpredictable.
    moved_.resize(codes.size());
    std::size_t n_moved = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      moved_[n_moved] = static_cast<std::uint32_t>(i);
      n_moved += goes_left(codes[i]);
    }
    const auto moved = std::span(moved_).first(n_moved);
    if constexpr (Criterion::kHasCells) {
      cell_.assign(criterion_.width(), Slot{});
      for (const std::size_t i : moved) criterion_.add(node.local, i, cell_.data());
      sides_.move_cell(cell_.data());
    } else {
      for (const std::size_t i : moved) criterion_.move_row(node.local, i, sides_);
    }
  }

  const Criterion& criterion_;
  const SplitLimits& limits_;
  RandomDraw& draw_;
  typename Criterion::Sides sides_;
  std::vector<Slot> cell_;
  UnfilledVector<std::uint32_t> moved_;  // places of rows
};

}  // namespace arboleda
