"""`--text`: the same data as the envelope, laid out for people. Plain lines, so that they can be piped and grepped."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cortex.envelope import JSONObject

# What an item is shows in its keys; the first form whose key it holds lays it out.
Row = dict[str, Any]


def render_text(envelope: JSONObject) -> str:
    """Return the lines for an envelope, the last one ended."""
    error = envelope["error"]
    if isinstance(error, dict):
        return f"{envelope['command']}: {error['code']}: {error['message']}\n"
    data = envelope["data"]
    shown = data if isinstance(data, dict) else {}
    if envelope["command"] == "forget" and "levels" in shown:
        from cortex.retention.text import forget_lines

        return "\n".join(forget_lines(shown)) + "\n"
    return "\n".join(_lines(shown)) + "\n"


def _lines(data: Row) -> Iterable[str]:
    if "page_size" in data:
        yield _place(data)
        data = {key: value for key, value in data.items() if key not in ("total", "page", "page_size")}
    for key, value in data.items():
        if key == "items" and not value:
            continue
        if key in _DRAWN:
            yield f"{key}: {_DRAWN[key](value)}"
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from _table(value)
        elif value and isinstance(value, dict):
            yield f"{key}:"
            yield from (f"  {line}" for line in _lines(value))
        else:
            yield f"{key}: {_plain(value)}"


def _place(listing: Row) -> str:
    """Return which part of a listing is shown: `11-20 of 23`."""
    first = (listing["page"] - 1) * listing["page_size"] + 1
    last = first + len(listing["items"]) - 1
    return f"{first}-{last} of {listing['total']}" if listing["items"] else f"none of {listing['total']}"


def _table(rows: Sequence[Row]) -> Iterable[str]:
    for key, lay_out in _FORMS:
        if key in rows[0]:
            return lay_out(rows)
    return _aligned([list(rows[0]), *([_plain(value) for value in row.values()] for row in rows)])


def _cards(cards: Sequence[Row]) -> Iterable[str]:
    return _aligned(
        [
            [
                f"{card['score']:g}",
                card["id"],
                card["type"],
                card["created"],
                f"~{card['est_tokens']} tokens",
                _from(card),
            ]
            for card in cards
        ]
    )


def _records(records: Sequence[Row]) -> Iterable[str]:
    for record in records:
        yield f"── {record['id']} · {record['title']}"
        yield f"   {record['type']}, created {record['created']}, updated {record['updated']}, {_from(record)}"
        if record["related"]:
            yield f"   related: {', '.join(record['related'])}"
        yield from ("", *record["content"].splitlines(), "")


def _faults(faults: Sequence[Row]) -> Iterable[str]:
    for fault in faults:
        line = "" if fault["line"] is None else f":{fault['line']}"
        yield f"{fault['path']}{line}: {fault['kind']}: {fault['message']}"
        if "remedy" in fault:
            yield f"    {fault['remedy']}"


def _deck(cards: Sequence[Row]) -> Iterable[str]:
    head = ["weight", "uses", "kind", "title", "id"]
    return _aligned(
        [
            head,
            *([f"{card['weight']:.2f}", str(card["uses"]), card["kind"], card["title"], card["id"]] for card in cards),
        ]
    )


def _sleeps(reports: Sequence[Row]) -> Iterable[str]:
    head = ["asleep at", "slept", "deepest", "events", "new", "again", "archived", "notes"]
    counts = ("scanned", "created", "reinforced", "archived")
    return _aligned(
        [
            head,
            *(
                [
                    report["asleep_at"],
                    "still" if report["length_ms"] is None else duration(report["length_ms"]),
                    report["deepest"],
                    *(str(report[count]) for count in counts),
                    "; ".join(report["notes"]),
                ]
                for report in reports
            ),
        ]
    )


def sparkline(counts: Sequence[int]) -> str:
    """Return a bar a count, the highest one full; a blank dot where there is nothing."""
    most = max(counts, default=0)
    return "".join(_BARS[0 if not count else 1 + (count * 7) // most] for count in counts)


def duration(milliseconds: float | None) -> str:
    """Return a time in its two largest units: `2 h 5 min`."""
    if milliseconds is None:
        return "none"
    if milliseconds < 0:
        return f"-{duration(-milliseconds)}"
    seconds = int(milliseconds) // 1000
    parts = [(seconds // size, name) for size, name in _UNITS]
    first = next((at for at, (count, _) in enumerate(parts) if count), len(parts) - 1)
    shown = [parts[first]]
    if first + 1 < len(parts):
        shown.append(
            (parts[first + 1][0] - parts[first][0] * (_UNITS[first][0] // _UNITS[first + 1][0]), _UNITS[first + 1][1])
        )
    return " ".join(f"{count} {name}" for count, name in shown if count or len(shown) == 1)


def _from(item: Row) -> str:
    origin = item["provenance"]
    session = f", session {origin['session']}" if origin["session"] else ""
    return f"{origin['path']} ({origin['source']}{session})"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(element) for element in value) or "none"
    if value is None or value == {}:
        return "none"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


_BARS = "·▁▂▃▄▅▆▇█"
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
# Values that are better seen than read.
_DRAWN: dict[str, Callable[[Any], str]] = {"hours_of_day": sparkline, "silence_ms": duration, "length_ms": duration}
_FORMS: tuple[tuple[str, Callable[[Sequence[Row]], Iterable[str]]], ...] = (
    ("uses", _deck),
    ("asleep_at", _sleeps),
    ("content", _records),
    ("est_tokens", _cards),
    ("kind", _faults),
)
