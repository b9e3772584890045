"""What all tests of reports share."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def quick_importances(few_permutations: int) -> None:
    """Hold for all studies of this folder, also those of fixtures."""
