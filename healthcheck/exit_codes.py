"""What `memory-health` exits with: these numbers and no other."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The verdict's severity; critical too where there is no verdict, so that a crash cannot pass for a warning."""

    OK = 0
    WARN = 1
    CRITICAL = 2
    USAGE = 2
    CRASHED = 2
    INTERRUPTED = 130
