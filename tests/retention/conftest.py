"""Tests here are about what is written, not about when it reaches the disk: syncing costs nothing."""

import os

import pytest


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
