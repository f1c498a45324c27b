"""Labels: queries whose answers a person has looked up. One JSON object a line, exactly these fields. Pure.

    id, query, expected_ids, [temporal_expected_order], [false_ids], provenance:
        schema, query_execution: method, command, executed_at, query, returned_ids
                expected_ids_verification: method, verified_at, verifier, verified_ids

1. What is not exactly so is refused, naming the row (its line) and the field, and never a value or an unknown key.
2. Provenance must carry the label: the query ran as labelled, every expected id came back, every one was verified.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert

from cortex.errors import CortexError, invalid
from cortex.privacy import strip_private
from cortex.strict_json import StrictJSONError, loads
from cortex.text import find_control, holds_surrogate, is_blank
from policies import limits
from policies.timestamps import parse_timestamp

PROVENANCE_SCHEMA: Final = "lifeos-cortex-benchmark-label-provenance/v1"
EXECUTION: Final = "provenance.query_execution"
VERIFICATION: Final = "provenance.expected_ids_verification"

Id = Annotated[str, Meta(max_length=limits.LABEL_ID_CHARACTERS)]
Ids = Annotated[tuple[Id, ...], Meta(min_length=1, max_length=limits.LABEL_IDS_MOST)]
Order = Annotated[tuple[Id, ...], Meta(min_length=2, max_length=limits.LABEL_IDS_MOST)]
QueryText = Annotated[str, Meta(max_length=limits.QUERY_MAX_CHARACTERS)]
Parts = Annotated[tuple[str, ...], Meta(min_length=1, max_length=limits.LABEL_COMMAND_PARTS)]
Verifier = Annotated[str, Meta(max_length=limits.METADATA_CHARACTERS)]
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


class QueryExecution(Struct, frozen=True, forbid_unknown_fields=True):
    """The call that was made, and every id that it returned."""

    method: Literal["live-cortex-cli"]
    command: Parts
    executed_at: str
    query: QueryText
    returned_ids: Ids


class Verification(Struct, frozen=True, forbid_unknown_fields=True):
    """Who held the expected ids against the memory, and when."""

    method: Literal["manual-corpus-verification"]
    verified_at: str
    verifier: Verifier
    verified_ids: Ids


class LabelProvenance(Struct, frozen=True, forbid_unknown_fields=True):
    """How a label came about."""

    schema: Literal["lifeos-cortex-benchmark-label-provenance/v1"]
    query_execution: QueryExecution
    expected_ids_verification: Verification


class Label(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A query and what it should find; `false_ids` are records that it should not."""

    id: Id
    query: QueryText
    expected_ids: Ids
    temporal_expected_order: Order | UnsetType = UNSET
    false_ids: Ids | UnsetType = UNSET
    provenance: LabelProvenance


class NumberedLabel(NamedTuple):
    """A label, and the line of the file that it is on, from 1."""

    row: int
    label: Label


def read_labels(data: bytes) -> list[NumberedLabel]:
    """Return the labels of a file, which may have none.

    Raises:
        CortexError: `invalid_input` naming the row and the field that is not as it must be.
    """
    _check_file(data)
    lines = [(row, line) for row, line in enumerate(data.split(b"\n"), 1) if line.strip(b" \t\r")]
    if len(lines) > limits.LABELS_MOST:
        raise invalid(f"row {lines[limits.LABELS_MOST][0]}: a label file has at most {limits.LABELS_MOST} rows")
    labels = [NumberedLabel(row, _read_row(row, line)) for row, line in lines]
    seen: set[str] = set()
    for row, label in labels:
        if label.id in seen:
            raise broken(row, "id", "stands in an earlier row too")
        seen.add(label.id)
    return labels


def check_known(labels: Iterable[NumberedLabel], known: Iterable[str]) -> None:
    """Refuse a label that names an id which no record of the memory has.

    Raises:
        CortexError: `invalid_input` naming the row and the field.
    """
    ids = frozenset(known)
    for row, label in labels:
        for field, named in _id_fields(label):
            if not ids.issuperset(named):
                raise broken(row, field, "names an id that no record of this memory has")


def broken(row: int, field: str, clause: str) -> CortexError:
    """Return the refusal of a row for one of its fields."""
    return invalid(f"row {row}: {field}: {clause}")


def _check_file(data: bytes) -> None:
    if len(data) > limits.LABELS_MAX_BYTES:
        raise invalid(f"a label file has at most {limits.LABELS_MAX_BYTES} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        raise invalid("row 1: begins with a byte-order mark; save the file as UTF-8 without one")
    if b"\0" in data:
        row = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise invalid(f"row {row}: holds a NUL")


def _read_row(row: int, line: bytes) -> Label:
    try:
        value = loads(line)
    except StrictJSONError as error:
        raise invalid(f"row {row}: is no strict JSON: {error}") from error
    try:
        label = convert(value, Label)
    except ValidationError as error:
        raise broken(row, *_explain(str(error))) from error
    for field, clause in _flaws(label):
        raise broken(row, field, clause)
    return label


def _explain(message: str) -> tuple[str, str]:
    """Return the field that msgspec means and what is wrong, without a value or an unknown key."""
    what, _, where = message.partition(" - at ")
    field = where.strip("`").removeprefix("$.").removeprefix("$")
    if "unknown field" in what:
        return field or "the label", "has a field that is not known"
    if missing := re.search(r"missing required field `(\w+)`", what):
        return f"{field}.{missing[1]}".lstrip("."), "is missing"
    return field or "the label", "is another word" if "enum value" in what else what[0].lower() + what[1:]


def _flaws(label: Label) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a label of the right shape: the field, and a clause."""
    for field, text in _texts(label):
        if clause := _text_flaw(text):
            yield field, clause
    for field, ids in _id_fields(label):
        if len(set(ids)) < len(ids):
            yield field, "holds an id twice"
    execution, verification = label.provenance.query_execution, label.provenance.expected_ids_verification
    for field, time in ((f"{EXECUTION}.executed_at", execution.executed_at), _verified_at(verification)):
        if not _TIME.fullmatch(time) or parse_timestamp(time) is None:
            yield field, "is no time of the form YYYY-MM-DDThh:mm:ss.mmmZ"
    if sum(len(part.encode()) for part in execution.command) > limits.LABEL_COMMAND_BYTES:
        yield f"{EXECUTION}.command", f"has more than {limits.LABEL_COMMAND_BYTES} bytes"
    yield from _contradictions(label, execution, verification)


def _contradictions(label: Label, execution: QueryExecution, verification: Verification) -> Iterator[tuple[str, str]]:
    if execution.query != label.query:
        yield f"{EXECUTION}.query", "is not the query of the label"
    if not set(label.expected_ids).issubset(execution.returned_ids):
        yield f"{EXECUTION}.returned_ids", "lacks an expected id"
    if verification.verified_ids != label.expected_ids:
        yield f"{VERIFICATION}.verified_ids", "are not the expected ids"
    if label.false_ids is not UNSET and not set(label.expected_ids).isdisjoint(label.false_ids):
        yield "false_ids", "holds an expected id"


def _verified_at(verification: Verification) -> tuple[str, str]:
    return f"{VERIFICATION}.verified_at", verification.verified_at


def _text_flaw(text: str) -> str | None:
    if is_blank(text):
        return "is empty, or holds an empty text"
    if find_control(text) is not None:
        return "holds a control character"
    if holds_surrogate(text):
        return "holds half a character (a lone surrogate)"
    return "holds private markup" if strip_private(text) != text else None


def _texts(label: Label) -> Iterator[tuple[str, str]]:
    execution = label.provenance.query_execution
    yield "id", label.id
    yield "query", label.query
    for field, ids in _id_fields(label):
        yield from ((field, name) for name in ids)
    yield from ((f"{EXECUTION}.command", part) for part in execution.command)
    yield f"{VERIFICATION}.verifier", label.provenance.expected_ids_verification.verifier


def _id_fields(label: Label) -> Iterator[tuple[str, Sequence[str]]]:
    yield "expected_ids", label.expected_ids
    if label.temporal_expected_order is not UNSET:
        yield "temporal_expected_order", label.temporal_expected_order
    if label.false_ids is not UNSET:
        yield "false_ids", label.false_ids
    yield f"{EXECUTION}.returned_ids", label.provenance.query_execution.returned_ids
    yield f"{VERIFICATION}.verified_ids", label.provenance.expected_ids_verification.verified_ids
