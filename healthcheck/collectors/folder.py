"""Opening evidence: by descriptor from the memory root down, and in words where that fails.

Only the root itself may be a link. Whatever else is a link, a folder in a file's place, a FIFO, a device or not
readable is `Unreadable`, never `Missing`, with the path at fault, relative to home.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from cortex.layout import OBSERVABILITY
from cortex.nofollow import NotRegularError, open_folder, open_regular
from cortex.places import Layout
from cortex.strict_json import StrictJSONError, loads
from healthcheck.collectors.rows import Log, RowHandler, ShrunkError, read_log
from healthcheck.evidence import Missing, Unreadable
from policies.limits import MANIFEST_MAX_BYTES

Opener = Callable[[str, int | None], int]

# What a name is that holds a NUL, or that the file system's encoding cannot spell.
NO_PATH: Final = "is no path"
_ROOT_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def shown(layout: Layout, path: Path) -> str:
    """Return a path as evidence names it: relative to home, whatever is no printable character escaped."""
    return printable(layout.relative(path))


def printable(name: str) -> str:
    """Return a file name with line breaks, control characters and undecodable bytes escaped."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def describe(error: OSError) -> str:
    """Return what is wrong with a file, as the rest of a sentence that begins with its path."""
    if isinstance(error, NotRegularError | ShrunkError):
        return str(error)
    if isinstance(error, NotADirectoryError):
        return "is no folder"
    return f"cannot be read ({(error.strerror or type(error).__name__).lower()})"


def open_below(layout: Layout, top: Path, names: tuple[str, ...], opener: Opener) -> int | Missing | Unreadable:
    """Open `names`, one below the other, from the folder `top`; the last of them with `opener`.

    Returns its descriptor, which the caller closes, or what is there instead.
    """
    path = top
    try:
        descriptor = os.open(top, _ROOT_FLAGS)
        for position, name in enumerate(names, start=1):
            path, parent = path / name, descriptor
            try:
                descriptor = (opener if position == len(names) else open_folder)(name, parent)
            finally:
                os.close(parent)
    except FileNotFoundError:
        return Missing(f"no {shown(layout, path)}")
    except OSError as error:
        return Unreadable(shown(layout, path), describe(error))
    except ValueError:
        return Unreadable(shown(layout, path), NO_PATH)
    return descriptor


def open_memory_folder(layout: Layout, *names: str) -> int | Missing | Unreadable:
    """Open a folder below the memory root; without names, the root itself."""
    return open_below(layout, layout.memory_root, names, open_folder)


def open_log(layout: Layout, name: str) -> int | Missing | Unreadable:
    """Open a log that lies directly in OBSERVABILITY/."""
    return open_below(layout, layout.memory_root, (OBSERVABILITY, name), open_regular)


def read_evidence_log(layout: Layout, name: str, each: RowHandler | None = None) -> Log | Missing | Unreadable:
    """Read a log that lies directly in OBSERVABILITY/; `each` as in `read_log`."""
    descriptor = open_log(layout, name)
    if not isinstance(descriptor, int):
        return descriptor
    try:
        return read_log(descriptor, each=each)
    except OSError as error:
        return Unreadable(shown(layout, layout.observability / name), describe(error))
    finally:
        os.close(descriptor)


class Document(NamedTuple):
    """A small JSON file, decoded."""

    value: object


def read_document(layout: Layout, top: Path, names: tuple[str, ...]) -> Document | Missing | Unreadable:
    """Read a small file of strict JSON (without a byte-order mark) that lies at `names` below the folder `top`."""
    descriptor = open_below(layout, top, names, open_regular)
    if not isinstance(descriptor, int):
        return descriptor
    path = shown(layout, top.joinpath(*names))
    try:
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MANIFEST_MAX_BYTES + 1)
        if len(data) > MANIFEST_MAX_BYTES:
            return Unreadable(path, f"is larger than {MANIFEST_MAX_BYTES} bytes")
        return Document(loads(data))
    except OSError as error:
        return Unreadable(path, describe(error))
    except StrictJSONError as error:
        return Unreadable(path, f"is no strict JSON ({error})")
