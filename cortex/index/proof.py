"""Does an index say what the canonical files say? Everything is read, everything is made anew, and compared."""

from collections.abc import Sequence

from cortex.corpus.digest import canonical_digest
from cortex.corpus.root import PinnedRoot
from cortex.corpus.walk import survey
from cortex.index.contents import Contents, Moment, make_index, read_contents
from cortex.index.layout import IndexDoubtError, Table
from cortex.index.lexical import LexicalIndex
from cortex.index.memory import compare
from cortex.index.opening import OpenIndex

# What a section says of files as they lie on the disk, not of what is in them: compared in a way of its own.
_OF_THE_DISK = "stats"


def prove(root: PinnedRoot, opened: OpenIndex) -> Contents:
    """Return the corpus, where the index is of it and of nothing else.

    Raises:
        CorpusError: The corpus is not sound.
        IndexDoubtError: The index says something else; the message says what.
        Exception: It was made to mislead.
    """
    opened.lexical.check()
    contents = read_contents(root)
    changed = _changed(opened.lexical, contents)
    for path in _mistaken(root, opened.lexical, changed):
        raise IndexDoubtError(f"it takes {path} for the file that was indexed, and that holds something else")
    if changed or opened.manifest.canonical_sha256 != canonical_digest(contents.records):
        more = f", {changed[0]} among them" if changed else ""
        raise IndexDoubtError(f"it is of other canonical files than there are now ({len(changed)} changed{more})")
    moment = Moment(opened.lexical.table.taken_at_ns, contents.files[0].device if contents.files else 0)
    table, _ = make_index(contents, moment)
    for name in _differing(opened.lexical.table, table):
        raise IndexDoubtError(f"it says something else of {name} than the canonical files do")
    return contents


def _changed(index: LexicalIndex, contents: Contents) -> Sequence[str]:
    """Return the paths that are gone or hold something else, and those that the index does not know."""
    known = dict(zip(index.paths, index.hashes, strict=True))
    there = {file.path: file.sha256 for file in contents.files}
    return sorted(path for path in known.keys() | there.keys() if known.get(path) != there.get(path))


def _mistaken(root: PinnedRoot, index: LexicalIndex, changed: Sequence[str]) -> Sequence[str]:
    """Return the changed files that pass for unchanged ones, which must not be."""
    known, _ = compare(index, survey(root))
    passing = {path for path, is_known in zip(index.paths, known, strict=True) if is_known}
    return [path for path in changed if path in passing]


def _differing(one: Table, other: Table) -> Sequence[str]:
    """Return what two tables do not have the same blocks of."""
    sections = [
        name
        for name in one.sections.keys() | other.sections.keys()
        if name != _OF_THE_DISK and _hash(one, name) != _hash(other, name)
    ]
    mine, theirs = ([block.sha256 for block in table.terms] for table in (one, other))
    terms = [] if (list(one.keys), mine) == (list(other.keys), theirs) else ["terms"]
    return sorted(sections) + terms


def _hash(table: Table, name: str) -> str | None:
    block = table.sections.get(name)
    return block and block.sha256
