"""An index made to mislead: its parts changed at will, and every hash made to fit what they are then."""

import json
from array import array
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from cortex.index.layout import blocks_of
from cortex.index.lexical import Kind


class Parts:
    """The parts of the index that a memory has: manifest and table as JSON values, the bytes of each block."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "INDEX"
        self.manifest: dict[str, Any] = json.loads((self.folder / "index-manifest.json").read_bytes())
        self.table: dict[str, Any] = json.loads(self.path.read_bytes())
        data = self.blocks_path.read_bytes()
        self.sections: dict[str, bytes] = {
            name: data[at : at + size] for name, (at, size, _) in self.table["sections"].items()
        }
        self.terms: list[tuple[str, bytes]] = [(key, data[at : at + size]) for key, at, size, _ in self.table["terms"]]

    @property
    def path(self) -> Path:
        """Where the table is."""
        return self.folder / str(self.manifest["index_path"])

    @property
    def blocks_path(self) -> Path:
        """Where the blocks are."""
        return self.folder / blocks_of(str(self.manifest["index_path"]))

    def numbers(self, section: str, kind: Kind) -> list[int]:
        """Return a section of numbers."""
        return memoryview(self.sections[section]).cast(kind).tolist()

    def set_numbers(self, section: str, kind: Kind, numbers: Sequence[int]) -> None:
        """Put numbers into a section."""
        self.sections[section] = array(kind, numbers).tobytes()

    def texts(self, section: str) -> list[str]:
        """Return a section of texts."""
        return self.sections[section].decode().split("\0")

    def set_texts(self, section: str, texts: Sequence[str]) -> None:
        """Put texts into a section."""
        self.sections[section] = "\0".join(texts).encode()

    def number_of(self, record_id: str) -> int:
        """Return the number of a record."""
        return self.texts("ids").index(record_id)

    def write(self) -> None:
        """Write all of it, offsets, sizes and hashes made anew."""
        parts: list[bytes] = []
        self.table["sections"] = {name: self._block(data, parts) for name, data in self.sections.items()}
        self.table["terms"] = [[key, *self._block(data, parts)] for key, data in self.terms]
        self.blocks_path.write_bytes(b"".join(parts))
        self.write_table()

    def write_table(self) -> None:
        """Write the table as it is, and the manifest with its hash."""
        data = json.dumps(self.table, ensure_ascii=False).encode()
        self.path.write_bytes(data)
        self.manifest["index_sha256"] = sha256(data).hexdigest()
        self.write_manifest()

    def write_manifest(self) -> None:
        """Write the manifest as it is."""
        (self.folder / "index-manifest.json").write_text(json.dumps(self.manifest), encoding="utf-8")

    @staticmethod
    def _block(data: bytes, parts: list[bytes]) -> list[Any]:
        at = sum(map(len, parts))
        parts.append(data)
        return [at, len(data), sha256(data).hexdigest()]


def forge(root: Path, change: Callable[[Parts], None]) -> None:
    """Change an index, and make every hash fit."""
    parts = Parts(root)
    change(parts)
    parts.write()


def posting_block(*postings: tuple[str, Sequence[int], Sequence[int]]) -> bytes:
    """Return a block of postings by the letter of the format: key, records and counts of each."""
    keys = "\0".join(key for key, _, _ in postings).encode()
    counts = [count for _, _, counts in postings for count in counts]
    wide = [number for place, count in enumerate(counts) if count > 255 for number in (place, count)]
    return b"".join([
        array("I", [len(postings), len(keys)]).tobytes(),
        keys,
        array("I", [len(records) for _, records, _ in postings]).tobytes(),
        array("I", [len(wide) // 2, *wide]).tobytes(),
        b"".join(array("H", records).tobytes() for _, records, _ in postings),
        bytes(min(count, 255) for count in counts),
    ])  # fmt: skip
