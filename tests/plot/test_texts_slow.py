"""No text of any plot is clipped or covered on large pages, or on a new figure."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest
from tests.plot.looking import cut, overlapping
from tests.plot.test_texts import PICTURES

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("name", PICTURES)
def test_plots_on_a_new_figure_are_readable(name: str) -> None:
    figure = PICTURES[name]().figure
    assert not cut(figure)
    assert not overlapping(figure)


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("name", PICTURES)
def test_plots_on_a_large_figure_are_readable(name: str, layout: str | None) -> None:
    figure, ax = plt.subplots(figsize=(10.0, 7.0), layout=layout)
    PICTURES[name](ax=ax)
    assert not cut(figure)
    assert not overlapping(figure)
