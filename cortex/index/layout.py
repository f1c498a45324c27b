"""The files of an index. Pure.

    INDEX/index-manifest.json    the manifest: which table is adopted, its hash, the digest of the corpus it is of
    INDEX/lexical-N.json         a table of contents: where each block is, and its hash
    INDEX/lexical-N.blocks       the blocks
    INDEX/adoption.json          on whose word, and by what evidence, the index answers

N is 1 or 2: what is built takes the place that the adopted index does not have. The manifest's hash covers the table,
the table's hashes cover every block, so that a block can be proven by itself.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from cortex.layout import INDEX
from policies import __version__

FORMAT: Final = "lifeos-cortex-lexical/v1"
MANIFEST_SCHEMA: Final = "lifeos-cortex-index/v1"
ADOPTION_SCHEMA: Final = "lifeos-cortex-index-adoption/v1"
ADOPTION: Final = f"{INDEX}/adoption.json"
TABLES: Final = ("lexical-1.json", "lexical-2.json")
# What makes the same files come to other terms or other records: another program, another Python (its Unicode).
MADE_WITH: Final = f"{__version__}, Python {sys.version_info[0]}.{sys.version_info[1]}, {sys.byteorder}-endian"


class IndexDoubtError(Exception):
    """An index cannot be relied on; `str()` says why, as a clause. The files are read instead."""


class Block(NamedTuple):
    """Where a block is, in bytes, and its SHA-256 in hexadecimal."""

    offset: int
    size: int
    sha256: str


class Table(NamedTuple):
    """A table of contents. `keys` are the first of each of `terms`; `taken_at_ns` is when the files were looked at."""

    files: int
    records: int
    taken_at_ns: int
    sections: Mapping[str, Block]
    keys: Sequence[str]
    terms: Sequence[Block]


class Manifest(NamedTuple):
    """A manifest's content; `indexed_at` as written."""

    canonical_sha256: str
    index_path: str
    index_sha256: str
    indexed_at: str


class Adoption(NamedTuple):
    """On whose word an index answers, since when, and by which report of a benchmark on which corpus."""

    operator: str
    adopted_at: str
    canonical_sha256: str
    report_sha256: str


def blocks_of(table: str) -> str:
    """Return the name of the blocks that belong to a table's name."""
    return f"{table.removesuffix('.json')}.blocks"


def encode_table(table: Table) -> bytes:
    """Return a table as it is written."""
    value = {
        "format": FORMAT,
        "made_with": MADE_WITH,
        "files": table.files,
        "records": table.records,
        "taken_at_ns": table.taken_at_ns,
        "sections": table.sections,
        "terms": [[key, *block] for key, block in zip(table.keys, table.terms, strict=True)],
    }
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def decode_table(data: bytes, *, made_here: bool = True) -> Table:
    """Return a table as it was read; with `made_here`, one that this program can answer from.

    Raises:
        IndexDoubtError: It is of another format, or was made with another program.
        Exception: It is no table.
    """
    value = json.loads(data)
    if value.get("format") != FORMAT:
        raise IndexDoubtError("it is of a format that this program does not know")
    if made_here and value["made_with"] != MADE_WITH:
        raise IndexDoubtError("it was made with another version of this program or of Python")
    return Table(
        value["files"],
        value["records"],
        value["taken_at_ns"],
        {name: Block(*block) for name, block in value["sections"].items()},
        [key for key, *_ in value["terms"]],
        [Block(*block) for _, *block in value["terms"]],
    )


def encode_manifest(manifest: Manifest) -> bytes:
    """Return a manifest as it is written."""
    return (json.dumps({"schema": MANIFEST_SCHEMA, **manifest._asdict()}, separators=(",", ":")) + "\n").encode()


def decode_manifest(data: bytes) -> Manifest:
    """Return a manifest as it was read.

    Raises:
        IndexDoubtError: It is none.
    """
    return Manifest(**_texts("its manifest", data, MANIFEST_SCHEMA, Manifest._fields))


def encode_adoption(adoption: Adoption) -> bytes:
    """Return an adoption as it is written."""
    return (json.dumps({"schema": ADOPTION_SCHEMA, **adoption._asdict()}, ensure_ascii=False) + "\n").encode()


def decode_adoption(data: bytes) -> Adoption:
    """Return an adoption as it was read.

    Raises:
        IndexDoubtError: It is none.
    """
    return Adoption(**_texts("its adoption", data, ADOPTION_SCHEMA, Adoption._fields))


def _texts(what: str, data: bytes, schema: str, fields: Sequence[str]) -> dict[str, str]:
    """Return the fields of a JSON object that has exactly these, all texts, beside its schema."""
    from cortex.strict_json import StrictJSONError, loads

    try:
        value: Any = loads(data)
    except StrictJSONError as error:
        raise IndexDoubtError(f"{what} is {error}") from error
    if not isinstance(value, dict) or value.keys() != {"schema", *fields} or value.pop("schema") != schema:
        raise IndexDoubtError(f"{what} has not exactly the known fields")
    if not all(isinstance(text, str) for text in value.values()):
        raise IndexDoubtError(f"{what} has a field that is no text")
    return value
