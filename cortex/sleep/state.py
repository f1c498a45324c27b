"""What sleep knows between two calls: `CORTEX/state.json`, and how its bytes are read. Pure.

The state holds no text but names of tools, the first characters of errors (privacy-stripped) and paths of sources.
"""

import re
from typing import Final, Literal

import msgspec

from cortex.sleep.cards import Card
from cortex.sleep.patterns import Event
from cortex.sleep.phases import Rest
from cortex.sleep.transcripts import Seen

# Ids of runs of ours that are kept. Rows older than all of a full list count as ours too.
RUNS_KEPT: Final = 2000

RunOutcome = Literal["begun", "ok", "failed", "skipped"]


class Run(msgspec.Struct, frozen=True):
    """The last run that left evidence: its id, when it began (ms since 1970), and what became of it."""

    id: str
    t: int
    outcome: RunOutcome

    @property
    def is_healthy(self) -> bool:
        """Tell whether the run came to its end."""
        return self.outcome in ("ok", "skipped")


class Redo(msgspec.Struct, frozen=True):
    """Cards that belong to this state: they are brought into a file of this hash (None: no file) that lacks them."""

    before: str | None
    cards: tuple[Card, ...]


class Injected(msgspec.Struct, frozen=True):
    """The prompt that cards were last injected for: a fingerprint, and when."""

    prompt: str
    t: int


class State(msgspec.Struct, frozen=True):
    """The state. Times in ms since 1970.

    `mark` is when the newest event was that a consolidation has seen, `consolidated_at` when the last one was; `events`
    are the newest events, `seen` what was read, `runs` the ids of our runs, oldest first; `stopped` are transcripts of
    sessions that have stopped and are to be read by the next consolidation.
    """

    schema: Literal["lifeos-cortex-sleep/v1"] = "lifeos-cortex-sleep/v1"
    rest: Rest = Rest()
    mark: int = 0
    consolidated_at: int | None = None
    newest: str | None = None
    events: tuple[Event, ...] = ()
    seen: Seen = msgspec.field(default_factory=Seen)
    runs: tuple[str, ...] = ()
    run: Run | None = None
    stopped: tuple[str, ...] = ()
    injected: Injected | None = None
    redo: Redo | None = None


_STATES: Final = msgspec.json.Decoder(State)
_RUN_ID: Final = re.compile(rb'"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}-[0-9]{3}Z)"')


def read_state(data: bytes) -> State | None:
    """Return the state that a file holds, or None where it is damaged."""
    try:
        return _STATES.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def render_state(state: State) -> bytes:
    """Return the file of a state."""
    return msgspec.json.encode(state) + b"\n"


def salvaged_runs(data: bytes) -> tuple[str, ...]:
    """Return the ids of runs that can be made out in a damaged state: else our own rows would seem another's."""
    return tuple(dict.fromkeys(found.decode() for found in _RUN_ID.findall(data)))[-RUNS_KEPT:]
