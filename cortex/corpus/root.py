"""The memory root, resolved once and pinned: from then on everything is opened relative to its descriptor."""

import os
from types import TracebackType
from typing import Self

from cortex.corpus.faults import CorpusError, fault
from cortex.nofollow import NotRegularError, open_folder


class PinnedRoot:
    """A memory root held open. `path` is the resolved path, `descriptor` the open folder."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the root."""
        os.close(self.descriptor)


def pin(memory_root: str | os.PathLike[str]) -> PinnedRoot:
    """Resolve a memory root, which may itself be a link, and hold it open. The caller closes it.

    Raises:
        CorpusError: It is not there, is no folder, or may not be opened.
    """
    named = os.fspath(memory_root)
    try:
        path = os.path.realpath(named, strict=True)
        return PinnedRoot(path, open_folder(path))
    except FileNotFoundError as error:
        raise CorpusError(fault(named, None, "unreadable", "the memory root is not there")) from error
    except NotRegularError as error:
        raise CorpusError(fault(named, None, "special-file", f"the memory root {error}, no folder")) from error
    except NotADirectoryError as error:
        raise CorpusError(fault(named, None, "unreadable", "the memory root is not there")) from error
    except (OSError, ValueError) as error:  # no permission, a loop of links, a NUL in the name
        raise CorpusError(fault(named, None, "unreadable", "the memory root cannot be opened")) from error
