"""Other ways to search the same texts, each of which builds an index first and answers from it.

    python benchmarks/peers.py build NAME ROOT INDEX      read every note and row below ROOT, write an index to INDEX
    python benchmarks/peers.py query NAME INDEX QUERY     in a new process: open the index, print the ten best

NAME is one of `PEERS`. Each is used as its own documentation shows, with its own analyzer and its own BM25. None looks
at the files again when it is asked: what changed since the index was built, what is private, what is not sound and what
is no longer valid is as it was, or is not known at all. Needs `pip install memory-health[bench]`, but for SQLite.
"""

import json
import os
import pickle
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

BEST = 10
_WORD = re.compile(r"[a-z0-9]+")

Document = tuple[str, str]  # where it is from, and its text


class Peer(NamedTuple):
    """How to build an index below a folder that is there and empty, and how to ask it."""

    build: Callable[[Path, Iterable[Document]], None]
    query: Callable[[Path, str], list[str]]


def documents(root: Path) -> Iterator[Document]:
    """Yield every note, and every row's title and content, below `root`."""
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = Path(folder) / name
            if name.endswith(".md"):
                yield name, path.read_text(encoding="utf-8")
            elif name.endswith(".jsonl"):
                with path.open(encoding="utf-8") as lines:
                    for line in lines:
                        row = json.loads(line)
                        yield row["id"], f"{row['title']} {row['content']}"


def words(text: str) -> list[str]:
    """Return the words of a text, for a peer that has no analyzer of its own."""
    return _WORD.findall(text.lower())


def build_rank_bm25(index: Path, found: Iterable[Document]) -> None:
    """Count words in Python dictionaries, and pickle them."""
    names, texts = zip(*found, strict=True)
    ranking = import_module("rank_bm25").BM25Okapi([words(text) for text in texts])
    with (index / "pickle").open("wb") as file:
        pickle.dump((names, ranking), file, protocol=pickle.HIGHEST_PROTOCOL)


def query_rank_bm25(index: Path, query: str) -> list[str]:
    """Load everything, score every document."""
    with (index / "pickle").open("rb") as file:
        names, ranking = pickle.load(file)  # noqa: S301 - ours, written a moment ago
    best: list[str] = ranking.get_top_n(words(query), names, n=BEST)
    return best


def build_bm25s(index: Path, found: Iterable[Document]) -> None:
    """Score every word of every document beforehand, into a sparse matrix."""
    bm25s = import_module("bm25s")
    names, texts = zip(*found, strict=True)
    ranking = bm25s.BM25()
    ranking.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
    ranking.save(index, corpus=[{"id": name} for name in names])


def query_bm25s(index: Path, query: str) -> list[str]:
    """Map the matrix into memory, add up the columns of the query's words."""
    bm25s = import_module("bm25s")
    ranking = bm25s.BM25.load(index, load_corpus=True, mmap=True)
    tokens = bm25s.tokenize(query, stopwords=None, show_progress=False)
    found, _ = ranking.retrieve(tokens, k=BEST, show_progress=False)
    return [row["id"] for row in found[0]]


def build_fts5(index: Path, found: Iterable[Document]) -> None:
    """Fill a full-text table of SQLite."""
    with closing(sqlite3.connect(index / "sqlite")) as database, database:
        database.execute("CREATE VIRTUAL TABLE documents USING fts5(name UNINDEXED, text)")
        database.executemany("INSERT INTO documents VALUES (?, ?)", found)


def query_fts5(index: Path, query: str) -> list[str]:
    """Ask for any of the words, best first."""
    with closing(sqlite3.connect(index / "sqlite")) as database:
        asked = "SELECT name FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?"
        return [name for (name,) in database.execute(asked, (" OR ".join(query.split()), BEST))]


def build_tantivy(index: Path, found: Iterable[Document]) -> None:
    """Write an inverted index with Tantivy's own threads."""
    tantivy = import_module("tantivy")
    schema = tantivy.SchemaBuilder().add_text_field("name", stored=True).add_text_field("text").build()
    writer = tantivy.Index(schema, path=str(index)).writer()
    for name, text in found:
        writer.add_document(tantivy.Document(name=[name], text=[text]))
    writer.commit()
    writer.wait_merging_threads()


def query_tantivy(index: Path, query: str) -> list[str]:
    """Open the index and ask for any of the words."""
    opened = import_module("tantivy").Index.open(str(index))
    searcher = opened.searcher()
    hits = searcher.search(opened.parse_query(query, ["text"]), BEST).hits
    return [searcher.doc(address)["name"][0] for _, address in hits]


PEERS = {
    "rank_bm25": Peer(build_rank_bm25, query_rank_bm25),
    "bm25s": Peer(build_bm25s, query_bm25s),
    "SQLite FTS5": Peer(build_fts5, query_fts5),
    "tantivy": Peer(build_tantivy, query_tantivy),
}


def main(action: str, name: str, *arguments: str) -> None:
    """Build or ask, once."""
    peer = PEERS[name]
    if action == "build":
        root, index = (Path(argument) for argument in arguments)
        index.mkdir(parents=True)
        peer.build(index, documents(root))
        return
    found = peer.query(Path(arguments[0]), arguments[1])
    if not found:
        raise SystemExit(f"{name} found nothing")
    print("\n".join(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
