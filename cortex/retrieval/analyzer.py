"""Text to terms: two analyzers, and the rule by which a query chooses one.

`ascii`    a term is a maximal run of `[a-z0-9]` in the lower-cased text.
`unicode`  the text is NFKC-normalised and case-folded; a word is a maximal run of letters, marks and digits; in it
           each maximal run of a script written without blanks (Han, kana, Hangul, Thai) gives its overlapping pairs
           (alone: the character), and every other run is one term.
`auto`     `ascii` for a query of ASCII characters, else `unicode`.

A document is never tokenised as a whole where that can be avoided: ranking needs its length in terms and the counts
of the query's terms alone, and both can be counted over bytes at C speed (`Profile`).
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

AnalyzerName = Literal["ascii", "unicode"]
ANALYZERS: Final = ("ascii", "unicode", "auto")


class Profile(NamedTuple):
    """What ranking needs of a document: its number of terms, and how often each query term stands in it."""

    length: int
    counts: tuple[int, ...]


class Query(NamedTuple):
    """An analysed query: its distinct terms in order of first sight, and how many words it has in all."""

    analyzer: AnalyzerName
    terms: tuple[str, ...]
    words: int


def analyse_query(text: str, analyzer: str) -> Query:
    """Return the terms of `text` by one of `ANALYZERS`."""
    name: AnalyzerName = "ascii" if analyzer == "ascii" or (analyzer == "auto" and text.isascii()) else "unicode"
    terms = ascii_terms(text) if name == "ascii" else unicode_terms(text)
    words = len(terms) if name == "ascii" else len(_words(text))
    return Query(name, tuple(dict.fromkeys(terms)), words)


def ascii_terms(text: str) -> list[str]:
    """Return the terms of `text`, in order, by the ascii analyzer."""
    return _fold(text).decode("ascii").split()


def unicode_terms(text: str) -> list[str]:
    """Return the terms of `text`, in order, by the unicode analyzer."""
    if text.isascii():
        return ascii_terms(text)
    return [term for word in _words(text) for term in _terms_of_word(word)]


class Profiler:
    """Profiles documents for one query. Made once a search, called once a document."""

    def __init__(self, query: Query) -> None:
        self._terms = query.terms
        self._padded = [f" {term} ".encode() for term in query.terms]
        self._reads_unicode = query.analyzer == "unicode"

    def __call__(self, text: str) -> Profile:
        """Return the profile of one document's text. A text that begins and ends with a blank is spared a copy."""
        if self._reads_unicode and not text.isascii():
            found = Counter(unicode_terms(text))
            return Profile(found.total(), tuple([found[term] for term in self._terms]))
        folded = _fold(text if text.startswith(" ") and text.endswith(" ") else f" {text} ")
        counts = [folded.count(padded) for padded in self._padded]
        if any(counts):
            counts = [_count(padded, folded, count) for padded, count in zip(self._padded, counts, strict=True)]
        return Profile(_count_words(folded), tuple(counts))


def _count(padded: bytes, folded: bytes, count: int) -> int:
    """Correct a count of a term between blanks: neighbours share a blank, which is seen once; then split the words."""
    if count and padded + padded[1:] in folded:
        return folded.split().count(padded[1:-1])
    return count


def _count_words(folded: bytes) -> int:
    """Count the words between blanks: half of the places at which a word begins or ends, found in one long number."""
    inside = int.from_bytes(folded.translate(_IS_IN_WORD), "little")
    return (inside ^ (inside << 8)).bit_count() // 2


def _fold(text: str) -> bytes:
    """Lower-case, with a blank for everything that is no `[a-z0-9]`. Other letters may lower-case into these (K)."""
    if text.isascii():
        return text.encode("ascii").translate(_FOLD)
    return text.lower().encode("ascii", "replace").translate(_FOLD)


def _words(text: str) -> list[str]:
    """Return the maximal runs of letters, marks and digits of the normalised, case-folded text."""
    from unicodedata import category, normalize

    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    # `\w` knows letters and digits; marks are added as they occur, since no class of Python's names them.
    marks = sorted(c for c in set(folded) if not c.isascii() and not c.isalnum() and category(c)[0] == "M")
    return re.findall(f"(?:[^\\W_]|[{''.join(marks)}])+" if marks else r"[^\W_]+", folded)


def _terms_of_word(word: str) -> Iterable[str]:
    """Return the terms of one word: pairs where its script has no blanks between words, else the run as it is."""
    if word.isascii() or not re.search(f"[{_UNSPACED}]", word):
        return (word,)
    return [
        term
        for run in re.finditer(_RUN, word)
        for term in (_pairs(run.group()) if run.lastgroup == "unspaced" else (run.group(),))
    ]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]


_ALPHABET: Final = b"abcdefghijklmnopqrstuvwxyz0123456789"
_FOLD: Final = bytes(
    byte if byte in _ALPHABET else byte + 32 if 65 <= byte <= 90 else 32
    for byte in range(256)
)  # fmt: skip
_IS_IN_WORD: Final = bytes(byte in _ALPHABET for byte in range(256))

# Scripts written without blanks between words, by block (Unicode 16: Blocks.txt, Scripts.txt).
_UNSPACED: Final = (
    r"\u0e01-\u0e3a\u0e40-\u0e5b"  # Thai
    r"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    r"\u3040-\u30ff\u31f0-\u31ff\U0001aff0-\U0001afff\U0001b000-\U0001b16f"  # Hiragana, Katakana
    r"\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b"  # Han: radicals, iteration mark, numerals
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han: ideographs
)
_RUN: Final = f"(?P<unspaced>[{_UNSPACED}]+)|[^{_UNSPACED}]+"
