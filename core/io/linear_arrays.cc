#include "io/linear_arrays.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.h"

namespace arboleda {

namespace {

constexpr std::array kNames{"linear.start",       "linear.intercept", "linear.feature",
                            "linear.coefficient", "linear.low",       "linear.high"};

template <class T>
std::vector<T> take(NamedArray& array) {
  auto* numbers = std::get_if<std::vector<T>>(&array.numbers);
  require(numbers != nullptr && array.shape.size() == 1,
          "an array of linear leaves has another type or shape");
  return std::move(*numbers);
}

std::vector<FeatureIndex> to_features(const std::vector<std::int64_t>& numbers) {
  std::vector<FeatureIndex> features;
  features.reserve(numbers.size());
  for (const std::int64_t number : numbers) {
    require(number >= 0 && number <= std::numeric_limits<FeatureIndex>::max(),
            "a column of a linear leaf is out of range");
    features.push_back(static_cast<FeatureIndex>(number));
  }
  return features;
}

}  // namespace

std::vector<NamedArray> to_arrays(const LinearLeaves& leaves) {
  if (leaves.empty()) return {};
  std::vector<NamedArray> arrays;
  const auto add = [&](auto numbers) {
    const char* name = kNames[arrays.size()];
    arrays.push_back({name, {numbers.size()}, std::move(numbers)});
  };
  add(leaves.start);
  add(leaves.intercept);
  add(std::vector<std::int64_t>(leaves.feature.begin(), leaves.feature.end()));
  add(leaves.coefficient);
  add(leaves.low);
  add(leaves.high);
  return arrays;
}

LinearLeaves to_linear_leaves(std::vector<NamedArray> arrays) {
  if (arrays.empty()) return {};
  require(std::equal(arrays.begin(), arrays.end(), kNames.begin(), kNames.end(),
                     [](const NamedArray& array, const char* name) { return array.name == name; }),
          "these are not the arrays of linear leaves");
  LinearLeaves leaves;
  leaves.start = take<std::int64_t>(arrays[0]);
  leaves.intercept = take<double>(arrays[1]);
  leaves.feature = to_features(take<std::int64_t>(arrays[2]));
  leaves.coefficient = take<double>(arrays[3]);
  leaves.low = take<double>(arrays[4]);
  leaves.high = take<double>(arrays[5]);
  require(!leaves.start.empty(), "an array of linear leaves is empty");
  return leaves;
}

}  // namespace arboleda
