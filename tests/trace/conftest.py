"""Fixtures of the tests about trace problems."""

from __future__ import annotations

import pytest

from tests.proofs.coarse import coarse


@pytest.fixture
def coarsely(monkeypatch):
    """Certificates of trace problems in a coarse arithmetic (`tests/proofs/coarse.py`)."""
    coarse(monkeypatch)
