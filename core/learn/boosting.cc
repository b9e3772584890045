#include "learn/boosting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/shards.h"
#include "base/thread_pool.h"
#include "grow/code_tree.h"
#include "grow/histogram_grower.h"
#include "learn/boosted_scores.h"
#include "learn/early_stopping.h"
#include "learn/leaf_steps.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Rows of one task. Fixed, so that sums of blocks are the same on any number of threads.
constexpr std::size_t kGradientBlockRows = std::size_t{1} << 12;

// The leaves of all scored rows are found from codes where this many times those in the leaves are fewer:
// rows side by side are found sooner than it is known which of them are left.
constexpr std::size_t kScoredAtOnce = 2;

// Numbers of trees are part of the keys of random numbers, which have 24 bits for them.
constexpr std::int64_t kMostBoostedTrees = std::int64_t{1} << 24;

constexpr double kNotRecorded = std::numeric_limits<double>::quiet_NaN();

// The rows of positive weight: those given, where all are. What is promised of them is checked.
class CheckedRows {
 public:
  CheckedRows() = default;
  explicit CheckedRows(const BoostingRows& data);
  CheckedRows(const CheckedRows&) = delete;

  operator std::span<const RowIndex>() const { return rows_; }

 private:
  std::vector<RowIndex> heavy_;
  std::span<const RowIndex> rows_;
};

CheckedRows::CheckedRows(const BoostingRows& data) : rows_(data.rows) {
  const std::size_t n_rows = data.table.n_rows;
  require(
      data.objective.n_rows() == n_rows && (data.weight.empty() || data.weight.size() == n_rows),
      "a loss bound to every row of the table, and its weights, are needed");
  require(std::adjacent_find(data.rows.begin(), data.rows.end(), std::greater_equal<>()) ==
                  data.rows.end() &&
              (data.rows.empty() || data.rows.back() < n_rows),
          "rows are not ascending, or not of the table");
  if (!data.weight.empty()) {
    std::copy_if(data.rows.begin(), data.rows.end(), std::back_inserter(heavy_),
                 [&](RowIndex row) { return data.weight[row] > 0.0; });
    rows_ = heavy_;
  }
}

// What all shards know of the rows of all of them.
struct SharedFacts {
  std::uint64_t n_rows = 0, n_validation_rows = 0;
  bool has_offset = false, has_callback = false;
};

SharedFacts share_facts(const BoostingRows& training, std::size_t n_rows,
                        std::size_t n_validation_rows, bool has_validation, bool has_callback,
                        const Shards* shards) {
  const bool has_offset = !training.offset.empty();
  SharedFacts facts{n_rows, n_validation_rows, has_offset, has_callback};
  if (shards != nullptr) {
    const std::array<std::uint64_t, 6> own{n_rows,
                                           n_validation_rows,
                                           has_offset ? 1U : 0U,
                                           has_callback ? 1U : 0U,
                                           first_row(shards),
                                           training.table.n_rows};
    const std::vector<std::uint64_t> all = shards->gather(own);
    facts = {};
    std::uint64_t next_row = 0;
    for (auto shard = all.begin(); shard != all.end(); shard += own.size()) {
      facts.n_rows += shard[0];
      facts.n_validation_rows += shard[1];
      facts.has_offset |= shard[2] > 0;
      facts.has_callback |= shard[3] > 0;
      require(shard[4] >= next_row,
              "a shard's first row is among the rows of the shards before it");
      next_row = shard[4] + shard[5];
    }
  }
  require(facts.n_rows > 0 && (!has_validation || facts.n_validation_rows > 0),
          "at least one row of positive weight is needed");
  return facts;
}

// Rows that a mean loss is of, and their weight in all shards.
struct LossRows {
  const Objective& objective;
  std::span<const double> scores;
  std::span<const RowIndex> rows;
  double weight;
};

// The mean of each part over its rows in all shards; `losses`: scratch. The same bits in any order of rows.
std::vector<double> mean_losses(std::span<const LossRows> parts, std::vector<double>& losses,
                                const Context& context) {
  std::vector<std::size_t> ends{0};
  for (const LossRows& part : parts) ends.push_back(ends.back() + part.rows.size());
  losses.resize(ends.back());
  const auto losses_of = [&](std::size_t p) {
    return std::span(losses).subspan(ends[p], parts[p].rows.size());
  };
  std::vector<Magnitude> largest;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const LossRows& part = parts[p];
    parallel_blocks(context.n_threads(), part.rows.size(), kGradientBlockRows,
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                      part.objective.losses(part.scores, part.rows.subspan(begin, end - begin),
                                            losses_of(p).subspan(begin, end - begin));
                    });
    largest.push_back(magnitude_of(losses_of(p)));
  }
  see_all(context.shards(), largest);
  std::vector<ExactSum> sums(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const SumScale scale(largest[p]);
    for (const double loss : losses_of(p)) sums[p].add(scale, loss);
  }
  add_all(context.shards(), std::span(sums));
  std::vector<double> means;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    means.push_back(sums[p].to_real(SumScale(largest[p])) / parts[p].weight);
  }
  return means;
}

// Of a tree. Those of exact trees do not matter: they are grown on uniform samples.
std::int64_t most_leaves(const TreeGrowth& trees) {
  const auto* growth = std::get_if<HistogramOptions>(&trees);
  if (growth == nullptr) return 1;
  const std::int64_t of_depth = std::int64_t{1} << std::min(growth->max_depth, 62);
  return std::min(growth->max_leaf_nodes, of_depth);
}

class Boosting {
 public:
  Boosting(const BoostingRows& training, const BoostingRows* validation,
           const BoostingOptions& options, TreeEnsemble so_far, const BoostingCallback& callback,
           const Context& context);

  Boosted run();

 private:
  TreeEnsemble begun(TreeEnsemble so_far);
  void check() const;

  void boost_rounds();
  bool report_round() const;
  void grow_round();
  void add_dropped(double factor);
  void share_with_dropped();
  void prepare();
  bool computes_blocks() const;
  void find_gradients();
  void draw_rows();
  // Unless the leaves of all scored rows are found from codes.
  bool leaves_are_added() const { return by_codes_.size() < scored_.size(); }
  void grow_tree(std::size_t output, int worker);
  void grow_shared_tree();
  LeafRows find_leaf_rows(const TreeArrays& tree, const BinnedDataset& table,
                          std::span<const RowIndex> rows) const;
  void shrink(TreeArrays& tree, std::size_t output) const;
  void set_leaf_values(std::size_t output, const LeafRows& leaves, TreeArrays& tree) const;
  // A sample whose rows have weights does not determine a leaf's best step: all its rows do.
  bool steps_need_all() const { return objective_.has_exact_leaf_step() && sampling_.weighs(); }
  LeafRows with_all_rows(const TreeArrays& tree, const LeafRows& of_sample) const;
  LinearLeaves linear_leaves_of(std::size_t output, const LeafRows& leaves,
                                const TreeArrays& tree) const;
  void check_linear_leaves() const;
  void check_shards() const;
  void check_history() const;
  Derivatives derivatives(std::size_t output) const;
  bool is_exact() const { return std::holds_alternative<ExactGrowth>(options_.trees); }

  bool tracks_bags() const {
    return options_.records_training && !sampling_.takes_all() && !sampling_.weighs();
  }
  bool has_history() const { return !history_.training.empty() || !history_.validation.empty(); }
  void record();
  void record_bags();
  bool has_stalled() const;
  std::span<const double> watched() const {
    return validation_ != nullptr ? history_.validation : history_.training;
  }
  std::span<const double> validation_scores() const {
    return validation_ == nullptr    ? std::span<const double>()
           : other_table_ != nullptr ? other_table_->all()
                                     : scores_.all();
  }
  std::int64_t first_recorded_round() const {
    return n_recorded_ == 0 ? n_whole_rounds_
                            : n_whole_rounds_ - static_cast<std::int64_t>(n_recorded_) + 1;
  }
  Boosted finished();
  Boosted unfinished();

  const BoostingRows& training_;
  const BoostingRows* const validation_;
  const BoostingOptions options_;
  const BoostingCallback& callback_;
  const Context& context_;
  Objective& objective_;
  const std::size_t n_outputs_;
  const CheckedRows learned_rows_, checked_validation_;
  const std::span<const RowIndex> rows_, validation_rows_;  // of training, of validation
  const SharedFacts facts_;
  const SamplingOptions sampling_;

  std::optional<ScoreGrid> grid_;  // with DART
  TreeEnsemble ensemble_;
  const std::int64_t first_round_;
  BoostingHistory history_;
  std::int64_t n_whole_rounds_;  // with all their losses
  std::size_t n_recorded_ = 0;   // losses up to the last of these
  std::unique_ptr<BoostedTrees> trees_;
  std::unique_ptr<VectorGrower> shared_trees_;  // in place of those
  GradientSketch sketch_;
  RowSampler sampler_;
  std::vector<RowIndex> both_;        // rows of the training table, for training or validation
  std::span<const RowIndex> scored_;  // those whose scores are kept up to date
  BoostedScores scores_;
  std::unique_ptr<BoostedScores> other_table_;  // scores of a validation table of its own

  // Of the round at hand.
  bool is_prepared_ = false;  // the objective has seen the scores as they are
  std::vector<DerivativeMagnitudes>
      largest_;                             // of each output's derivatives, before rows are drawn
  std::vector<double> gradient_, hessian_;  // or none,
  std::vector<ComputedDerivatives> computed_;  // but these, of each output
  std::span<const RowIndex> sample_;
  std::vector<RowIndex> others_;        // scored rows outside the leaves, if it is those
  std::span<const RowIndex> by_codes_;  // scored rows whose leaves are found from codes
  std::vector<LeafRows> leaves_;        // one a worker
  std::vector<std::size_t> dropped_;    // earlier rounds that are left out
  std::vector<Tree> dropped_trees_;     // theirs as they were; with shards
  double learning_rate_ = 1.0;          // of this round
  std::vector<TreeArrays> grown_;
  std::vector<LinearLeaves> grown_linear_;                           // one a tree
  std::vector<double> losses_;                                       // of single rows
  double weight_ = kNotRecorded, validation_weight_ = kNotRecorded;  // once they are known
};

Boosting::Boosting(const BoostingRows& training, const BoostingRows* validation,
                   const BoostingOptions& options, TreeEnsemble so_far,
                   const BoostingCallback& callback, const Context& context)
    : training_(training),
      validation_(validation),
      options_(options),
      callback_(callback),
      context_(context),
      objective_(training.objective),
      n_outputs_(training.objective.n_outputs()),
      learned_rows_(training),
      checked_validation_(validation != nullptr ? CheckedRows(*validation) : CheckedRows()),
      rows_(learned_rows_),
      validation_rows_(checked_validation_),
      facts_(share_facts(training, rows_.size(), validation_rows_.size(), validation != nullptr,
                         callback != nullptr, context.shards())),
      sampling_(resolve(options.sampling, facts_.n_rows, most_leaves(options.trees))),
      ensemble_(begun(std::move(so_far))),
      first_round_(static_cast<std::int64_t>(ensemble_.n_rounds())),
      history_(options.history != nullptr ? *options.history : BoostingHistory{}),
      n_whole_rounds_(first_round_),
      n_recorded_(std::max(history_.training.size(), history_.validation.size())),
      sketch_(options.sketch, context),
      sampler_(sampling_, rows_, training.table.n_rows, context),
      scored_(rows_),
      scores_(training.table, ensemble_.start, training.offset),
      grown_(n_outputs_),
      grown_linear_(n_outputs_) {
  check();
  // One output after the other where shards wait for each other.
  const int n_workers =
      context.shards() != nullptr ? 1 : std::min(context.n_threads(), static_cast<int>(n_outputs_));
  if (options_.replayed != nullptr) {
    trees_ = make_refit_trees(training.table, *options_.replayed, options_.trees, context);
  } else if (options_.shares_trees) {
    shared_trees_ =
        std::make_unique<VectorGrower>(training.table, std::get<HistogramOptions>(options_.trees),
                                       options_.sketch.n_searched(n_outputs_), context);
  } else {
    trees_ = make_trees(training.table, options_.trees, n_workers, context);
  }
  leaves_.resize(static_cast<std::size_t>(n_workers));
  for (std::size_t k = 0; k < n_outputs_ && computes_blocks(); ++k) {
    computed_.push_back({training.table.n_rows, !objective_.has_unit_hessian(),
                         [this, k](std::size_t begin, std::size_t end, std::span<double> gradient,
                                   std::span<double> hessian) {
                           objective_.block_gradients(k, scores_.all(), begin, end, gradient,
                                                      hessian);
                         }});
  }

  if (validation != nullptr && &validation->table == &training.table) {
    std::set_union(rows_.begin(), rows_.end(), validation_rows_.begin(), validation_rows_.end(),
                   std::back_inserter(both_));
    scored_ = both_;
  } else if (validation != nullptr) {
    other_table_ =
        std::make_unique<BoostedScores>(validation->table, ensemble_.start, validation->offset);
    other_table_->add(ensemble_, validation_rows_, context);
  }
  scores_.add(ensemble_, scored_, context);
}

TreeEnsemble Boosting::begun(TreeEnsemble so_far) {
  const bool is_new = so_far.start.empty();
  if (is_new && !facts_.has_offset) {
    so_far.start = objective_.start(rows_);
  } else if (is_new) {
    so_far.start.resize(n_outputs_);
  }
  if (options_.dart.is_on()) {
    const bool is_on_grid = !so_far.trees.empty() || options_.history != nullptr;
    grid_ = is_on_grid ? ScoreGrid(so_far.start)
                       : ScoreGrid(objective_, rows_, context_.shards(), so_far.start);
  }
  return so_far;
}

void Boosting::check() const {
  require(validation_ == nullptr || validation_->objective.n_outputs() == n_outputs_,
          "the training and validation losses differ in their number of outputs");
  require(ensemble_.n_outputs() == n_outputs_,
          "the ensemble to continue and the loss differ in their number of outputs");
  require(options_.n_rounds >= first_round_, "the ensemble to continue has more rounds already");
  require(options_.n_rounds * static_cast<std::int64_t>(n_outputs_) <= kMostBoostedTrees,
          "at most 2^24 trees can be grown");
  require(!is_exact() || !options_.sampling.weighs(),
          "exact trees are grown on uniform samples only");
  require(options_.replayed == nullptr || !options_.dart.is_on(),
          "trees of DART have weights of their own: they keep their values");
  require(!options_.dart.is_on() || options_.patience < 0,
          "DART changes the trees of earlier rounds: there is no round to go back to");
  require(!options_.dart.is_on() || ensemble_.linear.empty(),
          "DART cannot drop trees with linear leaves");
  require(!options_.shares_trees || (!is_exact() && !objective_.has_exact_leaf_step()),
          "trees that outputs share are grown from histograms, for losses with second derivatives");
  require(!options_.shares_trees || !options_.linear.is_on,
          "trees that outputs share have constant leaves");
  if (options_.linear.is_on) check_linear_leaves();
  if (context_.shards() != nullptr) check_shards();
  check_history();
}

void Boosting::check_shards() const {
  require(!is_exact(), "exact trees sort the rows of a whole table: shards of one need histograms");
}

void Boosting::check_history() const {
  const std::size_t n = n_recorded_;
  const auto fits = [n](const std::vector<double>& losses) {
    return losses.empty() || losses.size() == n;
  };
  require(fits(history_.training) && fits(history_.validation) &&
              n <= static_cast<std::size_t>(first_round_) + 1 &&
              history_.in_bag.size() == history_.out_of_bag.size() &&
              history_.in_bag.size() <= std::max<std::size_t>(n, 1),
          "the losses so far are not those of the ensemble to continue");
}

void Boosting::check_linear_leaves() const {
  const auto* growth = std::get_if<HistogramOptions>(&options_.trees);
  require(growth != nullptr, "exact trees have constant leaves");
  require(!options_.dart.is_on(), "DART cannot drop trees with linear leaves");
  require(!objective_.has_exact_leaf_step(),
          "the loss has no second derivatives that linear leaves could be fitted by");
  require(std::all_of(growth->monotonic.begin(), growth->monotonic.end(),
                      [](std::int8_t direction) { return direction == 0; }),
          "linear leaves would not keep monotonic constraints");
  require(growth->l1 == 0.0 && growth->max_delta_step == 0.0,
          "linear leaves support neither l1 nor max_delta_step");
  require(options_.linear.slope_l2 >= 0.0, "the penalty of slopes is negative");
}

Boosted Boosting::run() {
  try {
    boost_rounds();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::shard_lost) throw;
    return unfinished();
  }
  return finished();
}

void Boosting::boost_rounds() {
  if (!has_history()) {
    prepare();
    record();
  }
  if (report_round() || (first_round_ > 0 && options_.history != nullptr && has_stalled())) return;
  for (std::int64_t round = first_round_; round < options_.n_rounds; ++round) {
    context_.check();
    grow_round();
    record();
    n_whole_rounds_ = round + 1;
    if (report_round() || has_stalled()) break;
  }
}

bool Boosting::report_round() const {
  const auto last = [](const std::vector<double>& losses) {
    return losses.empty() ? kNotRecorded : losses.back();
  };
  const bool stops = callback_ && callback_({static_cast<std::int64_t>(ensemble_.n_rounds()),
                                             last(history_.training), last(history_.validation),
                                             validation_scores()});
  return facts_.has_callback && is_any(context_.shards(), stops);
}

void Boosting::grow_round() {
  dropped_ = draw_dropped(options_.dart, ensemble_.n_rounds(), context_.seed());
  learning_rate_ = share_of_new(options_.learning_rate, dropped_.size());
  is_prepared_ &= dropped_.empty();
  add_dropped(-1.0);
  find_gradients();
  draw_rows();
  const bool is_first = ensemble_.n_rounds() == static_cast<std::size_t>(first_round_);
  if (is_first && tracks_bags() && history_.in_bag.empty()) record_bags();
  if (shared_trees_ != nullptr) {
    grow_shared_tree();
  } else {
    // Outputs side by side; one output alone uses the threads within its tree.
    parallel_for(static_cast<int>(leaves_.size()), n_outputs_,
                 [&](std::size_t output, int worker) { grow_tree(output, worker); });
  }
  for (std::size_t k = 0; k < n_outputs_; ++k) {
    add_tree(ensemble_, Tree(std::move(grown_[k])), grown_linear_[k]);
  }
  share_with_dropped();
  add_dropped(1.0);
  is_prepared_ = false;
  if (tracks_bags()) record_bags();
}

// Adds the trees of the dropped rounds to all scores; a factor of -1 takes them out.
void Boosting::add_dropped(double factor) {
  for (const std::size_t round : dropped_) {
    for (std::size_t k = 0; k < n_outputs_; ++k) {
      const TreeArrays& tree = ensemble_.trees[round * n_outputs_ + k].arrays();
      scores_.add(tree, {}, k, scored_, context_, factor);
      if (other_table_ != nullptr)
        other_table_->add(tree, {}, k, validation_rows_, context_, factor);
    }
  }
}

void Boosting::share_with_dropped() {
  const double share = share_of_dropped(options_.learning_rate, dropped_.size());
  dropped_trees_.clear();
  for (const std::size_t round : dropped_) {
    for (std::size_t k = 0; k < n_outputs_; ++k) {
      Tree& tree = ensemble_.trees[round * n_outputs_ + k];
      TreeArrays arrays = tree.arrays();
      if (context_.shards() != nullptr) dropped_trees_.push_back(tree);
      for (double& value : arrays.value) value = grid_->nearest(share * value);
      tree = Tree(std::move(arrays));
    }
  }
}

// Once for each state of the scores.
void Boosting::prepare() {
  if (!is_prepared_) {
    const auto round = static_cast<std::uint32_t>(ensemble_.n_rounds());
    objective_.prepare(scores_.all(), rows_, round, context_);
  }
  is_prepared_ = true;
}

// Whether derivatives are computed wherever they are read: of a table that is larger than memory, arrays of them
// would be the largest, and reading its codes takes far longer.
bool Boosting::computes_blocks() const {
  return training_.table.mapped != nullptr && !is_exact() && !options_.shares_trees &&
         options_.replayed == nullptr && !options_.linear.is_on && sampling_.takes_all() &&
         objective_.has_block_gradients();
}

void Boosting::find_gradients() {
  prepare();
  if (!computed_.empty()) return;
  const std::size_t n_rows = training_.table.n_rows;
  reserve_large(gradient_, n_rows * n_outputs_);
  gradient_.resize(n_rows * n_outputs_);
  if (!objective_.has_unit_hessian()) {
    reserve_large(hessian_, gradient_.size());
    hessian_.resize(gradient_.size());
  }
  // Their magnitudes are seen while they are near.
  std::vector<DerivativeMagnitudes> parts(n_outputs_ * (n_rows / kGradientBlockRows + 1));
  const auto largest = [](const std::vector<double>& all, std::size_t begin, std::size_t end) {
    Magnitude magnitude;
    if (!all.empty()) {
      magnitude.see_bits(kernels().histograms.largest(all.data() + begin, end - begin));
    }
    return magnitude;
  };
  parallel_blocks(context_.n_threads(), n_rows, kGradientBlockRows,
                  [&](std::size_t block, std::size_t begin, std::size_t end) {
                    context_.check();
                    objective_.gradients(scores_.all(), begin, end, gradient_, hessian_);
                    for (std::size_t k = 0; k < n_outputs_; ++k) {
                      const std::size_t first = k * n_rows;
                      parts[block * n_outputs_ + k] = {
                          largest(gradient_, first + begin, first + end),
                          largest(hessian_, first + begin, first + end)};
                    }
                  });
  largest_.assign(n_outputs_, {});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    largest_[i % n_outputs_].gradient.see(parts[i].gradient);
    largest_[i % n_outputs_].hessian.see(parts[i].hessian);
  }
}

void Boosting::draw_rows() {
  sample_ = sampler_.draw(static_cast<std::uint32_t>(ensemble_.n_rounds()), gradient_, hessian_);
  const std::span<const RowIndex> in_leaves = steps_need_all() ? rows_ : sample_;
  by_codes_ = {};
  if (in_leaves.size() == scored_.size()) return;
  by_codes_ = scored_;
  if (kScoredAtOnce * in_leaves.size() <= scored_.size()) return;
  others_.clear();
  std::set_difference(scored_.begin(), scored_.end(), in_leaves.begin(), in_leaves.end(),
                      std::back_inserter(others_));
  by_codes_ = others_;
}

Derivatives Boosting::derivatives(std::size_t output) const {
  const std::size_t n_rows = training_.table.n_rows;
  const auto part = [&](std::span<const double> all) {
    return all.empty() ? all : all.subspan(output * n_rows, n_rows);
  };
  // Samplers weigh the derivatives of the rows that they draw.
  const bool is_known = sampling_.takes_all() && !largest_.empty();
  return {{part(gradient_), part(hessian_), computed_.empty() ? nullptr : &computed_[output],
           is_known ? &largest_[output] : nullptr},
          training_.weight};
}

void Boosting::grow_tree(std::size_t output, int worker) {
  LeafRows& leaves = leaves_[static_cast<std::size_t>(worker)];
  const auto number = static_cast<std::uint32_t>(ensemble_.trees.size() + output);
  TreeArrays tree = trees_->grow(sample_, derivatives(output), number, worker, leaves);
  if (steps_need_all()) leaves = with_all_rows(tree, leaves);
  LinearLeaves linear = linear_leaves_of(output, leaves, tree);
  scale(linear, learning_rate_);
  set_leaf_values(output, leaves, tree);
  shrink(tree, output);
  if (leaves_are_added()) scores_.add(tree, linear, output, leaves, context_);
  scores_.add(tree, linear, output, by_codes_, context_);
  if (other_table_ != nullptr) other_table_->add(tree, linear, output, validation_rows_, context_);
  grown_[output] = std::move(tree);
  grown_linear_[output] = std::move(linear);
}

void Boosting::shrink(TreeArrays& tree, std::size_t output) const {
  for (double& value : tree.value) {
    value = objective_.step(output, value) * learning_rate_;
    if (grid_) value = grid_->nearest(value);
  }
  require(
      std::all_of(tree.value.begin(), tree.value.end(), [](double v) { return std::isfinite(v); }),
      "scores grew beyond float64: lower the learning rate, or divide the target by a constant");
}

// The leaf of a row is the same for all outputs: it is found once.
void Boosting::grow_shared_tree() {
  const VectorDerivatives all{n_outputs_, gradient_, hessian_};
  const auto round = static_cast<std::uint32_t>(ensemble_.n_rounds());
  LeafRows& leaves = leaves_.front();
  grown_ = shared_trees_->grow(sample_, sketch_.draw(round, sample_, all), all,
                               static_cast<std::uint32_t>(ensemble_.trees.size()), leaves);
  const LeafRows others = find_leaf_rows(grown_.front(), training_.table, by_codes_);
  LeafRows of_validation;
  if (other_table_ != nullptr) {
    of_validation = find_leaf_rows(grown_.front(), other_table_->table(), validation_rows_);
  }
  parallel_for(context_.n_threads(), n_outputs_, [&](std::size_t k, int) {
    const Context alone = context_.of_one_task();
    shrink(grown_[k], k);
    if (leaves_are_added()) scores_.add(grown_[k], {}, k, leaves, alone);
    scores_.add(grown_[k], {}, k, others, alone);
    if (other_table_ != nullptr) other_table_->add(grown_[k], {}, k, of_validation, alone);
  });
}

LeafRows Boosting::find_leaf_rows(const TreeArrays& tree, const BinnedDataset& table,
                                  std::span<const RowIndex> rows) const {
  std::vector<NodeIndex> leaf(rows.size());
  find_leaves(CodeTree(tree, table), rows, context_, leaf);
  return group_by_leaf(tree, rows, leaf);
}

LinearLeaves Boosting::linear_leaves_of(std::size_t output, const LeafRows& leaves,
                                        const TreeArrays& tree) const {
  if (!options_.linear.is_on) return {};
  const Derivatives of_output = derivatives(output);
  return fit_linear_leaves(training_.table, tree, leaves, of_output.gradient, of_output.hessian,
                           std::get<HistogramOptions>(options_.trees).l2, options_.linear.slope_l2,
                           context_);
}

LeafRows Boosting::with_all_rows(const TreeArrays& tree, const LeafRows& of_sample) const {
  LeafRows all = find_leaf_rows(tree, training_.table, rows_);
  std::vector<const LeafRows::Leaf*> known(tree.right.size());
  for (const auto& some : of_sample.leaves) known[static_cast<std::size_t>(some.node)] = &some;
  for (auto& whole : all.leaves) {
    whole.lower = known[static_cast<std::size_t>(whole.node)]->lower;
    whole.upper = known[static_cast<std::size_t>(whole.node)]->upper;
  }
  return all;
}

void Boosting::set_leaf_values(std::size_t output, const LeafRows& leaves, TreeArrays& tree) const {
  if (objective_.has_exact_leaf_step()) {
    const auto* growth = std::get_if<HistogramOptions>(&options_.trees);
    const double limit = growth != nullptr ? growth->max_delta_step : 0.0;
    set_best_steps(objective_, scores_.all(), output, limit, leaves, context_, tree);
  } else if (is_exact()) {
    const auto k = static_cast<double>(n_outputs_);
    const double factor = n_outputs_ > 1 ? (k - 1.0) / k : 1.0;
    const Derivatives of_output = derivatives(output);
    set_newton_steps(of_output.gradient, of_output.hessian, factor, leaves, context_, tree);
  }
}

void Boosting::record() {
  std::vector<LossRows> parts;
  if (options_.records_training) {
    if (std::isnan(weight_)) weight_ = objective_.total_weight(rows_);
    parts.push_back({objective_, scores_.all(), rows_, weight_});
  }
  if (validation_ != nullptr) {
    Objective& objective = validation_->objective;
    if (other_table_ != nullptr) objective.prepare_as(objective_);
    if (std::isnan(validation_weight_)) {
      validation_weight_ = objective.total_weight(validation_rows_);
    }
    parts.push_back({objective, validation_scores(), validation_rows_, validation_weight_});
  }
  if (parts.empty()) return;
  const std::vector<double> means = mean_losses(parts, losses_, context_);
  if (options_.records_training) history_.training.push_back(means.front());
  if (validation_ != nullptr) history_.validation.push_back(means.back());
  n_recorded_ = std::max(history_.training.size(), history_.validation.size());
}

void Boosting::record_bags() {
  std::vector<RowIndex> outside;
  std::set_difference(rows_.begin(), rows_.end(), sample_.begin(), sample_.end(),
                      std::back_inserter(outside));
  const std::array parts{
      LossRows{objective_, scores_.all(), sample_, objective_.total_weight(sample_)},
      LossRows{objective_, scores_.all(), outside, objective_.total_weight(outside)}};
  const std::vector<double> means = mean_losses(parts, losses_, context_);
  history_.in_bag.push_back(means[0]);
  history_.out_of_bag.push_back(means[1]);
}

bool Boosting::has_stalled() const {
  return options_.patience >= 0 &&
         arboleda::has_stalled(watched(), options_.patience, options_.tolerance);
}

Boosted Boosting::finished() {
  auto best = static_cast<std::int64_t>(ensemble_.n_rounds());
  if (!watched().empty() && (validation_ != nullptr || options_.patience >= 0)) {
    best = first_recorded_round() + best_round(watched());
  }
  if (options_.patience >= 0) {
    truncate(ensemble_, static_cast<std::size_t>(best));
  }
  return {std::move(ensemble_), std::move(history_), best};
}

// The last whole round: trees that were added since are taken back, and those they were shared with are
// again as they were.
Boosted Boosting::unfinished() {
  if (static_cast<std::int64_t>(ensemble_.n_rounds()) > n_whole_rounds_) {
    auto tree = dropped_trees_.begin();
    for (const std::size_t round : dropped_) {
      for (std::size_t k = 0; k < n_outputs_; ++k, ++tree) {
        ensemble_.trees[round * n_outputs_ + k] = std::move(*tree);
      }
    }
    truncate(ensemble_, static_cast<std::size_t>(n_whole_rounds_));
  }
  const auto keep = [](std::vector<double>& losses, std::size_t n) {
    losses.resize(std::min(losses.size(), n));
  };
  keep(history_.training, n_recorded_);
  keep(history_.validation, n_recorded_);
  // Before the first round, and after each.
  const auto n_bags =
      std::min(history_.out_of_bag.size(),
               static_cast<std::size_t>(n_whole_rounds_ - first_recorded_round()) + 1);
  keep(history_.in_bag, n_bags);
  keep(history_.out_of_bag, n_bags);
  return {std::move(ensemble_), std::move(history_), n_whole_rounds_, false};
}

}  // namespace

Boosted boost(const BoostingRows& training, const BoostingRows* validation,
              const BoostingOptions& options, TreeEnsemble so_far, const BoostingCallback& callback,
              const Context& context) {
  return Boosting(training, validation, options, std::move(so_far), callback, context).run();
}

}  // namespace arboleda
