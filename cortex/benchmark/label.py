"""`benchmark label`: makes a label by a real call, shown to a person who says that it is right.

The query runs as `cortex search` does. A label is appended only where every id came back, and where the person at the
terminal, or the operator's `--yes`, vouches for having looked.
"""

import sys
from typing import Any, Final, cast

from msgspec import to_builtins

from cortex.arguments import Call
from cortex.benchmark.label_file import append_label, label_path
from cortex.benchmark.labels import (
    PROVENANCE_SCHEMA,
    Label,
    LabelProvenance,
    QueryExecution,
    Verification,
    read_labels,
)
from cortex.cli import dispatch
from cortex.envelope import JSONObject
from cortex.errors import CortexError, invalid, not_found
from cortex.privacy import strip_private
from cortex.sound import sound_corpus
from cortex.store.audit import encode_row
from cortex.store.governor import Act, explained
from cortex.store.store import open_store
from cortex.writing import operator_of
from policies.limits import LABEL_IDS_MOST
from policies.timestamps import format_instant

# So many of what came back are shown, more only as far as the last expected one.
_SHOWN: Final = 10
_ACT: Final = "benchmark-label"

Cards = list[dict[str, Any]]


def label(call: Call) -> JSONObject:
    """Run a query, show what it returns, ask, and append a label that says what it should."""
    query, *expected = call.positionals
    operator = operator_of(call)
    corpus = sound_corpus(call)
    _check(call, query, expected)
    missing = set(expected).difference(record.id for record in corpus.records)
    if missing:
        raise not_found(f"no record has the id {min(missing)!r}")
    command = _search_command(call, query)
    executed_at = format_instant(call.now())
    cards = _search(call, command)
    _check_returned(expected, cards)
    if not call.has("--yes") and not _is_confirmed(expected, cards):
        return {"appended": False, "labels": call.options["--labels"], "label": None}
    provenance = LabelProvenance(
        PROVENANCE_SCHEMA,
        QueryExecution("live-cortex-cli", tuple(command), executed_at, query, tuple(card["id"] for card in cards)),
        Verification("manual-corpus-verification", format_instant(call.now()), operator, tuple(expected)),
    )
    made = _append(call, operator, corpus.root, Label(
        id="", query=query, expected_ids=tuple(expected), provenance=provenance,
    ))  # fmt: skip
    return {"appended": True, "labels": call.options["--labels"], "label": made}


def _check(call: Call, query: str, expected: list[str]) -> None:
    if len(set(expected)) < len(expected):
        raise invalid("an id was given twice")
    if strip_private(query) != query:
        raise invalid("the query holds private markup, which a label would keep")
    if not (call.has("--yes") or _is_at_terminal()):
        raise invalid("a person verifies a label: call it at a terminal, or vouch for it with --yes")


def _search_command(call: Call, query: str) -> list[str]:
    """Return the search that is run and that the label names."""
    options = [f"--page-size={LABEL_IDS_MOST}", f"--memory-root={call.memory_root()}"]
    if call.has("--now"):
        options.append(f"--now={call.options['--now']}")
    return ["cortex", "search", *options, "--", query]


def _search(call: Call, command: list[str]) -> Cards:
    envelope, _ = dispatch(command[1:], call.host)
    error = envelope["error"]
    if isinstance(error, dict):
        raise CortexError(error["code"], error["message"])
    return cast("Cards", cast("JSONObject", envelope["data"])["items"])


def _check_returned(expected: list[str], cards: Cards) -> None:
    lost = [name for name in expected if name not in {card["id"] for card in cards}]
    if lost:
        raise invalid(f"{lost[0]!r} is not among the first {LABEL_IDS_MOST} that the query returns, as a label must be")


def _is_at_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _is_confirmed(expected: list[str], cards: Cards) -> bool:
    """Show what came back, the expected ones marked, and ask."""
    last = max(place for place, card in enumerate(cards, 1) if card["id"] in expected)
    for place, card in enumerate(cards[: max(_SHOWN, last)], 1):
        mark = "*" if card["id"] in expected else " "
        sys.stderr.write(f"{place:4} {mark} {card['id']}  {card['type']}  {card['provenance']['path']}\n")
    sys.stderr.write(f"{len(cards)} came back. Are those marked * all that the query should find? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _append(call: Call, operator: str, root: str, made: Label) -> JSONObject:
    """Give the label an id that the file does not have yet, hold the whole file against the rules, and append."""
    row: JSONObject = to_builtins(made)

    def make_row(data: bytes) -> JSONObject:
        taken = {numbered.label.id for numbered in read_labels(data)}
        row["id"] = next(name for n in range(len(taken) + 1, 2 * len(taken) + 2) if (name := f"q{n:04}") not in taken)
        separator = b"\n" if data and not data.endswith(b"\n") else b""
        read_labels(data + separator + encode_row(row))
        return row

    path = label_path(root, call.options["--labels"])
    with explained(), open_store(call.memory_root()) as store:
        append_label(store, Act(_ACT, operator, path, call.now()), make_row)
    return row
