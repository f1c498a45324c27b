"""The commands that rank and list: search, timeline.

Like every read they look at the whole corpus first, so that an unsound one refuses alike whatever was asked; then they
judge the values of their options; then they say what is not there.
"""

import re
from typing import Final, NamedTuple

from cortex.answering import answer
from cortex.arguments import Call
from cortex.errors import invalid, not_found
from cortex.memory import Memory
from cortex.retrieval.analyzer import ANALYZERS, Query, analyse_query
from cortex.retrieval.cards import Budget, JSONObject, Page, card, listing
from cortex.retrieval.filters import Filters, is_valid
from cortex.retrieval.search import Ranking, explain
from policies import limits
from policies.timestamps import format_instant, is_date, parse_timestamp
from policies.units import DAY_MS

_WEIGHT: Final = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"


class _SearchRequest(NamedTuple):
    """The values of a search's options, judged."""

    query: Query
    filters: Filters
    recency: float
    page: Page
    budget: Budget
    now: int


def search(call: Call) -> JSONObject:
    """Rank the valid records by a query; on request, add what is related, and why a record is where it is."""
    return answer(call, _search)


def timeline(call: Call) -> JSONObject:
    """Show what was created around a record, or around an instant."""
    return answer(call, _timeline)


def _search(call: Call, memory: Memory) -> JSONObject:
    request = _search_request(call)
    expansion = _expansion(call, memory, request)
    ranking = memory.rank(request.query, request.filters, request.recency, request.now)
    data = listing(ranking.hits, request.page, lambda hit: card(hit.record, hit.score))
    if request.query.analyzer != "ascii":
        data["analyzer"] = request.query.analyzer
    if expansion is not None:
        data["expansion"] = expansion
    if call.has("--explain"):
        data["explain"] = _explanation(call.options["--explain"], memory, request, ranking)
    return data


def _timeline(call: Call, memory: Memory) -> JSONObject:
    from cortex.retrieval.timeline import Window, around_instant, around_record, in_order

    filters = _filters(call)
    window = Window(
        call.integer("--before", limits.WINDOW, 0, limits.WINDOW_MOST),
        call.integer("--after", limits.WINDOW, 0, limits.WINDOW_MOST),
    )
    page = _page(call)
    listed = memory.listed(call.now())
    ordered = in_order([each for each in listed if filters.let_through(each)])
    name = call.options["--anchor"]
    anchor = next((each for each in listed if each.id == name), None)
    if anchor is not None:
        neighbours = around_record(ordered, anchor, window)
        described: JSONObject = {"id": anchor.id, "date": memory.load(anchor).created}
    elif (instant := parse_timestamp(name)) is not None:
        neighbours = around_instant(ordered, instant, window)
        described = {"id": None, "date": format_instant(instant)}
    else:
        raise not_found("the anchor is neither the id of a record that is valid now nor a timestamp")
    data = listing(neighbours, page, lambda each: card(memory.load(each), 0.0))
    data["anchor"] = described
    return data


def _search_request(call: Call) -> _SearchRequest:
    return _SearchRequest(_query(call), _filters(call), _recency(call), _page(call), _budget(call), call.now())


def _query(call: Call) -> Query:
    analyzer = call.options.get("--analyzer", "auto")
    if analyzer not in ANALYZERS:
        raise invalid(f"--analyzer takes one of: {', '.join(ANALYZERS)}")
    return read_query(call.positionals[0], analyzer)


def read_query(text: str, analyzer: str) -> Query:
    """Return a text as a query, by one of `ANALYZERS`.

    Raises:
        CortexError: `invalid_input` where it is too long, or has no term or too many.
    """
    if len(text) > limits.QUERY_MAX_CHARACTERS:
        raise invalid(f"a query has at most {limits.QUERY_MAX_CHARACTERS} characters, this one {len(text)}")
    query = analyse_query(text, analyzer)
    if not query.words:
        raise invalid(f"the query has no searchable terms (analyzer {query.analyzer})")
    if query.words > limits.QUERY_MAX_WORDS:
        raise invalid(f"a query has at most {limits.QUERY_MAX_WORDS} terms, this one {query.words}")
    return query


def _filters(call: Call) -> Filters:
    created_to = _time(call, "--to")
    if created_to is not None and is_date(call.options["--to"]):
        created_to += DAY_MS - 1
    return Filters(
        call.options.get("--type"),
        call.options.get("--source"),
        call.options.get("--session"),
        _time(call, "--from"),
        created_to,
    )


def _time(call: Call, option: str) -> int | None:
    text = call.options.get(option)
    if text is None:
        return None
    instant = parse_timestamp(text)
    if instant is None:
        raise invalid(f"{option} takes a date (2026-08-01) or a time with its zone (2026-08-01T12:00:00Z)")
    return instant


def _recency(call: Call) -> float:
    text = call.options.get("--recency", "0")
    weight = float(text) if re.fullmatch(_WEIGHT, text) else -1.0
    if not 0 <= weight <= limits.RECENCY_MOST:
        raise invalid(f"--recency takes a number from 0 to {limits.RECENCY_MOST:.0f}")
    return weight


def _page(call: Call) -> Page:
    return Page(
        call.integer("--page", 1, 1, limits.LARGEST_INTEGER),
        call.integer("--page-size", limits.PAGE_SIZE, 1, limits.PAGE_SIZE_MOST),
    )


def _budget(call: Call) -> Budget:
    return Budget(
        call.integer("--max-nodes", limits.EXPANSION_NODES, 1, limits.EXPANSION_NODES_MOST),
        call.integer("--max-tokens", limits.EXPANSION_TOKENS, 1, limits.EXPANSION_TOKENS_MOST),
    )


def _explanation(subject: str, memory: Memory, request: _SearchRequest, ranking: Ranking) -> JSONObject:
    record = memory.find(subject)
    if record is None:
        if any(note.identity == subject for note in memory.notes if note.kind == "withheld"):
            return {"id": subject, "found": False, "reason": "withheld"}
        raise not_found("the record to explain is not there")
    if not is_valid(record, request.now):
        return {"id": subject, "found": False, "reason": "validity"}
    return explain(record, request.query, request.filters, ranking)


def _expansion(call: Call, memory: Memory, request: _SearchRequest) -> JSONObject | None:
    if not call.has("--expand"):
        return None
    from cortex.retrieval.graph import Graph, expand

    graph = Graph(memory.listed(request.now), memory.load)
    root = graph.find(call.options["--expand"])
    if root is None:
        raise not_found("the record to expand is not there, or not valid now")
    return expand(graph, root, request.budget)
