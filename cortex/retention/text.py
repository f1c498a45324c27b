"""What `cortex forget --text` says to people. Pure."""

from collections.abc import Iterator
from typing import Any

Data = dict[str, Any]


def forget_lines(data: Data) -> Iterator[str]:
    """Yield the lines for what was marked, or would be."""
    yield f"[forget] scanned {' + '.join(data['levels'])}"
    for name, level in data["levels"].items():
        yield f"{name} expired: {level['expired']}{_rule(level['rule'])}"
        yield from (f"  {address}" for address in level["entries"])
    would = "would mark" if data["dry_run"] else "marked"
    yield f"{would} archive_pending=true on {data['marked']} {'entry' if data['marked'] == 1 else 'entries'}"
    yield from _untouched(data)
    if data["dry_run"] and data["needs_allow_mass"]:
        yield "more than half of all entries: it would be refused without --allow-mass"
    if data["alerts"] and not data["dry_run"]:
        yield f"alerts appended: {data['alerts']}"
    yield from (f"warning: {warning}" for warning in data["warnings"])
    yield f"next: {data['next']}"


def _rule(rule: Data) -> str:
    if "after_days" not in rule:
        return ""
    enough = f", recall<{rule['unless_recalled']}" if "unless_recalled" in rule else ""
    return f" ({rule['after_days']}d unused{enough})"


def _untouched(data: Data) -> Iterator[str]:
    if data["already"]:
        yield f"already marked: {len(data['already'])}"
    for kind in ("corrupted", "unwritable"):
        if data[kind]:
            yield f"{kind}, kept: {len(data[kind])}"
            yield from (f"  {one['path']}: {one['reason']}" for one in data[kind])
