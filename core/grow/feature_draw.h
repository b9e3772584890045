// Columns drawn one after the other without replacement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace arboleda {

class FeatureDraw {
 public:
  explicit FeatureDraw(std::vector<FeatureIndex> features) : order_(std::move(features)) {}

  // Calls visit(feature) until it returns false or all were drawn. What is drawn depends on the
  // stream only: in the end all are back in their places, which takes as long as the drawing.
  template <class Visit>
  void draw(QuickStream random, const Visit& visit) {
    for (std::size_t f = 0; f < order_.size(); ++f) {
      const std::size_t other = f + random.below(static_cast<std::uint32_t>(order_.size() - f));
      std::swap(order_[f], order_[other]);
      swapped_.push_back(other);
      if (!visit(order_[f])) break;
    }
    for (; !swapped_.empty(); swapped_.pop_back()) {
      std::swap(order_[swapped_.size() - 1], order_[swapped_.back()]);
    }
  }

 private:
  std::vector<FeatureIndex> order_;
  std::vector<std::size_t> swapped_;  // with which place each of the first was
};

}  // namespace arboleda
