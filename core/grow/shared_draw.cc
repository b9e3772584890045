#include "grow/shared_draw.h"

#include <algorithm>
#include <span>

#include "grow/node_search.h"

namespace arboleda {

SharedDraw::SharedDraw(const GrowthOptions& options, const std::vector<FeatureIndex>& features,
                       std::vector<FeatureIndex> binary, std::uint64_t seed)
    : n_features_(features.size()),
      n_wanted_(options.looks_at_all(static_cast<FeatureIndex>(n_features_))
                    ? n_features_
                    : static_cast<std::size_t>(options.max_features)),
      looks_at_all_(n_wanted_ == n_features_),
      binary_(std::move(binary)),
      draw_(features),
      hits_(n_features_, n_wanted_),
      root_(QuickStream::root(seed, Purpose::feature_subset, options.tree)) {}

std::vector<FeatureIndex> SharedDraw::list(std::uint64_t n_rows,
                                           const std::vector<FeatureIndex>& may_vary,
                                           QuickStream& random) {
  if (looks_at_all_ || draws_hits(n_rows)) return may_vary;
  std::vector<FeatureIndex> drawn;
  for (std::size_t i = 0; i < n_wanted_; ++i) {
    const FeatureIndex feature = draw_.next(random);
    if (std::ranges::binary_search(may_vary, feature)) drawn.push_back(feature);
  }
  draw_.put_back();
  return drawn;
}

bool SharedDraw::search(const CellsOfNode& node, const std::vector<FeatureIndex>& listed,
                        QuickStream& random) const {
  std::vector<FeatureIndex> drawn = listed, rest;
  if (!looks_at_all_ && draws_hits(node.n_rows)) {
    rest = candidates(node, listed);
    const auto n_hits = static_cast<std::ptrdiff_t>(hits_.draw(std::span(rest), random));
    drawn.assign(rest.begin(), rest.begin() + n_hits);
    rest.erase(rest.begin(), rest.begin() + n_hits);
  }
  bool any_varies = false;
  for (const FeatureIndex feature : drawn) any_varies |= node.search(feature);
  if (any_varies || looks_at_all_) return true;
  if (!draws_hits(node.n_rows)) return false;
  draw_on(node, std::move(rest), random);
  return true;
}

void SharedDraw::search_rest(const CellsOfNode& node, const std::vector<FeatureIndex>& may_vary,
                             QuickStream& random) const {
  draw_on(node, candidates(node, may_vary), random);
}

void SharedDraw::draw_on(const CellsOfNode& node, std::vector<FeatureIndex> rest,
                         QuickStream& random) {
  for (bool any_varies = false; !any_varies && !rest.empty();) {
    const std::size_t at = random.below(static_cast<std::uint32_t>(rest.size()));
    any_varies = node.search(std::exchange(rest[at], rest.back()));
    rest.pop_back();
  }
}

bool SharedDraw::draws_hits(std::uint64_t n_rows) const {
  return n_rows <= kFewRows && !binary_.empty() &&
         n_features_ - binary_.size() <= kCandidatesADraw * n_wanted_;
}

bool SharedDraw::is_binary(FeatureIndex feature) const {
  return std::ranges::binary_search(binary_, feature);
}

// In the order of NodeSearch::list_candidates(): binary features last, and those that vary only.
std::vector<FeatureIndex> SharedDraw::candidates(const CellsOfNode& node,
                                                 const std::vector<FeatureIndex>& may_vary) const {
  std::vector<FeatureIndex> listed;
  for (const FeatureIndex feature : may_vary) {
    if (!is_binary(feature)) listed.push_back(feature);
  }
  for (const FeatureIndex feature : may_vary) {
    if (is_binary(feature) && node.varies(feature)) listed.push_back(feature);
  }
  return listed;
}

}  // namespace arboleda
