"""The consolidation kernel: which patterns lie in a list of events. Pure; nothing is read, written or dated here.

Rules:

1. Four kinds: *pitfall* (one tool failing in a row), *playbook* (a chain of successes seen again), *hotspot* (a tool
   that fails too often), *unresolved* (failures that no success has followed).
2. "After" is by position in the list given; only where times are compared does it say so.
3. Characters are code points. The time is linear in the events.

Each pattern says with `newest` how young the youngest event is that it rests on.
"""

import re
from collections.abc import Iterator, Sequence
from math import floor
from typing import Final, Literal, NamedTuple

from cortex.privacy import strip_private
from policies.noise import fold_blanks

Kind = Literal["pitfall", "playbook", "hotspot", "unresolved"]

ID_CHARACTERS: Final = 90
ERROR_CHARACTERS: Final = 240
TOKENS_MOST: Final = 80

PITFALL_FAILURES: Final = 3
PITFALL_ERROR_TOKENS: Final = 8
PLAYBOOK_LENGTHS: Final = (2, 3, 4)
PLAYBOOK_COUNT: Final = 2
PLAYBOOK_TOOLS: Final = 2
PLAYBOOKS_MOST: Final = 5
HOTSPOT_CALLS: Final = 8
HOTSPOT_RATE: Final = 0.7
HOTSPOT_WEIGHT: Final = 1.2
UNRESOLVED_LAST: Final = 60
UNRESOLVED_FAILURES: Final = 3
UNRESOLVED_WEIGHT: Final = 1.5

ARROW: Final = " → "
STOP_WORDS: Final = frozenset({
    "the", "and", "for", "with", "that", "this", "from", "have", "has", "not", "are", "was", "were", "you", "your",
    "can", "will", "but", "all", "any", "its", "out", "get", "into",
    "这个", "那个", "我们", "你们", "他们", "什么", "怎么", "可以", "需要", "一个", "就是", "还是", "因为",
    "所以", "但是", "如果", "已经", "现在", "时候", "自己", "东西", "这些", "那些", "没有", "完成", "进行",
    "使用", "通过", "由于", "然后", "一下", "不是", "起来",
})  # fmt: skip
# What recall prints stands between these, and is never learned again; without an end, to the end of the text.
RECALLED_OPENS: Final = "<recalled-memory>"
RECALLED_CLOSES: Final = "</recalled-memory>"
_RECALLED = re.compile(f"{RECALLED_OPENS}(?s:.*?)(?:{RECALLED_CLOSES}|\\Z)")
_WORD = re.compile(r"[a-z0-9_.-]{2,}")
_CJK = re.compile("[\u4e00-\u9fa5]{2,}")


class Event(NamedTuple):
    """One finished call: when (ms since 1970), which tool, whether it succeeded, how long (ms), and its error."""

    t: int
    tool: str
    ok: bool
    ms: float | None = None
    err: str | None = None


class Pattern(NamedTuple):
    """A pattern found, in the shape of the card that it becomes. Times in ms since 1970."""

    kind: Kind
    id: str
    t: int
    title: str
    body: str
    tags: tuple[str, ...]
    weight: float
    newest: int


class Patterns(NamedTuple):
    """The patterns of one consolidation, each kind in the order in which it was found."""

    pitfalls: tuple[Pattern, ...]
    playbooks: tuple[Pattern, ...]
    hotspots: tuple[Pattern, ...]
    unresolved: tuple[Pattern, ...]


def public_text(text: str) -> str:
    """Return `text` as an event may keep it: nothing private, nothing recalled, encodable, at most 240 characters."""
    public = strip_private(text)
    fresh = _RECALLED.sub("", public)
    if fresh != public:  # what was taken out may have joined up a tag
        fresh = strip_private(fresh)
    return fresh[:ERROR_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def tokens(text: str | None) -> tuple[str, ...]:
    """Return the words that a text can be found by: distinct, Latin ones first, then pairs of CJK, at most 80."""
    lower = (text or "").lower()
    words = [*_WORD.findall(lower), *(pair for run in _CJK.findall(lower) for pair in _pairs(run))]
    return tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS))[:TOKENS_MOST]


def card_id(kind: str, key: str) -> str:
    """Return the id of the card of a kind that is about `key`."""
    return f"{kind}:{fold_blanks(key.lower())[:ID_CHARACTERS]}"


def extract_patterns(events: Sequence[Event], since: int, now: int) -> Patterns:
    """Return the patterns in `events` (in time order), of pitfalls and playbooks those newer than `since` alone."""
    return Patterns(
        tuple(_pitfalls(events, since)),
        tuple(_playbooks([event for event in events if event.ok], since)),
        tuple(_hotspots(events, now)),
        tuple(_unresolved(events[-UNRESOLVED_LAST:])),
    )


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))


def _repeated_weight(count: int) -> float:
    return 1 + min(2, count / 3)


def _pitfalls(events: Sequence[Event], since: int) -> Iterator[Pattern]:
    for run in _failure_runs(events):
        last = run[-1]
        if len(run) < PITFALL_FAILURES or last.t <= since:
            continue
        error = next((event.err for event in reversed(run) if event.err), "")
        said = f"Last error: {error}\n" if error else ""
        yield Pattern(
            "pitfall",
            card_id("pitfall", last.tool),
            last.t,
            f"{last.tool} failed {len(run)} times in a row",
            f"{said}Check arguments and paths first, then take another way; the same call will fail again.",
            (last.tool, *tokens(error)[:PITFALL_ERROR_TOKENS]),
            _repeated_weight(len(run)),
            last.t,
        )


def _failure_runs(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield each run of failures of one tool; a success, or another tool's failure, ends it."""
    run: list[Event] = []
    for event in events:
        if run and (event.ok or event.tool != run[0].tool):
            yield run
            run = []
        if not event.ok:
            run.append(event)
    if run:
        yield run


class _Chain(NamedTuple):
    tools: tuple[str, ...]
    times: int
    last: int


def _playbooks(successes: Sequence[Event], since: int) -> list[Pattern]:
    chains = [
        chain
        for chain in _chains(successes)
        if chain.times >= PLAYBOOK_COUNT and chain.last > since and len(set(chain.tools)) >= PLAYBOOK_TOOLS
    ]
    chains.sort(key=lambda chain: (-len(set(chain.tools)), -chain.times))
    return [_playbook(chain) for chain in chains[:PLAYBOOKS_MOST]]


def _chains(successes: Sequence[Event]) -> Iterator[_Chain]:
    """Yield every chain of two to four tools with its count and when it was last seen, in order of first sight."""
    seen: dict[tuple[str, ...], tuple[int, int]] = {}
    for length in PLAYBOOK_LENGTHS:
        for start in range(len(successes) - length + 1):
            part = successes[start : start + length]
            tools = tuple(event.tool for event in part)
            seen[tools] = (seen.get(tools, (0, 0))[0] + 1, part[-1].t)
    return (_Chain(tools, times, last) for tools, (times, last) in seen.items())


def _playbook(chain: _Chain) -> Pattern:
    key = ARROW.join(chain.tools)
    return Pattern(
        "playbook",
        card_id("playbook", key),
        chain.last,
        f"Chain {key}",
        f"It worked {chain.times} times in this order; a task of the same kind can start with it.",
        tokens(key),
        _repeated_weight(chain.times),
        chain.last,
    )


def _hotspots(events: Sequence[Event], now: int) -> Iterator[Pattern]:
    by_tool: dict[str, list[Event]] = {}
    for event in events:
        by_tool.setdefault(event.tool, []).append(event)
    for tool, calls in by_tool.items():
        successes = sum(event.ok for event in calls)
        rate = successes / len(calls)
        if len(calls) < HOTSPOT_CALLS or rate >= HOTSPOT_RATE:
            continue
        mean = sum(event.ms or 0 for event in calls) / len(calls)
        yield Pattern(
            "hotspot",
            card_id("hotspot", tool),
            now,
            f"{tool} is unreliable: {floor(rate * 100 + 0.5)}% of its calls succeed",
            f"{len(calls)} calls: {successes} succeeded, {len(calls) - successes} failed, "
            f"{floor(mean + 0.5)} ms on average.\nVerify what it returns, or use a tool that can do the same.",
            (tool,),
            HOTSPOT_WEIGHT,
            max(event.t for event in calls),
        )


def _unresolved(events: Sequence[Event]) -> Iterator[Pattern]:
    success = next((event.t for event in reversed(events) if event.ok), None)
    failures = [event for event in events if not event.ok and (success is None or event.t > success)]
    if len(failures) < UNRESOLVED_FAILURES:
        return
    key = "、".join(dict.fromkeys(event.tool for event in failures))
    yield Pattern(
        "unresolved",
        card_id("unresolved", key),
        failures[-1].t,
        f"Unresolved: {key}",
        f"{len(failures)} failures since the last success, and none was overcome.\nBegin elsewhere next time.",
        tokens(key),
        UNRESOLVED_WEIGHT,
        failures[-1].t,
    )
