"""The in-process adapter writes as the command line does, and only where this very call permits it."""

import pytest
from support.stores import IDEA, PROPOSAL, laid_out
from support.trees import fingerprint

from cortex.adapter import create_adapter


@pytest.mark.parametrize(("act", "item"), [("remember", IDEA), ("propose", PROPOSAL)])
def test_a_write_needs_exactly_the_permission(tmp_path, act, item):
    memory = laid_out(tmp_path)
    before = fingerprint(tmp_path)
    write = getattr(create_adapter("codex", str(memory.root)), act)
    for options, code in ((None, 5), ({}, 5), ({"allow_write": False}, 5), ({"allow_write": 1}, 4), ({"x": True}, 4)):
        assert write(item, options)[0] == code
    assert fingerprint(tmp_path) == before
    status, envelope = write(item, {"allow_write": True})
    assert (status, envelope["ok"]) == (0, True)
    log = "tier-b-writes.jsonl" if act == "remember" else "memory-writes.jsonl"
    assert memory.rows(log)[-1]["actor"] == "codex"


def test_an_adapter_that_is_not_known_writes_nothing(tmp_path):
    memory = laid_out(tmp_path)
    before = fingerprint(tmp_path)
    assert create_adapter("root", str(memory.root)).remember(IDEA, {"allow_write": True})[0] == 4
    assert fingerprint(tmp_path) == before
