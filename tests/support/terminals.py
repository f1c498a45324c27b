"""A terminal to sit at, in this process."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


class Terminal(io.StringIO):
    """A stream that says that a person sits there."""

    def isatty(self) -> bool:
        """Always."""
        return True


@contextmanager
def at_a_terminal(typed: str = "") -> Iterator[Terminal]:
    """Have a person type `typed` on stdin and read stderr, which is returned."""
    shown = Terminal()
    with patch.object(sys, "stdin", Terminal(typed)), patch.object(sys, "stderr", shown):
        yield shown
