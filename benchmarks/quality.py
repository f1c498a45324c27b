"""Measures what rankings are worth: ours beside those of search libraries, on test collections with known answers.

    python benchmarks/quality.py DIR [--collections NAME...] [--rankers NAME...]

DIR holds the collections' files as they are published: Cranfield (`cran.all.1400.xml`, `cran.qry.xml`,
`cranqrel.trec.txt`) and XQuAD (`xquad.zh.json`, `xquad.ru.json`). Needs `pip install memory-health[bench]`.

One record a document: Cranfield's title and text, XQuAD's paragraph, and no other words. A query is cut at 64 terms;
one without a term counts 0. Every library gets the same documents and the same queries, and its own BM25.
"""

import argparse
import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from measure import show_table

from cortex.benchmark.metrics import mean, ndcg, recall, reciprocal_rank
from cortex.corpus.record import Provenance, Record
from cortex.retrieval.analyzer import analyse_query
from cortex.retrieval.filters import Filters
from cortex.retrieval.search import rank
from policies.limits import QUERY_MAX_WORDS

BEST = 10
METRICS = ("Recall@5", "MRR@10", "nDCG@10")
_WORD = re.compile(r"\w+")


class Document(NamedTuple):
    """A document of a collection."""

    id: str
    title: str
    text: str


class Question(NamedTuple):
    """A query, and what each document that answers it is worth."""

    text: str
    gains: dict[str, float]


class Collection(NamedTuple):
    """Documents and questions."""

    documents: list[Document]
    questions: list[Question]


Ask = Callable[[str], list[str]]  # a query to the ids of the ten best documents


def cranfield(folder: Path) -> Collection:
    """Read 1,400 abstracts on aerodynamics and 225 queries; a judgement names the n-th query, whatever its number."""
    documents = [
        Document(_text_of(entry, "docno"), _text_of(entry, "title"), _text_of(entry, "text"))
        for entry in _parse(folder / "cran.all.1400.xml").iter("doc")
    ]
    questions = [Question(_text_of(entry, "title"), {}) for entry in _parse(folder / "cran.qry.xml").iter("top")]
    for line in (folder / "cranqrel.trec.txt").read_text(encoding="ascii").splitlines():
        query, _, document, relevance = line.split()
        if int(relevance) > 0:
            questions[int(query) - 1].gains[document] = 1.0
    return Collection(documents, questions)


def xquad(path: Path) -> Collection:
    """Read paragraphs, and the questions that were asked of each."""
    documents: list[Document] = []
    questions: list[Question] = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            document = Document(f"p{len(documents)}", "", paragraph["context"])
            documents.append(document)
            questions += [Question(asked["question"], {document.id: 1.0}) for asked in paragraph["qas"]]
    return Collection(documents, questions)


def ours(analyzer: str) -> Callable[[Sequence[Document]], Ask]:
    """Return our ranking by an analyzer."""

    def build(documents: Sequence[Document]) -> Ask:
        origin = Provenance("benchmark", None, "")
        records = [
            Record(name, "memory", title, "", "", origin, text, (), None, None, 0, 0, None, None)
            for name, title, text in documents
        ]

        def ask(text: str) -> list[str]:
            query = analyse_query(text, analyzer)
            cut = query._replace(terms=query.terms[:QUERY_MAX_WORDS])
            return [hit.id for hit in rank(records, cut, Filters(), 0.0).hits[:BEST]]

        return ask

    return build


def rank_bm25(documents: Sequence[Document]) -> Ask:
    """Okapi BM25 over words in Python dictionaries; it brings no analyzer, so words are runs of letters and digits."""
    names = [document.id for document in documents]
    ranking = import_module("rank_bm25").BM25Okapi([_words(_whole(document)) for document in documents])

    def ask(text: str) -> list[str]:
        best: list[str] = ranking.get_top_n(_words(text), names, n=BEST)
        return best

    return ask


def bm25s(documents: Sequence[Document]) -> Ask:
    """Sparse matrices, its own analyzer, no stop words."""
    library = import_module("bm25s")
    names = [document.id for document in documents]
    ranking = library.BM25()
    texts = [_whole(document) for document in documents]
    ranking.index(library.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)

    def ask(text: str) -> list[str]:
        tokens = library.tokenize([text], stopwords=None, show_progress=False)
        found, scores = ranking.retrieve(tokens, k=BEST, show_progress=False)
        return [names[number] for number, score in zip(found[0], scores[0], strict=True) if score > 0]

    return ask


def fts5(tokenizer: str, terms: Callable[[str], list[str]]) -> Callable[[Sequence[Document]], Ask]:
    """Return a full-text table of SQLite with one of its tokenizers, asked for any of a query's terms."""

    def build(documents: Sequence[Document]) -> Ask:
        database = sqlite3.connect(":memory:")
        database.execute(f"CREATE VIRTUAL TABLE documents USING fts5(name UNINDEXED, text, tokenize='{tokenizer}')")
        rows = [(document.id, _whole(document)) for document in documents]
        database.executemany("INSERT INTO documents VALUES (?, ?)", rows)

        def ask(text: str) -> list[str]:
            any_of = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms(text)))
            asked = "SELECT name FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?"
            return [name for (name,) in database.execute(asked, (any_of, BEST))] if any_of else []

        return ask

    return build


def tantivy(documents: Sequence[Document]) -> Ask:
    """Tantivy's inverted index, in memory, with its default tokenizer."""
    library = import_module("tantivy")
    schema = library.SchemaBuilder().add_text_field("name", stored=True).add_text_field("text").build()
    index = library.Index(schema)
    writer = index.writer()
    for document in documents:
        writer.add_document(library.Document(name=[document.id], text=[_whole(document)]))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ask(text: str) -> list[str]:
        try:
            query = index.parse_query(" ".join(_words(text)), ["text"])
        except ValueError:  # its tokenizer drops words of more than 40 bytes, and here nothing was left
            return []
        hits = searcher.search(query, BEST).hits
        return [searcher.doc(address)["name"][0] for _, address in hits]

    return ask


def _text_of(entry: ET.Element, tag: str) -> str:
    return (entry.findtext(tag) or "").strip()


def _parse(path: Path) -> ET.Element:
    """Return the elements of a file that has a row of them instead of one that holds all."""
    text = re.sub(r"<\?xml[^>]*\?>", "", path.read_text(encoding="utf-8"))
    return ET.fromstring(f"<all>{text}</all>")  # noqa: S314 - a published collection that the caller names


def _whole(document: Document) -> str:
    return f"{document.title} {document.text}"


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())[:QUERY_MAX_WORDS]


def _trigrams(text: str) -> list[str]:
    return [word[at : at + 3] for word in _words(text) for at in range(len(word) - 2)]


COLLECTIONS: dict[str, Callable[[Path], Collection]] = {
    "Cranfield": cranfield,
    "XQuAD-zh": lambda folder: xquad(folder / "xquad.zh.json"),
    "XQuAD-ru": lambda folder: xquad(folder / "xquad.ru.json"),
}
RANKERS: dict[str, Callable[[Sequence[Document]], Ask]] = {
    "cortex, ascii": ours("ascii"),
    "cortex, unicode": ours("unicode"),
    "cortex, auto": ours("auto"),
    "rank_bm25": rank_bm25,
    "bm25s": bm25s,
    "SQLite FTS5, unicode61": fts5("unicode61", _words),
    "SQLite FTS5, porter": fts5("porter unicode61", _words),
    "SQLite FTS5, trigram": fts5("trigram", _trigrams),
    "tantivy": tantivy,
}


def judge(collection: Collection, ask: Ask) -> tuple[float | None, ...]:
    """Return the means of `METRICS` over a collection's questions."""
    rankings = [(ask(question.text), question.gains) for question in collection.questions]
    return (
        mean([recall(found, gains, 5) for found, gains in rankings]),
        mean([reciprocal_rank(found, gains, BEST) for found, gains in rankings]),
        mean([ndcg(found, gains, BEST) for found, gains in rankings]),
    )


def measure_all(folder: Path, collections: Sequence[str], rankers: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each collection and ranker: their names, then the metrics."""
    for title in collections:
        collection = COLLECTIONS[title](folder)
        for name in rankers:
            values = judge(collection, RANKERS[name](collection.documents))
            yield (title, name, *("" if value is None else f"{value:.3f}" for value in values))


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure what rankings are worth on test collections.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that holds the collections' files")
    parser.add_argument("--collections", nargs="+", choices=COLLECTIONS, default=list(COLLECTIONS))
    parser.add_argument("--rankers", nargs="+", choices=RANKERS, default=list(RANKERS))
    options = parser.parse_args()
    rows = list(measure_all(options.folder, options.collections, options.rankers))
    show_table(("collection", "ranker", *METRICS), rows, words=("ranker",))


if __name__ == "__main__":
    main()
