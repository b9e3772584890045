"""The report of a quick study of breast_cancer is at most 8,000 pixels high on a desktop."""

from pathlib import Path

import pytest
from tests.browsing import Opener

from arboleda import Study

HEIGHT = "document.documentElement.scrollHeight"


@pytest.mark.slow
def test_the_report_of_a_quick_study_is_short(open_page: Opener, tmp_path: Path) -> None:
    result = Study("breast_cancer", target="target", output_dir=tmp_path).run()
    opened = open_page(result.report, 1280)
    assert opened.page.evaluate(HEIGHT) <= 8000
    assert opened.complaints == []
    phone = open_page(result.report, 390).page
    assert phone.evaluate(HEIGHT) <= 15000
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
