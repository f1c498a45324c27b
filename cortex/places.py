"""The two folders of a memory, and what lies at a fixed place in them. Nothing here touches a file."""

from pathlib import Path
from typing import NamedTuple

from cortex.layout import INDEX_MANIFEST, MEMORY_BELOW_ROOT, OBSERVABILITY


class Layout(NamedTuple):
    """The two folders of a memory, absolute, links unresolved."""

    memory_root: Path
    home: Path

    @property
    def observability(self) -> Path:
        """The folder of all evidence."""
        return self.memory_root / OBSERVABILITY

    @property
    def index_manifest(self) -> Path:
        """The manifest of an adopted index, where none is named."""
        return self.memory_root / INDEX_MANIFEST

    def relative(self, path: Path) -> str:
        """Return `path` as people and reports read it: relative to home where it lies below it."""
        return str(path.relative_to(self.home)) if path.is_relative_to(self.home) else str(path)


def layout_of(memory_root: Path) -> Layout:
    """Return the layout around an absolute memory root."""
    home = memory_root.parent if memory_root.name == MEMORY_BELOW_ROOT[-1] else memory_root
    return Layout(memory_root, home)
