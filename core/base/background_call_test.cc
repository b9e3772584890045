#include "base/background_call.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace arboleda {

TEST_CASE("a call beside others runs once, and its exception comes to the caller") {
  BackgroundCall call;
  for (int i = 0; i < 3; ++i) {
    int n_runs = 0;
    call.start([&] { ++n_runs; });
    call.finish();
    CHECK(n_runs == 1);
    call.start([] { throw Error(ErrorKind::bad_format, "cannot be read"); });
    CHECK_THROWS_AS(call.finish(), Error);
  }
}

TEST_CASE("the end of its owner waits for a call") {
  int n_runs = 0;
  {
    BackgroundCall().start([&] { ++n_runs; });
  }
#if !defined(_WIN32)
  CHECK(n_runs == 1);
#endif
}

}  // namespace arboleda
