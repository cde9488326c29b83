"""What the hazards run under: programs fail in them on purpose."""

import pytest


@pytest.fixture(autouse=True)
def _recovers_from_nothing():
    """In place of the one of all other tests, which would refuse that."""
