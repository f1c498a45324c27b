"""The privacy boundary, case by case."""

from unicodedata import normalize

import pytest

from cortex.privacy import LOOK_ALIKES, Stripped, may_hold_opener, strip_and_tell, strip_private

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("", ""),
        ("nothing to hide", "nothing to hide"),
        ("a <b>bold</b> 1 < 2 > 0 <", "a <b>bold</b> 1 < 2 > 0 <"),
        ("a <private>s3cret</private> b", "a  b"),
        ("<private>x<private>y</private>s3cret</private>!", "!"),
        ("a <private>s3cret", "a "),
        ("ok</private>tail", "oktail"),
        ('<PRIVATE\n k="v" >s3cret</private >tail', "tail"),
        ("< private >s3cret< / private >tail", "tail"),
        ("<\u3000private\u2003x>s3cret<\ufeff/\u00a0private\n>tail", "tail"),
        ("<private>s3cret</private data-x>tail", "tail"),
        ("<private>s3cret</private/>tail", ""),
        ("<private>s3cret</private-x>still s3cret</private>tail", "tail"),
        ("<private>s3cret</private still s3cret", ""),
        ("a\r\n<private>\r\ns3cret\u2028\u0085\r</private>\r\nb", "a\r\n\r\nb"),
        ("<div private>x</div> &lt;private&gt;y", "<div private>x</div> &lt;private&gt;y"),
        ("<!-- <private>s3cret</private> -->", "<!--  -->"),
        ("<p><privat>x</privat> < pri < vate>", "<p><privat>x</privat> < pri < vate>"),
    ],
)
def test_what_stands_in_a_span_is_dropped_and_the_rest_stays(text: str, public: str) -> None:
    assert strip_and_tell(text) == Stripped(public, cut=False)


@pytest.mark.parametrize(
    "opener",
    [
        "<private-repo>", "<private/>", "<privateer>", "<private1>", "<private:x>", "<PrivateRoute path='/x'>",
        "<private", "<private s3cret", "<private <b>", "< p r i v a t e >", "<pri\u200bvate>", "<pri\u00advate>",
        "<pri\x00vate>", "<pri\x85vate>", "<\u202eprivate>", "<private\u2060>", "<ｐｒｉｖａｔｅ>",
        "<𝐩rivate>", "<рrivate>",
        "<Рrivate>", "<prıvate>", "<PRİVATE>", "<ⓟrivate>", "<priᴠate>", "<privαte>", "<privάte>", "<privaté>",
        "<private\u0301>", "<p\u0304rivate>", "<pri\ufe0fvate>", "<pri\u034fvate>", "<pri\U000e0101vate>",
        "<pri\u3164vate>", "<㏚ivate>", "<prⅣate>", "<prⅳate>", "<priva℡>", "<privat㋎>", "<privat㋍>", "＜private>",
        "﹤private>", "＜private＞", "<private＞",
    ],
)  # fmt: skip
def test_an_untrusted_opener_cuts_the_text_there(opener: str) -> None:
    text = f"seen {opener} s3cret </private> s3cret"
    assert may_hold_opener(text)
    assert strip_and_tell(text) == Stripped("seen ", cut=True)


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("<pri<private>x</private>vate>s3cret</private>t", ""),
        ("a<pri</private>vate>s3cret</private>b", "a"),
        ("</pri</private>vate>b", "b"),
        ("<private><private></private>s3cret</private>b", "b"),
    ],
)
def test_what_one_round_joins_up_the_next_one_sees(text: str, public: str) -> None:
    assert strip_private(text) == public


@pytest.mark.parametrize("depth", range(1, 12))
def test_nested_halves_of_tags_never_come_together(depth: int) -> None:
    text = "a" + "<pri" * depth + "<private>x</private>" + "vate>" * depth + SECRET
    public = strip_private(text)
    assert SECRET not in public
    assert strip_private(public) == public


def test_past_the_last_round_the_text_is_cut_and_that_is_told() -> None:
    text = "</pri" * 6 + "</private>" + "vate>" * 6 + "tail"
    assert strip_and_tell(text) == Stripped("</pri</pri", cut=True)


@pytest.mark.parametrize(("look_alike", "letter"), LOOK_ALIKES.items())
def test_every_look_alike_and_its_capital_reads_as_its_letter(look_alike: str, letter: str) -> None:
    for form in (look_alike, look_alike.upper(), normalize("NFC", look_alike + "\u0301")):
        spelled = "private".replace(letter, form, 1)
        assert strip_private(f"<{spelled}>{SECRET}") == "", spelled


def test_text_without_an_opener_comes_back_as_the_same_object() -> None:
    text = "a < b, <em>, ＞ and 漢字"
    assert strip_private(text) is text
