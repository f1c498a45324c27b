"""What an adoption asks for: a report of `cortex benchmark` on this very corpus, and the same findings by the index."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from cortex.benchmark.label_file import read_label_file, read_named
from cortex.benchmark.run import SCHEMA, Outcome, ask, cards_sha256, check_labels, findings_of
from cortex.corpus.root import PinnedRoot
from cortex.envelope import SCHEMA as ENVELOPE
from cortex.errors import CortexError, invalid
from cortex.index.adoption import Candidate, Request
from cortex.index.layout import Adoption, Manifest
from cortex.index.lexical import LexicalIndex
from cortex.index.memory import lay_over
from cortex.index.opening import OpenIndex
from cortex.store.files import refused
from cortex.strict_json import StrictJSONError, loads
from policies.limits import REPORT_MAX_BYTES
from policies.timestamps import format_instant, parse_timestamp

_LABELS = "--labels"
_AGAIN = "run cortex benchmark on it as it is now"


class Report(NamedTuple):
    """A report of `cortex benchmark`: what it says, and the SHA-256 of the file that says it."""

    told: dict[str, Any]
    sha256: str


def read_report(path: str) -> Report:
    """Read a report, as `--output` writes it or as it was printed.

    Raises:
        CortexError: `not_found` or `invalid_input`: it is none.
    """
    data = read_named(path, "report", REPORT_MAX_BYTES + 1)
    if len(data) > REPORT_MAX_BYTES:
        raise invalid(f"the report is larger than {REPORT_MAX_BYTES} bytes")
    return Report(_decode(data), sha256(data).hexdigest())


def adopt_by(report: Report, labels: str | None, root: PinnedRoot, candidate: Candidate, request: Request) -> Adoption:
    """Return the adoption of an index by a report.

    Args:
        report: The report.
        labels: The path of the labels that it was made with; the one that the report names where None.
        root: The pinned root.
        candidate: The index.
        request: Who asks.

    Raises:
        CortexError: `governance_refused` for a report of another corpus or of an index, for other labels, and where the
            index finds something else; `not_found` or `invalid_input` for a file that holds no labels.
    """
    told = report.told
    if told.get("corpus_digest") != candidate.canonical_sha256:
        raise refused(f"the report is about another corpus than this memory has; {_AGAIN}")
    if told.get("indexes") != []:
        raise refused("the report was made with an index, or before there was any; run cortex benchmark --no-index")
    _compare(told, _ask(told, labels, root, candidate))
    return Adoption(request.operator, format_instant(request.now), candidate.canonical_sha256, report.sha256)


def _decode(data: bytes) -> dict[str, Any]:
    """Return a report, also out of the envelope that it was printed in."""
    try:
        value: Any = loads(data)
    except StrictJSONError as error:
        raise invalid(f"the report is {error}") from error
    if isinstance(value, dict) and value.get("schema") == ENVELOPE:
        value = value.get("data")
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise invalid(f"the report is none of cortex benchmark (schema {SCHEMA})")
    return value


def _ask(report: dict[str, Any], labels: str | None, root: PinnedRoot, candidate: Candidate) -> list[Outcome]:
    """Put the report's queries to the index, at the report's time."""
    data = read_label_file(labels or _labels_of(report))
    if sha256(data).hexdigest() != report.get("labels_digest"):
        raise refused("the labels are not those of the report; name its label file with --labels")
    now = parse_timestamp(str(report.get("generated_at")))
    if now is None:
        raise invalid("the report does not say when it was made (generated_at)")
    blocks = candidate.blocks
    index = LexicalIndex(candidate.table, lambda block: blocks[block.offset : block.offset + block.size])
    memory = lay_over(root, OpenIndex(Manifest(candidate.canonical_sha256, "", "", ""), None, index))
    if memory is None:
        raise CortexError("integrity_error", "the memory changed while its index was built; try again")
    try:
        return ask(check_labels(data, candidate.contents.records), memory, now, lambda: 0, samples=1)
    finally:
        memory.close()


def _labels_of(report: dict[str, Any]) -> str:
    """Return the label file that the report's command names."""
    words: Sequence[object] = report["command"] if isinstance(report.get("command"), list) else []
    name = words[words.index(_LABELS) + 1] if _LABELS in words[:-1] else None
    if not isinstance(name, str):
        raise invalid("the report does not say which label file it was made with; name it with --labels")
    return name


def _compare(report: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
    """Refuse where the index finds or shows anything else than the report says."""
    configurations = report.get("configurations")
    rows = [row for row in configurations if isinstance(row, dict)] if isinstance(configurations, list) else []
    told = {str(row.get("name")): row for row in rows}
    for name, findings in findings_of(outcomes).items():
        for what, value in findings.items():
            said = told.get(name, {}).get(what)
            if said != value:
                raise refused(f"the index does not find what the report says: {what} of {name} is {value}, not {said}")
    if report.get("cards_sha256") != cards_sha256(outcomes):
        raise refused("the index does not show the cards that the report says (cards_sha256)")
