"""Privacy, a property for each sentence of its rules."""

import json
import re
import sys
from unicodedata import category, normalize

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex.privacy import DEFAULT_IGNORABLE, LOOK_ALIKES, may_hold_opener, strip_private
from cortex.text import WHITE_SPACE

SECRET = "s3cret"
BLANKS = st.text(alphabet=WHITE_SPACE, max_size=3)
INVISIBLE = "\0\x07\x85\u00ad\u034f\u061c\u115f\u180b\u200b\u200f\u202e\u2060\u3164\ufe00\ufe0f\ufeff\uffa0\U000e0001"
LETTERS = {
    letter: sorted(
        {letter, letter.upper(), chr(ord(letter) + 0xFEE0), chr(ord(letter) - 97 + 0x1D41A)}
        | {form for form, reads_as in LOOK_ALIKES.items() if reads_as == letter}
        | {form.upper() for form, reads_as in LOOK_ALIKES.items() if reads_as == letter and len(form.upper()) == 1}
    )
    for letter in "private"
}


@st.composite
def spelled(draw: st.DrawFn) -> str:
    """The word `private` as somebody may spell it."""
    parts = []
    for letter in "private":
        parts.append(draw(st.text(alphabet=INVISIBLE + WHITE_SPACE, max_size=1)))
        parts.append(draw(st.sampled_from(LETTERS[letter])))
        parts.append(draw(st.sampled_from(["", "", "\u0301", "\u0307"])))
    return "".join(parts)


def in_any_case(word: str) -> st.SearchStrategy[str]:
    return st.tuples(*[st.sampled_from([letter, letter.upper()]) for letter in word]).map("".join)


def tag(slash: str) -> st.SearchStrategy[str]:
    """A well-formed tag."""
    inside = st.text(alphabet=st.characters(exclude_characters="<>", exclude_categories=["Cs"]), max_size=6)
    end = st.one_of(st.just(""), st.tuples(st.sampled_from(WHITE_SPACE), inside).map("".join))
    return st.tuples(
        st.just("<"),
        BLANKS,
        st.just(slash),
        BLANKS if slash else st.just(""),
        in_any_case("private"),
        end,
        st.just(">"),
    ).map("".join)


OPENING, CLOSING = tag(""), tag("/")
UNTRUSTED = st.tuples(st.sampled_from("<＜﹤"), spelled(), st.sampled_from(["", ">", " x>", "-x>", "＞", "/>"])).map(
    "".join
)
PIECES = st.one_of(
    OPENING, CLOSING, UNTRUSTED, st.sampled_from(["<", ">", "</", "<pri", "vate>", "/private>", " ", "\n", "漢", "a<b"])
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=12).map("".join)


def is_invisible(character: str) -> bool:
    ignorable = any(first <= ord(character) <= last for first, last in DEFAULT_IGNORABLE)
    return ignorable or character in WHITE_SPACE or category(character) in ("Cc", "Cf")


def reads_as_private(piece: str) -> bool:
    """The rule of untrusted openers, word by word and slowly."""
    kept = "".join(character for character in normalize("NFKC", piece) if not is_invisible(character))
    bare = "".join(character for character in normalize("NFD", kept) if category(character) != "Mn")
    lower = "".join(LOOK_ALIKES.get(character, character) for character in bare).lower()
    return "".join(LOOK_ALIKES.get(character, character) for character in lower).startswith("private")


BLANK = f"[{WHITE_SPACE}]"
WELL_FORMED = re.compile(f"<{BLANK}*(/?){BLANK}*[pP][rR][iI][vV][aA][tT][eE](?:{BLANK}[^<>]*)?>")


def strip_slowly(text: str) -> str:
    """One round, as the rules say it."""
    for opener in re.finditer("[<＜﹤]", text):
        piece = text[opener.end() :].partition(">")[0]
        trusted = WELL_FORMED.match(text, opener.start())
        if reads_as_private(piece) and not (trusted and not trusted[1]):
            text = text[: opener.start()]
            break
    kept, depth, start = [], 0, 0
    for found in WELL_FORMED.finditer(text):
        kept += [text[start : found.start()]] if depth == 0 else []
        depth = max(0, depth - 1) if found[1] else depth + 1
        start = found.end()
    return "".join(kept) + (text[start:] if depth == 0 else "")


class TestStripping:
    @given(TEXTS)
    @example("</pri</pri</pri</pri</pri</private>vate>vate>vate>vate>vate>")
    def test_a_second_time_changes_nothing(self, text: str) -> None:
        """So stripping is idempotent."""
        once = strip_private(text)
        assert strip_private(once) == once

    @given(TEXTS)
    def test_it_never_grows_and_adds_nothing(self, text: str) -> None:
        """Text is only taken out."""
        rest = iter(text)
        assert all(character in rest for character in strip_private(text))

    @given(TEXTS)
    @settings(max_examples=300)
    def test_it_does_what_the_rules_say_word_by_word(self, text: str) -> None:
        """Two passes, repeated: at most four rounds, then a cut."""
        slowly = text
        for _ in range(4):
            slowly = strip_slowly(slowly)
        if strip_slowly(slowly) == slowly:
            assert strip_private(text) == slowly
        else:
            assert slowly.startswith(strip_private(text))

    @given(st.text(alphabet="ab\n <漢", max_size=5), OPENING, st.text(max_size=5), CLOSING, st.text(alphabet="cd\n 字"))
    def test_nothing_in_a_well_formed_span_comes_through(
        self, before: str, opening: str, inside: str, closing: str, after: str
    ) -> None:
        """Text inside opening and closing tags is dropped."""
        public = strip_private(before + opening + inside.replace("<", "") + SECRET + closing + after)
        assert SECRET not in public
        assert public == before + after

    @given(st.lists(OPENING, min_size=1, max_size=4), st.lists(CLOSING, max_size=4))
    def test_nested_spans_hide_their_inside_until_the_last_is_closed(
        self, opened: list[str], closed: list[str]
    ) -> None:
        """An opening tag deepens; at the end with depth > 0 the rest stays dropped."""
        closed = closed[: len(opened)]
        public = strip_private(f"a{SECRET.join(opened)}{SECRET}{'x'.join(closed)}tail")
        assert public == ("atail" if len(closed) == len(opened) else "a")

    @given(UNTRUSTED, st.text(max_size=5))
    @settings(max_examples=300)
    def test_nothing_after_an_opener_spelled_in_any_way_comes_through(self, opener: str, inside: str) -> None:
        """However the tag is spelled, what follows it is not seen unless a well-formed tag closes it."""
        assert strip_private(f"seen{opener}{inside}{SECRET}") == "seen"

    @given(OPENING, CLOSING)
    def test_escapes_hide_nothing_once_the_string_is_decoded(self, opening: str, closing: str) -> None:
        r"""JSONL is decoded first, so `\u003cprivate>` hides nothing."""
        written = json.dumps(opening + SECRET + closing)
        escaped = written.replace("<", "\\u003c").replace("p", "\\u0070").replace("/", "\\/")
        assert strip_private(json.loads(escaped)) == ""

    @given(TEXTS)
    def test_text_without_a_possible_opener_is_left_alone(self, text: str) -> None:
        """There is a fast path for text without a possible opener."""
        if not may_hold_opener(text):
            assert strip_slowly(text) == text


def test_every_character_that_reads_as_part_of_the_word_is_known() -> None:
    """A single character may spell several letters; whatever Unicode has of that kind opens a span too."""
    for code in range(0x80, sys.maxunicode + 1):
        character = chr(code)
        if category(character) in ("Cs", "Cn", "Co") or normalize("NFKC", character) == character:
            continue
        reads = "".join(part for part in normalize("NFKD", character).lower() if category(part) != "Mn")
        for start in range(7):
            rest = "private"[start:]
            if reads and (rest.startswith(reads) or reads.startswith(rest)):
                spelled_with_it = "private"[:start] + character + rest[len(reads) :]
                assert strip_private(f"<{spelled_with_it}>{SECRET}") == "", hex(code)
