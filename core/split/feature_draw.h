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

  FeatureIndex next(QuickStream& random) {
    const std::size_t f = swapped_.size();
    const std::size_t other = f + random.below(static_cast<std::uint32_t>(order_.size() - f));
    std::swap(order_[f], order_[other]);
    swapped_.push_back(other);
    return order_[f];
  }

  // All are back in their places, so that what is drawn depends on the stream only. Takes as long as
  // the drawing.
  void put_back() {
    for (; !swapped_.empty(); swapped_.pop_back()) {
      std::swap(order_[swapped_.size() - 1], order_[swapped_.back()]);
    }
  }

 private:
  std::vector<FeatureIndex> order_;
  std::vector<std::size_t> swapped_;  // with which place each of the first was
};

}  // namespace arboleda
