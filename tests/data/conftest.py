"""What tests of tables share."""

from __future__ import annotations

import pytest


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
