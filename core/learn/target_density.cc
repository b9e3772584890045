#include "learn/target_density.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "base/thread_pool.h"
#include "base/types.h"

namespace arboleda {

namespace {

constexpr std::size_t kDensityBlock = 1024;

bool is_share(double x) { return x >= 0.0 && x <= 1.0; }

// The integral of factor * d over distances from a to b.
double piece(double factor, double a, double b) { return factor * (b - a) * (0.5 * (a + b)); }

// The integral of |y - y_i| over all y.
double whole(double target) { return piece(1.0, 0.0, target) + piece(1.0, 0.0, 1.0 - target); }

}  // namespace

double TargetDensity::Side::integral(double distance) const {
  double sum = 0.0;
  double begin = 0.0;
  double factor = near;
  for (const Step& step : steps) {
    if (step.distance >= distance) break;
    sum += piece(factor, begin, step.distance);
    begin = step.distance;
    factor *= step.factor;
  }
  return sum + piece(factor, begin, distance);
}

double TargetDensity::Row::wrong(double prediction) const {
  return side(prediction).integral(std::abs(prediction - target));
}

void TargetDensity::Row::reweigh(double prediction, double factor) {
  const double kept = wrong(prediction);
  mass = kept + factor * std::max(0.0, mass - kept);
  const double distance = std::abs(prediction - target);
  for (Side* each : {&below, &above}) {
    if (distance == 0.0 || each != &side(prediction)) {
      each->near *= factor;
    } else if (distance < each->extent) {
      const auto beyond = [](double d, const Step& step) { return d < step.distance; };
      const auto place = std::upper_bound(each->steps.begin(), each->steps.end(), distance, beyond);
      each->steps.insert(place, {distance, factor});
    }
  }
}

TargetDensity::TargetDensity(std::span<const double> targets, std::span<const double> weights) {
  require(weights.empty() || weights.size() == targets.size(), "one weight a target is needed");
  rows_.reserve(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double y = targets[i];
    const double weight = weights.empty() ? 1.0 : weights[i];
    require(is_share(y), "a target is not between 0 and 1");
    require(weight >= 0.0 && std::isfinite(weight), "a weight is negative or not finite");
    rows_.push_back({y, weight * whole(y), {y, weight, {}}, {1.0 - y, weight, {}}});
  }
  scale_to_one();
}

double TargetDensity::at(std::size_t row, double y) const {
  require(row < rows_.size() && is_share(y), "there is no density there");
  const Side& side = rows_[row].side(y);
  const double distance = std::abs(y - rows_[row].target);
  double factor = side.near;
  for (const Step& step : side.steps) {
    if (step.distance >= distance) break;
    factor *= step.factor;
  }
  return factor * distance;
}

std::vector<double> TargetDensity::row_weights() const {
  std::vector<double> weights;
  weights.reserve(rows_.size());
  for (const Row& row : rows_) weights.push_back(row.mass / whole(row.target));
  return weights;
}

double TargetDensity::error(std::span<const double> predictions, const Context& context) const {
  check(predictions);
  std::vector<double> wrong(rows_.size());
  parallel_blocks(context.n_threads(), rows_.size(), kDensityBlock,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    context.check();
                    for (std::size_t i = begin; i < end; ++i)
                      wrong[i] = rows_[i].wrong(predictions[i]);
                  });
  double sum = 0.0;
  for (const double w : wrong) sum += w;
  return sum;
}

void TargetDensity::reweigh(std::span<const double> predictions, double factor,
                            const Context& context) {
  check(predictions);
  require(is_share(factor), "the factor of correct predictions must lie between 0 and 1");
  parallel_blocks(context.n_threads(), rows_.size(), kDensityBlock,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i)
                      rows_[i].reweigh(predictions[i], factor);
                  });
  scale_to_one();
}

void TargetDensity::check(std::span<const double> predictions) const {
  require(predictions.size() == rows_.size(), "one prediction per row is needed");
  require(std::all_of(predictions.begin(), predictions.end(), is_share),
          "a prediction is not between 0 and 1");
}

void TargetDensity::scale_to_one() {
  double total = 0.0;
  for (const Row& row : rows_) total += row.mass;
  require(total > 0.0 && std::isfinite(total),
          "the density has no total that it could be scaled by");
  for (Row& row : rows_) {
    row.mass /= total;
    row.below.near /= total;
    row.above.near /= total;
  }
}

// Where the factor of a row changes as the prediction rises from 0 to 1.
struct TargetDensity::Event {
  double at;
  std::int64_t rise;    // of the factor, in units
  std::int64_t target;  // of the row, in units
};

// The error of the rows of one leaf as a function of their common prediction v has the slope
//   sum_i factor_i(v) (v - y_i) = C v - S,
// with C and S constant between events. Factors are turned into integers of at most kFactorBits, and
// targets into such of kTargetBits, so that C and S are exact however often they rise and fall.
class TargetDensity::LeafSearch {
 public:
  explicit LeafSearch(const std::vector<const Row*>& rows) {
    double most = 0.0;
    for (const Row* row : rows) most = std::max({most, row->below.near, row->above.near});
    if (most > 0.0) shift_ = kFactorBits - 1 - std::ilogb(most);
    for (const Row* row : rows) add(*row);
    std::sort(events_.begin(), events_.end(),
              [](const Event& a, const Event& b) { return a.at < b.at; });
  }

  double best() {
    double v = 0.0;
    for (const Event& event : events_) {
      go(v, event.at);
      v = event.at;
      factors_ += event.rise;
      moments_ += Int128{event.rise} * event.target;
    }
    go(v, 1.0);
    return best_;
  }

 private:
  static constexpr int kFactorBits = 44;
  static constexpr int kTargetBits = 52;

  std::int64_t units_of(double factor) const { return std::llrint(std::ldexp(factor, shift_)); }

  void add(const Row& row) {
    const std::int64_t target = std::llrint(std::ldexp(row.target, kTargetBits));
    std::vector<std::int64_t> below = factors_outwards(row.below);
    std::int64_t before = 0;
    double at = 0.0;
    for (std::size_t k = below.size(); k-- > 0;) {
      events_.push_back({at, below[k] - before, target});
      before = below[k];
      at = row.target - (k > 0 ? row.below.steps[k - 1].distance : 0.0);
    }
    at = row.target;
    const std::vector<std::int64_t> above = factors_outwards(row.above);
    for (std::size_t k = 0; k < above.size(); ++k) {
      events_.push_back({at, above[k] - before, target});
      before = above[k];
      if (k + 1 < above.size()) at = row.target + row.above.steps[k].distance;
    }
  }

  std::vector<std::int64_t> factors_outwards(const Side& side) const {
    double factor = side.near;
    std::vector<std::int64_t> found{units_of(factor)};
    for (const Step& step : side.steps) found.push_back(units_of(factor *= step.factor));
    return found;
  }

  // Follows the error from a to b, between which nothing changes.
  void go(double a, double b) {
    if (!(b > a)) return;
    const auto c = static_cast<double>(factors_);
    const double s = std::ldexp(static_cast<double>(moments_), -kTargetBits);
    const auto gained = [&](double v) { return (v - a) * (c * (0.5 * (a + v)) - s); };
    if (c > 0.0 && s / c > a && s / c < b) look(s / c, error_ + gained(s / c));
    error_ += gained(b);
    look(b, error_);
  }

  void look(double v, double error) {
    if (!(error < least_)) return;
    least_ = error;
    best_ = v;
  }

  std::vector<Event> events_;
  int shift_ = 0;
  std::int64_t factors_ = 0;  // C
  Int128 moments_ = 0;        // S
  double error_ = 0.0;        // less that of the prediction 0
  double least_ = 0.0;
  double best_ = 0.0;
};

std::vector<double> TargetDensity::best_predictions(std::span<const std::uint32_t> leaf,
                                                    std::size_t n_leaves,
                                                    const Context& context) const {
  require(leaf.size() == rows_.size(), "one leaf a row is needed");
  std::vector<std::vector<const Row*>> members(n_leaves);
  for (std::size_t i = 0; i < leaf.size(); ++i) {
    require(leaf[i] < n_leaves, "a leaf is out of range");
    members[leaf[i]].push_back(&rows_[i]);
  }
  std::vector<double> best(n_leaves);
  parallel_for(context.n_threads(), n_leaves, [&](std::size_t k, int) {
    context.check();
    best[k] = LeafSearch(members[k]).best();
  });
  return best;
}

}  // namespace arboleda
