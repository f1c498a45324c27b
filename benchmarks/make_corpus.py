"""Makes a memory to search in, and queries for it.

    python benchmarks/make_corpus.py OUT S|M|L [SEED]

    S   1,500 Markdown notes of about 2 KB
    M   10,000 of them, as many files as a corpus may have
    L   50,000 JSONL records, as many as a corpus may have, about 120 MB in 50 files

The memory is `OUT/root`, its corpus `OUT/root/KNOWLEDGE`. `OUT/queries.json` has a query for each kind of word:
`common`, `middling`, `rare`, and `mixed`, which is one common, two middling and one rare word. Same seed, same bytes.

Words are drawn as in a language: the n-th most frequent about 1/n times as often as the first (Zipf). Some notes hold
a private span, some are no longer valid, most name others as related.
"""

import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvz" for vowel in "aeiou"]
WORDS = 8_000
# Paragraphs are made once and drawn many times: making 120 MB word by word would take longer than measuring.
PARAGRAPHS = 4_000
PARAGRAPH_WORDS = (20, 90)
FIRST_DAY = datetime(2022, 1, 1, tzinfo=UTC)
PRIVATE_EVERY = 30
EXPIRED_EVERY = 60
TYPES = ("idea", "research", "person", "decision")
# Where the words of the queries stand among all words, by frequency; a rare word stands in no paragraph.
COMMON, MIDDLING, RARE = 3, (150, 1_200), WORDS - 1
RARE_RECORDS = 5


class Size(NamedTuple):
    """What a size comes to: so many records of so many characters of text, in so many JSONL files (0: notes)."""

    records: int
    characters: int
    files: int


SIZES = {"S": Size(1_500, 1_700, 0), "M": Size(10_000, 1_700, 0), "L": Size(50_000, 2_150, 50)}


class Language:
    """A vocabulary and paragraphs in it."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.words = list(islice(self._invent(), WORDS))
        weights = list(accumulate(1 / rank for rank in range(1, WORDS)))  # the last word, the rare one, is left out
        self.paragraphs = [self._paragraph(weights) for _ in range(PARAGRAPHS)]

    def text(self, characters: int) -> str:
        """Return paragraphs of about so many characters in all."""
        chosen = []
        missing = characters
        while missing > 0:
            chosen.append(self._chance.choice(self.paragraphs)[:missing])
            missing -= len(chosen[-1]) + 2
        return "\n\n".join(chosen)

    def title(self) -> str:
        """Return a few words."""
        return " ".join(self._chance.choices(self.words[:-1], k=4)).capitalize()

    def _invent(self) -> Iterator[str]:
        seen = set()
        while True:
            word = "".join(self._chance.choices(SYLLABLES, k=self._chance.choice((2, 3, 3, 4))))
            if word not in seen:
                seen.add(word)
                yield word

    def _paragraph(self, weights: list[float]) -> str:
        count = self._chance.randint(*PARAGRAPH_WORDS)
        words = self._chance.choices(self.words[:-1], cum_weights=weights, k=count)
        return " ".join(words).capitalize() + "."


def records(chance: random.Random, language: Language, size: Size) -> Iterator[dict[str, object]]:
    """Yield records with the keys of a JSONL row, each a minute or more younger than the one before."""
    created = FIRST_DAY
    rare = set(chance.sample(range(size.records), RARE_RECORDS))
    for number in range(size.records):
        created += timedelta(minutes=chance.randint(1, 50))
        record: dict[str, object] = {
            "id": f"r-{number:05}",
            "type": chance.choice(TYPES),
            "title": language.title(),
            "created": stamp(created),
            "updated": stamp(created + timedelta(hours=chance.randint(0, 999))),
            "source_kind": "manual",
            "related": [f"r-{chance.randrange(size.records):05}" for _ in range(chance.randint(0, 3))],
            "content": language.text(size.characters),
        }
        if number % EXPIRED_EVERY == 0:
            record["valid_until"] = stamp(created + timedelta(days=1))
        if number in rare:
            record["content"] = f"{language.words[RARE]} {record['content']}"
        yield record


def stamp(instant: datetime) -> str:
    """Return an instant as records have it."""
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def note(record: dict[str, object], number: int) -> str:
    """Return a record as a Markdown note."""
    related = record["related"]
    fields = {name: value for name, value in record.items() if name not in ("content", "related")}
    head = "".join(f"{name}: {value}\n" for name, value in fields.items())
    if isinstance(related, list) and related:
        head += "related:\n" + "".join(f"  - slug: {name}\n    type: supports\n" for name in related)
    private = "<private>nobody is to find this</private>\n" if number % PRIVATE_EVERY == 0 else ""
    return f"---\n{head}---\n\n# {record['title']}\n\n{record['content']}\n{private}"


def make(out: Path, size: Size, seed: int) -> None:
    """Write the memory and its queries below `out`, in which there must be none yet."""
    chance = random.Random(seed)  # noqa: S311 - the same bytes again, no secret
    language = Language(chance)
    knowledge = out / "root" / "KNOWLEDGE"
    knowledge.mkdir(parents=True)
    everything = records(chance, language, size)
    for number in range(size.files):
        with (knowledge / f"log-{number:02}.jsonl").open("w", encoding="utf-8") as log:
            log.writelines(json.dumps(record) + "\n" for record in islice(everything, size.records // size.files))
    for number, record in enumerate(everything):  # what is left, which is all of them where there are no files
        path = knowledge / str(record["type"]).capitalize() / f"{number // 500:02}" / f"{record['id']}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(record, number), encoding="utf-8")
    (out / "queries.json").write_text(json.dumps(queries(language.words)) + "\n", encoding="utf-8")


def queries(words: list[str]) -> dict[str, str]:
    """Return the queries by name."""
    common, rare = words[COMMON], words[RARE]
    first, second = (words[place] for place in MIDDLING)
    return {"common": common, "middling": first, "rare": rare, "mixed": f"{common} {first} {second} {rare}"}


if __name__ == "__main__":
    make(Path(sys.argv[1]), SIZES[sys.argv[2]], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
