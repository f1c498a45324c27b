"""The corpus that a reading command answers from: read whole, and sound, or refused."""

from collections import Counter
from collections.abc import Iterable

from cortex.arguments import Call
from cortex.corpus.faults import CorpusError, Note
from cortex.corpus.reader import iter_records, read_corpus
from cortex.corpus.record import Record
from cortex.corpus.root import pin
from cortex.envelope import JSONObject
from cortex.errors import CortexError
from cortex.memory import ReadMemory


def sound_corpus(call: Call) -> ReadMemory:
    """Read the memory that a call names.

    Raises:
        CortexError: `integrity_error` where its root or any of its files is not sound; the message names the first.
    """
    try:
        with pin(call.memory_root()) as root:
            reading = read_corpus(root, stop_at_first_fault=True)
            return ReadMemory(root.path, reading.records, reading.notes, may_fork=call.host.may_fork)
    except CorpusError as error:
        raise CortexError("integrity_error", str(error)) from error


def count_notes(notes: Iterable[Note]) -> JSONObject:
    """Return how many notes of each kind there are; kinds without any are left out."""
    return dict(sorted(Counter(note.kind for note in notes).items()))


def second_reading(call: Call) -> list[Record]:
    """Read the memory anew: pinned and walked again, from the last file to the first.

    Raises:
        CortexError: As `sound_corpus` does.
    """
    try:
        with pin(call.memory_root()) as root:
            return list(iter_records(root, backwards=True))
    except CorpusError as error:
        raise CortexError("integrity_error", str(error)) from error
