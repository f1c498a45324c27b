"""A hash is SHA-256, whoever works it out."""

from hashlib import sha256

import pytest

from cortex.index import hashing


@pytest.fixture(autouse=True)
def forgotten():
    hashing._small.cache_clear()
    yield
    hashing._small.cache_clear()


@pytest.mark.parametrize("size", [0, 1, hashing.LARGE - 1, hashing.LARGE])
def test_a_hash_is_that_of_hashlib_for_small_and_large(size: int):
    data = b"oak" * size
    assert hashing.sha256_hex(data[:size]) == sha256(data[:size]).hexdigest()


def test_this_interpreter_has_one_of_its_own():
    assert hashing._small() is not hashing._large()


def test_where_an_interpreter_has_none_of_its_own_hashlib_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hashing, "_OWN", "_sha_of_nobody")
    assert hashing._small() is hashing._large()
    assert hashing.sha256_hex(b"oak") == sha256(b"oak").hexdigest()
