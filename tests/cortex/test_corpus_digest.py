"""The canonical digest, against the words of its rule and against digests from elsewhere."""

import hashlib
import json
from pathlib import Path

import pytest

from cortex.corpus.digest import canonical_digest
from cortex.corpus.reader import iter_records
from cortex.corpus.record import Provenance, Record, exported
from cortex.corpus.root import pin

VECTORS = Path(__file__).parent.parent / "conformance/vectors/cortex"


def record(identity: str, **changes: object) -> Record:
    plain = Record(
        identity, "note", "T", "2024-01-01", "2024-01-01", Provenance("canonical", None, "a.md"), "c", (), None, None,
        0, 0, None, None,
    )  # fmt: skip
    return plain._replace(**changes)


def by_the_rule(records: list[Record]) -> str:
    ordered = [exported(one) for one in sorted(records, key=lambda one: [ord(character) for character in one.id])]
    text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_digest_of_nothing_is_that_of_an_empty_array() -> None:
    assert canonical_digest([]) == hashlib.sha256(b"[]").hexdigest()


def test_the_text_that_is_hashed_is_the_one_of_the_rule() -> None:
    one = record("r1", content='a"b\\\n\té\u2028😀/<', related=("x", "y"), valid_from="2024-01-01")
    text = (
        '[{"id":"r1","type":"note","title":"T","created":"2024-01-01","updated":"2024-01-01",'
        '"provenance":{"source":"canonical","session":null,"path":"a.md"},'
        '"content":"a\\"b\\\\\\n\\té\u2028😀/<","related":["x","y"],"valid_from":"2024-01-01","valid_until":null}]'
    )
    assert canonical_digest([one]) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 130])
def test_any_number_of_records_in_any_order_has_the_digest_of_one_array(count: int) -> None:
    records = [record(f"r{number}") for number in range(count)]
    assert canonical_digest(records) == canonical_digest(reversed(records)) == by_the_rule(records)


def test_ids_sort_by_code_point() -> None:
    records = [record(identity) for identity in ("rec-a", "rec-B", "rec-é", "rec-\uffff", "rec-😀", "rec-", "Rec-c")]
    assert canonical_digest(records) == by_the_rule(records)


@pytest.mark.parametrize(
    "change",
    [
        {"type": "x"}, {"title": "x"}, {"created": "x"}, {"updated": "x"}, {"content": "x"}, {"related": ("x",)},
        {"valid_from": "x"}, {"valid_until": "x"}, {"provenance": Provenance("x", None, "a.md")},
        {"provenance": Provenance("canonical", "x", "a.md")}, {"provenance": Provenance("canonical", None, "x")},
    ],
)  # fmt: skip
def test_every_public_field_changes_the_digest(change: dict[str, object]) -> None:
    assert canonical_digest([record("r1")]) != canonical_digest([record("r1", **change)])


@pytest.mark.parametrize("group", ["tree-basic", "tree-nested-root", "tree-bare-root"])
def test_digests_of_whole_trees_agree_with_those_of_another_implementation(group: str) -> None:
    cases = [json.loads(line) for line in (VECTORS / group / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    (case,) = [case for case in cases if case["name"] == "rebuild"]
    for backwards in (False, True):
        with pin(VECTORS / group / "corpus") as root:
            digest = canonical_digest(iter_records(root, backwards=backwards))
        assert digest == case["envelope"]["data"]["canonical_digest"]
