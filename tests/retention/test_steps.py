"""Single steps, where somebody came between the plan and the act: nothing is overwritten, nothing goes unverified."""

import gzip

import pytest
from support.stores import NOW, bare
from support.vaults import ago

from cortex.errors import CortexError
from cortex.retention import rotation
from cortex.retention.base import Base
from cortex.retention.doing import Doing, hash_bytes, place_new, remove_known
from cortex.retention.steps import do
from cortex.store.store import open_store


@pytest.fixture
def doing(tmp_path):
    with open_store(str(bare(tmp_path / "m").root)) as store:
        yield Doing(Base(store, (), "archive"), "ada", "archive", NOW)


def test_a_file_that_came_into_the_way_stays(doing, tmp_path):
    (tmp_path / "m/x").write_bytes(b"theirs")
    with pytest.raises(CortexError, match="in the way"):
        place_new(doing, "x", b"ours", None, {})
    assert (tmp_path / "m/x").read_bytes() == b"theirs"


def test_a_file_that_was_changed_does_not_go(doing, tmp_path):
    (tmp_path / "m/x").write_bytes(b"newer")
    with pytest.raises(CortexError, match="changed meanwhile"):
        remove_known(doing, "x", hash_bytes(b"older"), {})
    assert (tmp_path / "m/x").read_bytes() == b"newer"


@pytest.mark.parametrize("held", [None, b"", b"no gzip", gzip.compress(b"other"), gzip.compress(b"data")[:-4]])
def test_an_original_does_not_go_for_what_does_not_hold_it(doing, tmp_path, held):
    (tmp_path / "m/x").write_bytes(b"data")
    if held is not None:
        (tmp_path / "m/x.gz").write_bytes(held)
    step = {"kind": "remove", "id": "x", "path": "x", "hash_before": hash_bytes(b"data"), "hash_after": None}
    with pytest.raises(CortexError, match="does not hold"):
        do(doing, {**step, "kept_in": "x.gz", "form": "gz", "member": "x", "mode": 0o644, "folder": None})
    assert (tmp_path / "m/x").read_bytes() == b"data"


def test_the_last_seven_days_stay():
    rows = [ago(days) for days in (9, 7.00001, 7, 6, 0)]
    data = b"".join(b'{"ts":"%s"}\n' % at.encode() for at in rows)
    ranges = rotation.older_rows("tool-activity.jsonl", data, NOW)
    assert ranges == [(0, 2)]
    kept, older = rotation.split_at(data, ranges)
    assert rotation.merge(kept, older, ranges) == data
