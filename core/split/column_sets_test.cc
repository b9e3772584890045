#include "split/column_sets.h"

#include <doctest/doctest.h>

#include <set>

#include "split/feature_draw.h"

namespace arboleda {

TEST_CASE("a set that others share does not change under them") {
  ColumnSets sets(130);
  const ColumnSets::Id all = sets.make({0, 63, 64, 128, 129});
  const ColumnSets::Id same = sets.share(all);
  const ColumnSets::Id fewer = sets.without(same, 64);
  std::vector<FeatureIndex> columns;
  sets.list(all, columns);
  CHECK(columns == std::vector<FeatureIndex>{0, 63, 64, 128, 129});
  sets.list(fewer, columns);
  CHECK(columns == std::vector<FeatureIndex>{0, 63, 128, 129});
  CHECK(sets.without(fewer, 129) == fewer);  // its only user changes it in place
  CHECK(!sets.has(fewer, 129));
  CHECK(sets.has(all, 129));

  sets.release(all);  // its place is taken by the next set, empty at first
  const ColumnSets::Id next = sets.make({5});
  CHECK(next == all);
  sets.list(next, columns);
  CHECK(columns == std::vector<FeatureIndex>{5});

  ColumnSets others(130);
  others.list(others.copy_of(sets, fewer), columns);
  CHECK(columns == std::vector<FeatureIndex>{0, 63, 128});
}

TEST_CASE("what is drawn depends on the stream alone, and every order is as likely") {
  FeatureDraw draw({3, 5, 8});
  std::vector<std::size_t> n_first(9);
  for (std::uint64_t node = 0; node < 3000; ++node) {
    const auto first_of = [&](std::size_t n, FeatureDraw& from) {
      QuickStream random(QuickStream::root(7, Purpose::feature_subset, 2), node);
      std::vector<FeatureIndex> drawn;
      while (drawn.size() < n) drawn.push_back(from.next(random));
      from.put_back();
      return drawn;
    };
    FeatureDraw fresh({3, 5, 8});
    const std::vector<FeatureIndex> drawn = first_of(2, draw);
    std::vector<FeatureIndex> again = first_of(3, fresh);
    CHECK(std::set<FeatureIndex>(again.begin(), again.end()) == std::set<FeatureIndex>{3, 5, 8});
    again.resize(2);
    CHECK(drawn == again);
    ++n_first[static_cast<std::size_t>(drawn[0])];
  }
  for (const std::size_t f : {3, 5, 8}) {  // 1000 of 3000, give or take five standard deviations
    CHECK(n_first[f] > 870);
    CHECK(n_first[f] < 1130);
  }
}

}  // namespace arboleda
