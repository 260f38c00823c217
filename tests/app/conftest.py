"""What tests of the pages share."""

from __future__ import annotations

import pytest

from app import choices


@pytest.fixture
def fixed(monkeypatch):
    """Files without live choices: made in a second."""
    monkeypatch.setattr(choices, "MOST_ANSWERS", 1)
