"""What can go wrong with a call, as one table: error codes and the exit status of each."""

from enum import IntEnum
from typing import Final, Literal

ErrorCode = Literal[
    "internal_error", "not_found", "invalid_input", "integrity_error", "write_refused", "governance_refused"
]


class Exit(IntEnum):
    """Every status that `cortex` exits with."""

    DONE = 0
    INTERNAL = 1
    NOT_FOUND = 3
    REFUSED_INPUT = 4
    REFUSED_WRITE = 5
    INTERRUPTED = 130


EXIT_OF: Final[dict[ErrorCode, Exit]] = {
    "internal_error": Exit.INTERNAL,
    "not_found": Exit.NOT_FOUND,
    "invalid_input": Exit.REFUSED_INPUT,
    "integrity_error": Exit.REFUSED_INPUT,
    "write_refused": Exit.REFUSED_WRITE,
    "governance_refused": Exit.REFUSED_WRITE,
}


class CortexError(Exception):
    """A refusal that the caller can act on. `message` says what is wrong and what to do, in one line."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message


def invalid(message: str) -> CortexError:
    """Return the refusal of a bad argument, option or value."""
    return CortexError("invalid_input", message)


def not_found(message: str) -> CortexError:
    """Return the refusal of an id, anchor or path that is not there."""
    return CortexError("not_found", message)
