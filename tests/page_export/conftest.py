from tests.browsing import browser, open_page  # noqa: F401 - fixtures
