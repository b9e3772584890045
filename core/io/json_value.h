// JSON as values, for tests that read what Python wrote. Not a checking parser: the texts are ours.
#pragma once

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace arboleda {

// A number (true and false are 1 and 0, null is NaN), a text, a list, or an object: a list with keys.
struct JsonValue {
  double number = std::numeric_limits<double>::quiet_NaN();
  bool is_text = false;
  std::string text;
  std::vector<std::string> keys;
  std::vector<JsonValue> items;

  // The entry of an object; null if there is none.
  const JsonValue* find(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == key) return &items[i];
    }
    return nullptr;
  }

  const JsonValue& at(std::string_view key) const {
    const JsonValue* value = find(key);
    require(value != nullptr, "the JSON object lacks a key");
    return *value;
  }

  // All numbers of a list of lists, row by row.
  std::vector<double> numbers() const {
    std::vector<double> all;
    append_numbers(all);
    return all;
  }

 private:
  void append_numbers(std::vector<double>& all) const {
    if (items.empty()) all.push_back(number);
    for (const JsonValue& item : items) item.append_numbers(all);
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  JsonValue read() {
    JsonValue value;
    if (takes("{")) {
      read_items(value, "}", [&] {
        value.keys.push_back(read_text());
        require(takes(":"), "a key without a value in JSON");
      });
    } else if (takes("[")) {
      read_items(value, "]", [] {});
    } else if (starts_with("\"")) {
      value.is_text = true;
      value.text = read_text();
    } else if (takes("true")) {
      value.number = 1.0;
    } else if (takes("false")) {
      value.number = 0.0;
    } else if (!takes("null")) {
      const auto [end, error] =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.number);
      require(error == std::errc(), "not a number of JSON");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    }
    return value;
  }

 private:
  bool starts_with(std::string_view token) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
    return rest_.starts_with(token);
  }

  bool takes(std::string_view token) {
    const bool found = starts_with(token);
    if (found) rest_.remove_prefix(token.size());
    return found;
  }

  template <class ReadKey>
  void read_items(JsonValue& value, std::string_view end, const ReadKey& read_key) {
    while (!takes(end)) {
      read_key();
      value.items.push_back(read());
      takes(",");
    }
  }

  // Escapes stay as they are: no test depends on a text that has one.
  std::string read_text() {
    require(takes("\""), "not a text of JSON");
    std::string text;
    while (!rest_.starts_with('"')) {
      const std::size_t n = rest_.starts_with('\\') ? 2 : 1;
      require(rest_.size() > n, "a text of JSON has no end");
      text += rest_.substr(0, n);
      rest_.remove_prefix(n);
    }
    rest_.remove_prefix(1);
    return text;
  }

  std::string_view rest_;
};

}  // namespace arboleda
