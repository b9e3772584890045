// The loop of base/shap_kernels.h; included by base/kernels_loops.h only, under its rules.
//
// Rows are the lanes. Points are few: with their number known, a lane's products stay in registers.

namespace arboleda {

namespace {

using ShapLanes = double __attribute__((vector_size(64)));
using ShapMasks = std::int64_t __attribute__((vector_size(64)));
constexpr std::size_t kShapLanes = sizeof(ShapLanes) / sizeof(double);

template <class Lanes, class T>
inline void load(const T* from, Lanes& lanes) {
  __builtin_memcpy(&lanes, from, sizeof lanes);
}

template <class Lanes, class T>
inline void store(const Lanes& lanes, T* to) {
  __builtin_memcpy(to, &lanes, sizeof lanes);
}

inline bool has_bit(const ShapStep& step, double x) {
  if (!(x >= 0.0 && x < static_cast<double>(step.n_categories))) return false;
  const auto category = static_cast<std::size_t>(x);
  return (step.categories[category / 64] >> category % 64 & 1) != 0;
}

void ask(const ShapStep& step, const ShapGroup& group) {
  const double* x = group.columns + step.column * kShapRows;
  std::int64_t* left = group.lefts + step.level * kShapRows;
  if (step.n_categories > 0) {
    for (std::size_t row = 0; row < kShapRows; ++row) {
      left[row] = -static_cast<std::int64_t>(has_bit(step, x[row]) != step.missing_left);
    }
    return;
  }
  const std::int64_t missing_left = -static_cast<std::int64_t>(step.missing_left);
  for (std::size_t row = 0; row < kShapRows; row += kShapLanes) {
    ShapLanes lanes;
    load(x + row, lanes);
    const ShapMasks goes = (lanes <= step.threshold) | ((lanes != lanes) & missing_left);
    store(goes, left + row);
  }
}

// Which of `kShapLanes` rows pass the edge, and which passed those of the player above.
struct Passes {
  ShapMasks own, above;

  Passes(const ShapStep& step, const ShapGroup& group, std::size_t row) {
    load(group.lefts + step.level * kShapRows + row, own);
    load(group.passes + step.above * kShapRows + row, above);
    if (!step.is_left) own = ~own;
    own &= above;
  }
};

// What list 0 has for those who pass, list 1 for those who fail here, list 2 for those who failed above.
inline void pick(const Passes& rows, const double* list, std::size_t stride, bool has_above,
                 ShapLanes& out) {
  out = rows.own ? ShapLanes{} + list[0] : ShapLanes{} + list[stride];
  if (has_above) out = rows.above ? out : ShapLanes{} + list[2 * stride];
}

// The same, nothing for those who failed above.
inline void pick_share(const Passes& rows, const double* list, std::size_t stride, bool has_above,
                       ShapLanes& out) {
  out = rows.own ? ShapLanes{} + list[0] : ShapLanes{} + list[stride];
  if (has_above) out = rows.above ? out : ShapLanes{};
}

// kPoints: the number of points, or 0 where the group tells it.
template <std::size_t kPoints>
struct ShapWalk {
  const ShapGroup& group;

  std::size_t n() const { return kPoints > 0 ? kPoints : group.n_points; }
  double* products(std::size_t level) const { return group.products + level * n() * kShapRows; }
  double* sums(std::size_t level) const { return group.sums + level * n() * kShapRows; }

  template <bool kAbove>
  void enter(const ShapStep& step) const {
    const double* from = products(step.level);
    double* to = products(step.level + 1);
    std::int64_t* passes = group.passes + (step.level + 1) * kShapRows;
    for (std::size_t row = 0; row < kShapRows; row += kShapLanes) {
      const Passes rows(step, group, row);
      store(rows.own, passes + row);
      for (std::size_t q = 0; q < n(); ++q) {
        ShapLanes factor, product;
        pick(rows, step.factors + q, n(), kAbove, factor);
        load(from + q * kShapRows + row, product);
        product *= factor;
        store(product, to + q * kShapRows + row);
      }
    }
  }

  // kLeaf: from the products of the node itself, as the edge leads to a leaf.
  template <bool kAbove, bool kLeaf>
  void leave(const ShapStep& step) const {
    const double* from = kLeaf ? products(step.level) : sums(step.level + 1);
    double* to = sums(step.level);
    double* value = group.values + step.player * kShapRows;
    for (std::size_t row = 0; row < kShapRows; row += kShapLanes) {
      const Passes rows(step, group, row);
      ShapLanes total{};
      for (std::size_t q = 0; q < n(); ++q) {
        ShapLanes own, share, sum;
        load(from + q * kShapRows + row, own);
        pick_share(rows, step.factors + 3 * n() + q, n(), kAbove, share);
        total += own * share;
        if (kLeaf) {
          ShapLanes factor;
          pick(rows, step.factors + q, n(), kAbove, factor);
          own *= factor;
        }
        if (!step.is_first) {
          load(to + q * kShapRows + row, sum);
          own += sum;
        }
        store(own, to + q * kShapRows + row);
      }
      ShapLanes before;
      load(value + row, before);
      before += total;
      store(before, value + row);
    }
  }

  template <bool kAbove>
  void take(const ShapStep& step) const {
    if (step.act == ShapAct::enter) {
      enter<kAbove>(step);
    } else if (step.act == ShapAct::leave) {
      leave<kAbove, false>(step);
    } else {
      leave<kAbove, true>(step);
    }
  }

  void take_all(const ShapStep* steps, std::size_t n_steps) const {
    for (std::size_t q = 0; q < n(); ++q) {
      for (std::size_t row = 0; row < kShapRows; ++row) {
        products(0)[q * kShapRows + row] = group.weights[q];
      }
    }
    for (std::size_t row = 0; row < kShapRows; ++row) group.passes[row] = -1;
    for (const ShapStep* step = steps; step < steps + n_steps; ++step) {
      if (step->act == ShapAct::ask) {
        ask(*step, group);
      } else if (step->above > 0) {
        take<true>(*step);
      } else {
        take<false>(*step);
      }
    }
  }
};

void explain(const ShapStep* steps, std::size_t n_steps, const ShapGroup& group) {
  switch (group.n_points) {
    case 1:
      return ShapWalk<1>{group}.take_all(steps, n_steps);
    case 2:
      return ShapWalk<2>{group}.take_all(steps, n_steps);
    case 3:
      return ShapWalk<3>{group}.take_all(steps, n_steps);
    case 4:
      return ShapWalk<4>{group}.take_all(steps, n_steps);
    case 5:
      return ShapWalk<5>{group}.take_all(steps, n_steps);
    case 6:
      return ShapWalk<6>{group}.take_all(steps, n_steps);
    case 7:
      return ShapWalk<7>{group}.take_all(steps, n_steps);
    case 8:
      return ShapWalk<8>{group}.take_all(steps, n_steps);
    default:
      return ShapWalk<0>{group}.take_all(steps, n_steps);
  }
}

constexpr ShapKernels kShapKernels{explain};

}  // namespace

}  // namespace arboleda
