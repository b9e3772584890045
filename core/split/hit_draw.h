// Which of some candidates are among the features that a node draws without replacement, where the other
// features do not matter.
//
// m of F features are drawn, and c of the F are candidates: the number of hits is h with probability
//
//   C(c, h) C(F - c, m - h) / C(F, m)        (hypergeometric)
//
// and every h candidates are equally likely. One random number is drawn, and one more per hit.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"

namespace arboleda {

class HitDraw {
 public:
  HitDraw(std::size_t n_features, std::size_t n_drawn)
      : n_features_(n_features), n_drawn_(n_drawn) {
    if (n_features > kTabled) return;
    no_hit_.resize(n_features + 1);
    no_hit_[0] = 1.0;
    for (std::size_t c = 0; c + n_drawn < n_features; ++c) {
      const auto others = static_cast<double>(n_features - c);
      no_hit_[c + 1] = no_hit_[c] * ((others - static_cast<double>(n_drawn)) / others);
    }
  }

  // Puts the candidates that are hit first, and returns their number.
  template <class T>
  std::size_t draw(std::span<T> candidates, QuickStream& random) const {
    if (candidates.size() >= no_hit_.size() || no_hit_[candidates.size()] == 0.0) {
      return draw_in_turn(candidates, random);
    }
    const std::size_t n_hits = count(candidates.size(), random);
    for (std::size_t i = 0; i < n_hits; ++i) {
      const auto n_left = static_cast<std::uint32_t>(candidates.size() - i);
      std::swap(candidates[i], candidates[i + random.below(n_left)]);
    }
    return n_hits;
  }

 private:
  static constexpr std::size_t kTabled = 4096;  // making the table takes as long as some nodes

  // The number of hits: a uniform number is looked up in the sums of the chances. That of h + 1 is the
  // chance of h times (c - h) (m - h) / ((h + 1) (F - c - m + h + 1)).
  std::size_t count(std::size_t n_candidates, QuickStream& random) const {
    double rest = random.uniform();
    double chance = no_hit_[n_candidates];
    std::size_t h = 0;
    while (rest >= chance && h < n_candidates && h < n_drawn_) {
      rest -= chance;
      const std::size_t ways = (n_candidates - h) * (n_drawn_ - h);
      const std::size_t others = n_features_ - n_candidates - n_drawn_ + h + 1;
      chance *= static_cast<double>(ways) / static_cast<double>((h + 1) * others);
      ++h;
    }
    return h;
  }

  // Each in its turn with the share of draws that are left among the features that are left.
  template <class T>
  std::size_t draw_in_turn(std::span<T> candidates, QuickStream& random) const {
    std::size_t n_hits = 0;
    std::size_t n_left = n_features_;
    for (T& candidate : candidates) {
      if (random.below(static_cast<std::uint32_t>(n_left--)) >= n_drawn_ - n_hits) continue;
      std::swap(candidates[n_hits++], candidate);
    }
    return n_hits;
  }

  std::size_t n_features_, n_drawn_;
  std::vector<double> no_hit_;  // the chance that none of so many candidates is hit; or empty
};

}  // namespace arboleda
