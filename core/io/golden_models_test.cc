// The golden models of every released version (tests/golden) load, predict and are written again with
// the same bits, whatever compiler and machine built the engine. What is stored beside a model was
// predicted in Python on x86-64; that Python still predicts it is tested there.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "io/checksum.h"
#include "io/fuzzing.h"
#include "io/json_value.h"
#include "io/linear_arrays.h"
#include "predict/ensemble.h"
#include "predict/forest.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Bytes read_bytes(const fs::path& path) {
  Bytes bytes;
  append_text(bytes, read_text(path));
  return bytes;
}

// Files with this ending, of all versions.
std::vector<fs::path> golden_files(const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(ARBOLEDA_GOLDEN_MODELS)) {
    if (entry.path().extension() == ending) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const NamedArray& find_array(const ModelFile& model, const std::string& name) {
  const auto found = std::find_if(model.arrays.begin(), model.arrays.end(),
                                  [&](const NamedArray& array) { return array.name == name; });
  require(found != model.arrays.end(), "an array is missing");
  return *found;
}

const std::vector<double>& doubles(const NamedArray& array) {
  return std::get<std::vector<double>>(array.numbers);
}

// The rows of a table in JSON as columns of numbers: categories as their levels' numbers, or as the
// statistics that the model keeps of them; one that is no level goes where missing values go.
class GoldenTable {
 public:
  GoldenTable(const JsonValue& rows, const JsonValue& header, const ModelFile& model)
      : columns_(rows.items.at(0).items.size()) {
    const JsonValue* columns = header.find("columns");
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      for (const JsonValue& row : rows.items) {
        const JsonValue& cell = row.items[j];
        columns_[j].push_back(cell.is_text ? level(columns->items.at(j), cell.text) : cell.number);
      }
    }
    const JsonValue* statistics = header.at("fitted").find("statistics_");
    if (statistics == nullptr) return;
    std::size_t first = 0;
    for (std::size_t k = 0; k < statistics->at("columns").items.size(); ++k) {
      const auto column = static_cast<std::size_t>(statistics->at("columns").items[k].number);
      const auto size = static_cast<std::size_t>(statistics->at("sizes").items[k].number);
      for (double& x : columns_[column]) {
        const std::size_t place = x == x ? static_cast<std::size_t>(x) : size - 1;
        x = doubles(find_array(model, "statistics_")).at(first + place);
      }
      first += size;
    }
  }

  TableView view() const {
    TableView table;
    table.n_rows = columns_.at(0).size();
    for (const std::vector<double>& column : columns_) {
      table.columns.push_back(
          {reinterpret_cast<const std::byte*>(column.data()), sizeof(double), DType::float64});
    }
    return table;
  }

 private:
  static double level(const JsonValue& column, const std::string& name) {
    const std::vector<JsonValue>& levels = column.at("levels").items;
    const auto found = std::find_if(levels.begin(), levels.end(),
                                    [&](const JsonValue& level) { return level.text == name; });
    return found == levels.end() ? std::nan("") : static_cast<double>(found - levels.begin());
  }

  std::vector<std::vector<double>> columns_;
};

template <class T>
std::vector<double> as_doubles(const std::vector<T>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Bit by bit, and the place of the first difference.
void check_same(const std::vector<double>& predicted, const std::vector<double>& expected) {
  REQUIRE(predicted.size() == expected.size());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    CAPTURE(i);
    REQUIRE(std::bit_cast<std::uint64_t>(predicted[i]) ==
            std::bit_cast<std::uint64_t>(expected[i]));
  }
}

void check_tree(const Tree& tree, const TableView& table, const JsonValue& expected) {
  std::vector<NodeIndex> leaves(table.n_rows);
  apply_tree(tree, table, Context(), leaves);
  check_same(as_doubles(leaves), expected.at("apply").numbers());
  const auto width = static_cast<std::size_t>(tree.arrays().n_outputs);
  std::vector<double> values(table.n_rows * width);
  predict_tree(tree, table, Context(), values);
  const JsonValue* shares = expected.find("predict_proba");
  if (shares == nullptr) return check_same(values, expected.at("predict").numbers());
  if (shares->items.size() == table.n_rows) return check_same(values, shares->numbers());
  // Of several targets: those of each by themselves.
  std::vector<double> joined;
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    for (const JsonValue& target : shares->items) {
      const std::vector<double> own = target.items.at(row).numbers();
      joined.insert(joined.end(), own.begin(), own.end());
    }
  }
  check_same(values, joined);
}

TreeEnsemble ensemble_of(const ModelFile& model) {
  std::vector<NamedArray> linear;
  const std::string prefix = "ensemble_.";
  for (const std::string name : {"linear.start", "linear.intercept", "linear.feature",
                                 "linear.coefficient", "linear.low", "linear.high"}) {
    const auto is_named = [&](const NamedArray& array) { return array.name == prefix + name; };
    if (std::none_of(model.arrays.begin(), model.arrays.end(), is_named)) continue;
    linear.push_back(find_array(model, prefix + name));
    linear.back().name = name;
  }
  return {doubles(find_array(model, prefix + "start")), model.trees,
          to_linear_leaves(std::move(linear))};
}

void check_ensemble(const ModelFile& model, const TableView& table, const JsonValue& expected) {
  const TreeEnsemble ensemble = ensemble_of(model);
  check_same(as_doubles(apply_ensemble(ensemble, table, Context())),
             expected.at("apply").numbers());
  const JsonValue* scores = expected.find("decision_function");
  check_same(predict_scores(ensemble, table, Context()),
             (scores != nullptr ? *scores : expected.at("predict")).numbers());
}

// SAMME: votes of 1 for a class and -1 / (K - 1) for the others, divided by the total weight.
void check_members(const ModelFile& model, const TableView& table, const JsonValue& expected) {
  const std::vector<double>& weights = doubles(find_array(model, "_members.weight"));
  const MemberVotes votes(model.forests.at(0), MemberVote::largest, weights, 1);
  std::vector<double> scores = member_scores(model.forests[0], votes, table, Context());
  double total = 0.0;
  for (const double weight : weights) total += weight;
  const double others = static_cast<double>(votes.n_outputs()) - 1.0;
  for (double& score : scores) score = (score - (total - score) / others) / total;
  check_same(scores, expected.at("decision_function").numbers());
}

}  // namespace

TEST_CASE("golden models: files of all versions are read, used and written with the same bytes") {
  const std::vector<fs::path> files = golden_files(".arboleda");
  REQUIRE(files.size() >= 26);
  for (const fs::path& path : files) {
    CAPTURE(path.string());
    CHECK_FALSE(fuzzing::load_and_use(read_bytes(path)).empty());
  }
}

TEST_CASE("golden models: predictions have the same bits on every machine") {
  for (const fs::path& path : golden_files(".arboleda")) {
    CAPTURE(path.string());
    const ModelFile model = read_model(read_bytes(path));
    const JsonValue header = JsonReader(model.header).read();
    const JsonValue expected =
        JsonReader(read_text(fs::path(path).replace_extension("json"))).read();
    const GoldenTable table(expected.at("table"), header, model);
    const JsonValue& fitted = header.at("fitted");
    if (fitted.find("tree_") != nullptr) {
      check_tree(model.trees.at(0), table.view(), expected);
    } else if (fitted.find("ensemble_") != nullptr) {
      check_ensemble(model, table.view(), expected);
    } else if (fitted.find("_members") != nullptr) {
      check_members(model, table.view(), expected);
    } else {
      // A combination, which NumPy computes from its members; those are a tree, a tree and a forest.
      REQUIRE(path.stem() == "combined");
      Bytes members;
      for (const Tree& tree : model.trees) append(members, fuzzing::use_tree(tree));
      append(members, fuzzing::use_forest(model.forests.at(0)));
      CHECK(crc32c(members) == 0xb325dd20);
    }
  }
}

TEST_CASE("golden models: forests vote the same on every machine") {
  const std::vector<fs::path> files = golden_files(".forest");
  REQUIRE(files.size() >= 2);
  for (const fs::path& path : files) {
    CAPTURE(path.string());
    const ModelFile model = read_model(read_bytes(path));
    const Forest& forest = model.forests.at(0);
    CHECK(write_model(model.header, {}, model.arrays, {&forest}) == read_bytes(path));
    const JsonValue expected =
        JsonReader(read_text(fs::path(path).replace_extension("json"))).read();
    JsonValue header;
    header.keys = {"fitted"};
    header.items.resize(1);
    const GoldenTable rows(expected.at("table"), header, model);
    const TableView table = rows.view();
    const std::vector<std::size_t> n_classes{static_cast<std::size_t>(forest.n_outputs)};
    for (const auto& way :
         {std::pair{"soft", Voting::soft}, {"hard", Voting::hard}, {"laplace", Voting::laplace}}) {
      CAPTURE(way.first);
      check_same(mean_votes(forest, Ballot(forest, way.second, n_classes), table, Context()),
                 expected.at(way.first).numbers());
    }
    check_same(as_doubles(apply_forest(forest, table, Context())), expected.at("leaves").numbers());
    check_same(as_doubles(forest.trees[0].row), expected.at("rows").numbers());
    check_same(tree_of(forest, 0).impurity(), expected.at("impurity").numbers());
  }
}

}  // namespace arboleda
