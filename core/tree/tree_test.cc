#include "tree/tree.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "base/error.h"

namespace arboleda {

namespace {

//        0: x0 <= 1.5, missing left
//      /   \               .
//     1     4: x1 <= 0
//   x1<=3  /  \            .
//   / \   5    6
//  2   3
TreeArrays example() {
  TreeArrays a;
  a.n_features = 2;
  a.n_outputs = 1;
  a.feature = {0, 1, -1, -1, 1, -1, -1};
  a.threshold = {1.5, 3, 0, 0, 0, 0, 0};
  a.right = {4, 3, -1, -1, 6, -1, -1};
  a.missing_left = {1, 0, 0, 0, 0, 0, 0};
  a.impurity = {1, 0.5, 0, 0, 0.5, 0, 0};
  a.n_node_samples = {10, 6, 3, 3, 4, 2, 2};
  a.weight = {10, 6, 3, 3, 4, 2, 2};
  a.value = {0, 1, 2, 3, 4, 5, 6};
  return a;
}

}  // namespace

TEST_CASE("shape, depth and importances of a tree drawn by hand") {
  const Tree tree(example());
  CHECK(tree.n_nodes() == 7);
  CHECK(tree.n_leaves() == 4);
  CHECK(tree.depth() == 2);
  CHECK(tree.node_depths() == std::vector<std::int32_t>{0, 1, 2, 2, 1, 2, 2});
  // feature 0: (10*1 - 6*.5 - 4*.5)/10 = .5; feature 1: (6*.5 + 4*.5)/10 = .5
  CHECK(tree.impurity_decrease()[0] == doctest::Approx(0.5));
  CHECK(tree.impurity_decrease()[1] == doctest::Approx(0.5));
  CHECK(tree.child(0, 1.5) == 1);
  CHECK(tree.child(0, 1.6) == 4);
  CHECK(tree.child(0, std::numeric_limits<double>::quiet_NaN()) == 1);
  CHECK(tree.child(1, std::numeric_limits<double>::quiet_NaN()) == 3);
}

TEST_CASE("a single leaf is a tree") {
  TreeArrays a;
  a.n_features = 0;
  a.n_outputs = 1;
  a.feature = {-1};
  a.threshold = {0};
  a.right = {-1};
  a.missing_left = {0};
  a.impurity = {0};
  a.n_node_samples = {1};
  a.weight = {1};
  a.value = {5};
  CHECK(Tree(a).depth() == 0);
}

TEST_CASE("arrays that are not one tree are refused") {
  const std::vector<std::function<void(TreeArrays&)>> damage{
      [](TreeArrays& a) { a.right[0] = 7; },
      [](TreeArrays& a) { a.right[0] = 1; },
      [](TreeArrays& a) { a.right[0] = 0; },
      [](TreeArrays& a) { a.right[0] = 3; },
      [](TreeArrays& a) { a.right[4] = -2; },
      [](TreeArrays& a) { a.right[6] = 5; },
      [](TreeArrays& a) { a.right[1] = -1; },
      [](TreeArrays& a) { a.feature[0] = 2; },
      [](TreeArrays& a) { a.feature[0] = -1; },
      [](TreeArrays& a) { a.feature[2] = 0; },
      [](TreeArrays& a) { a.threshold[0] = std::numeric_limits<double>::quiet_NaN(); },
      [](TreeArrays& a) { a.missing_left[0] = 2; },
      [](TreeArrays& a) { a.missing_left[2] = 1; },
      [](TreeArrays& a) { a.value.pop_back(); },
      [](TreeArrays& a) { a.impurity.push_back(0); },
      [](TreeArrays& a) { a.n_outputs = 0; },
      [](TreeArrays& a) { a.n_outputs = 2; },
      [](TreeArrays& a) { a.impurity[1] = -1; },
      [](TreeArrays& a) { a.impurity[1] = std::numeric_limits<double>::quiet_NaN(); },
      [](TreeArrays& a) { a.weight[1] = 0; },
      [](TreeArrays& a) { a.weight[1] = std::numeric_limits<double>::infinity(); },
      [](TreeArrays& a) { a.n_node_samples[1] = 0; },
      [](TreeArrays& a) { a.value[1] = std::numeric_limits<double>::quiet_NaN(); },
      [](TreeArrays& a) { a.n_features = -1; },
      [](TreeArrays& a) { a = {}; },
      [](TreeArrays& a) {  // a leaf too many at the end
        a.feature.push_back(-1);
        a.threshold.push_back(0);
        a.right.push_back(-1);
        a.missing_left.push_back(0);
        a.impurity.push_back(0);
        a.n_node_samples.push_back(1);
        a.weight.push_back(1);
        a.value.push_back(0);
      },
  };
  for (const auto& harm : damage) {
    TreeArrays a = example();
    harm(a);
    CHECK_THROWS_AS(Tree{a}, Error);
  }
}

namespace {

// Node 0 tests a category: 1 and 4 go left, the others and missing ones right.
TreeArrays with_categories() {
  TreeArrays a = example();
  a.threshold[0] = 0;
  a.missing_left[0] = 0;
  a.category_start = {0, 2, 2, 2, 2, 2, 2, 2};
  a.category = {1, 4};
  return a;
}

void check_refused(const TreeArrays& arrays) { CHECK_THROWS_AS(Tree{arrays}, Error); }

}  // namespace

TEST_CASE("listed categories go the other way than missing values") {
  TreeArrays arrays = with_categories();
  for (const bool missing_left : {false, true}) {
    arrays.missing_left[0] = missing_left;
    const Tree tree(arrays);
    CHECK(tree.is_categorical(0));
    CHECK_FALSE(tree.is_categorical(1));
    const NodeIndex listed = missing_left ? 4 : 1;
    const NodeIndex others = missing_left ? 1 : 4;
    CHECK(tree.child(0, 1) == listed);
    CHECK(tree.child(0, 4) == listed);
    for (const double x :
         {0.0, 2.0, 65534.0, 65535.0, 1e300, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
      CHECK(tree.child(0, x) == others);
    }
  }
}

TEST_CASE("categories that belong to no node, or are not a set, are refused") {
  const TreeArrays good = with_categories();
  auto bad = good;
  bad.category = {4, 1};
  check_refused(bad);
  bad.category = {4, 4};
  check_refused(bad);
  bad = good;
  bad.category_start.pop_back();
  check_refused(bad);
  bad = good;
  bad.category_start.back() = 1;
  check_refused(bad);
  bad = good;
  bad.category_start = {0, 0, 0, 2, 2, 2, 2, 2};  // a leaf
  check_refused(bad);
  bad = good;
  bad.category_start = {0, 3, 2, 2, 2, 2, 2, 2};
  check_refused(bad);
  bad = good;
  bad.category_start.clear();
  check_refused(bad);
  bad = good;
  bad.threshold[0] = 1;
  check_refused(bad);
}

}  // namespace arboleda
