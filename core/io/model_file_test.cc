#include "io/model_file.h"

#include <doctest/doctest.h>

#include <string>

#include "io/example_models.h"

namespace arboleda {

namespace {

std::string refusal(ByteView file) {
  try {
    read_model(file);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::bad_format);
    return error.what();
  }
  return "accepted";
}

Bytes bytes_of(const std::string& text) {
  Bytes bytes;
  append_text(bytes, text);
  return bytes;
}

}  // namespace

TEST_CASE("a file comes back as its parts, and these give the same bytes") {
  const Bytes file = example_file();
  const ModelFile model = read_model(file);
  CHECK(model.header.starts_with("{\"class\": \"Example\"}\n"));
  REQUIRE(model.trees.size() == 2);
  CHECK(model.trees[1].arrays().category == categorical().arrays().category);
  CHECK(model.trees[1].arrays().category_start == categorical().arrays().category_start);
  CHECK(model.trees[0].arrays().threshold == chain(3).arrays().threshold);
  REQUIRE(model.arrays.size() == 2);
  CHECK(model.arrays[0].shape == std::vector<std::uint64_t>{2, 2});
  CHECK(std::get<std::vector<std::int64_t>>(model.arrays[1].numbers).front() == 9);
  CHECK(write_model(model.header, {&model.trees[0], &model.trees[1]}, model.arrays) == file);
}

TEST_CASE("a file cut anywhere, or with one byte more, is refused") {
  Bytes file = example_file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    CHECK(refusal(ByteView(file).first(size)) != "accepted");
  }
  file.push_back(std::byte{0});
  CHECK(refusal(file).find("bytes follow the end") != std::string::npos);
}

TEST_CASE("one bit changed anywhere is found") {
  Bytes file = example_file();
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      file[i] ^= std::byte{1} << bit;
      CHECK(refusal(file) != "accepted");
      file[i] ^= std::byte{1} << bit;
    }
  }
}

TEST_CASE("other kinds of files are named in the error") {
  const auto is_refused_as = [](const std::string& begin, const std::string& name) {
    const bool is_named = refusal(bytes_of(begin)).find(name) != std::string::npos;
    CHECK_MESSAGE(is_named, refusal(bytes_of(begin)));
  };
  is_refused_as("", "empty");
  is_refused_as("\x80\x04\x95", "pickle");
  is_refused_as("PK\x03\x04", "zip");
  is_refused_as("\x1F\x8B\x08", "gzip");
  is_refused_as("x\x9C", "zlib");
  is_refused_as("BZh9", "bzip2");
  is_refused_as("{\"learner\": 1}", "JSON");
  is_refused_as("hello", "something else");
  is_refused_as(
      "\x89"
      "ARB\n\x1A\n",
      "sent as text");
  is_refused_as(
      "\xEF\xBF\xBD"
      "ARB\r\n\x1A\n",
      "sent as text");
  is_refused_as(
      "\x89"
      "ARB\r\n\x1A\n",
      "cut short");
}

TEST_CASE("a later version is reported before anything else of the file is read") {
  Bytes file = example_file();
  file[8] = std::byte{2};
  file.resize(40);
  CHECK(
      refusal(file) ==
      "byte 8: the file has format 2, and this version of arboleda reads formats up to 1: install "
      "a newer arboleda");
}

TEST_CASE("a tree as deep as its nodes allow is read, walked and measured" *
          doctest::test_suite("one thread")) {
  constexpr NodeIndex kDepth = 1'000'000;
  const Tree deep = chain(kDepth);
  const Bytes file = write_model("{}", {&deep}, {});
  const ModelFile model = read_model(file);
  CHECK(model.trees[0].depth() == kDepth);
  CHECK(model.trees[0].n_leaves() == kDepth + 1);
  CHECK(model.trees[0].impurity_decrease().size() == 3);
}

TEST_CASE("more columns than the file is long are refused, and without a file accepted") {
  TreeArrays arrays = chain(1).arrays();
  arrays.n_features = 1'000'000'000;
  const Tree wide(arrays);
  CHECK(refusal(write_model("{}", {&wide}, {})).find("more columns") != std::string::npos);
  CHECK(read_tree_section(write_tree_section(wide)).arrays().n_features == 1'000'000'000);
}

TEST_CASE("an empty array has lengths that memory could hold, and keeps them") {
  const NamedArray plain{"x", {0, 3}, std::vector<double>{}};
  CHECK(read_model(write_model("{}", {}, {plain})).arrays[0].shape == plain.shape);
  for (const std::vector<std::uint64_t>& shape :
       {std::vector<std::uint64_t>{0, std::uint64_t{1} << 63}, {std::uint64_t{1} << 61, 0}}) {
    CHECK_THROWS_AS(write_model("{}", {}, {NamedArray{"x", shape, std::vector<double>{}}}), Error);
  }
}

TEST_CASE("the sections of an ensemble come back, and whatever changes them is found" *
          doctest::test_suite("one thread")) {
  const auto refused = [](ByteView sections) {
    try {
      read_ensemble_sections(sections);
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::bad_format;
    }
  };
  for (const TreeEnsemble& ensemble : {example_ensemble(), linear_ensemble()}) {
    Bytes sections = write_ensemble_sections(ensemble);
    const TreeEnsemble again = read_ensemble_sections(sections);
    CHECK(again.start == ensemble.start);
    CHECK(again.linear.coefficient == ensemble.linear.coefficient);
    CHECK(write_ensemble_sections(again) == sections);
    const Bytes without = write_ensemble_sections({ensemble.start, ensemble.trees});
    const std::size_t one_round = write_ensemble_sections(truncated(example_ensemble(), 1)).size();
    const std::size_t no_round = write_ensemble_sections({ensemble.start, {}}).size();
    for (std::size_t size = 0; size < sections.size(); ++size) {
      const bool whole = size == one_round || size == no_round || size == without.size();
      CHECK(refused(ByteView(sections).first(size)) != whole);
    }
    for (std::size_t i = 0; i < sections.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        sections[i] ^= std::byte{1} << bit;
        CHECK(refused(sections));
        sections[i] ^= std::byte{1} << bit;
      }
    }
  }
  const TreeEnsemble ensemble = example_ensemble();
  CHECK(refused(write_tree_section(ensemble.trees[0])));
  Bytes two_starts = write_ensemble_sections({ensemble.start, {}});
  two_starts.insert(two_starts.end(), two_starts.begin(), two_starts.end());
  CHECK(refused(two_starts));
}

TEST_CASE("a forest comes back from a file and from a pickle, and whatever changes it is found") {
  const std::vector<Forest> forests = example_forests();
  for (std::size_t kind = 0; kind < forests.size(); ++kind) {
    CAPTURE(kind);
    Bytes file = forest_file(kind);
    ModelFile model = read_model(file);
    REQUIRE(model.forests.size() == 1);
    const Forest& again = model.forests[0];
    CHECK(again.measure == forests[kind].measure);
    CHECK(again.n_training_rows == forests[kind].n_training_rows);
    for (std::size_t t = 0; t < again.trees.size(); ++t) {
      CHECK(again.trees[t].row == forests[kind].trees[t].row);
      CHECK(tree_of(again, t).arrays().impurity == tree_of(forests[kind], t).arrays().impurity);
      CHECK(tree_of(again, t).arrays().category == tree_of(forests[kind], t).arrays().category);
    }
    CHECK(write_model(model.header, {}, model.arrays, {&again}) == file);
    const Bytes state = write_forest_section(forests[kind]);
    CHECK(write_forest_section(read_forest_section(state)) == state);

    for (std::size_t i = 0; i < file.size(); ++i) {
      CHECK(refusal(ByteView(file).first(i)) != "accepted");
      file[i] ^= std::byte{1} << (i % 8);
      CHECK(refusal(file) != "accepted");
      file[i] ^= std::byte{1} << (i % 8);
    }
  }
}

TEST_CASE("parts of a model that stand in the place of others are refused") {
  const Forest forest = example_forests()[0];
  const Tree tree = chain(1);
  const auto refused = [](const auto& read) {
    try {
      read();
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::bad_format;
    }
  };
  CHECK(refused([&] { read_forest_section(write_tree_section(tree)); }));
  CHECK(refused([&] { read_tree_section(write_forest_section(forest)); }));
  Bytes two = write_forest_section(forest);
  two.insert(two.end(), two.begin(), two.end());
  CHECK(refused([&] { read_forest_section(two); }));
  Bytes ensemble = write_ensemble_sections({{0.5}, {}});
  const Bytes section = write_forest_section(forest);
  ensemble.insert(ensemble.end(), section.begin(), section.end());
  CHECK(refused([&] { read_ensemble_sections(ensemble); }));
  Forest wide = forest;
  wide.n_features = 1'000'000'000;
  CHECK(refusal(write_model("{}", {}, {}, {&wide})).find("more columns") != std::string::npos);
  CHECK(read_forest_section(write_forest_section(wide)).n_features == 1'000'000'000);
}

TEST_CASE("arrays must match their stated type and shape") {
  const auto write = [](const NamedArray& array) { return write_model("{}", {}, {array}); };
  CHECK_THROWS_AS(write({"x", {3}, std::vector<double>{1, 2}}), Error);
  CHECK_THROWS_AS(write({"X", {1}, std::vector<double>{1}}), Error);
  CHECK_THROWS_AS(write({"x", std::vector<std::uint64_t>(9, 1), std::vector<double>{1}}), Error);
  CHECK_THROWS_AS(write({"x", {1ULL << 32, 1ULL << 32}, std::vector<double>{}}), Error);
  const NamedArray x{"x", {1}, std::vector<double>{1}};
  CHECK(refusal(write_model("{}", {}, {x, x})).find("one name") != std::string::npos);
}

}  // namespace arboleda
