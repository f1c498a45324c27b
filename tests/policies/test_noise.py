"""Noise control, beyond the vectors: its boundaries, as tables."""

import pytest

from policies.noise import Alert, NoiseEntry, fold_blanks, noise_key, normalize_note, reduce_noise

NOW = 1_786_363_200_000
WINDOW = 60_000


def entry(count: int = 1, last: int = NOW, *, silenced: bool = False) -> NoiseEntry:
    return NoiseEntry(count, NOW - 10 * WINDOW, last, silenced, "disk 9% full")


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        (" a \t\r\n b ", "a b"),
        ("a\ufeffb", "a b"),
        ("a\u3000\u2028b", "a b"),
        ("a\x1cb\x1fc\x85d", "a\x1cb\x1fc\x85d"),
        ("\u180ea\u200b", "\u180ea\u200b"),
    ],
)
def test_white_space_is_what_ecmascript_takes_for_it(text, folded):
    assert fold_blanks(text) == folded


@pytest.mark.parametrize(
    ("note", "normal"),
    [
        (None, ""),
        ("attempt 1 of 90", "attempt # of #"),
        ("温度 80，过高！", "温度 # 过高"),
        ("３５ 度", "３５ 度"),
        ("x" * 121, "x" * 120),
        ("5" * 500, "#"),
    ],
)
def test_a_note_is_the_same_whatever_its_numbers(note, normal):
    assert normalize_note(note) == normal


@pytest.mark.parametrize(
    ("alert", "key"),
    [(None, "?::"), (Alert(None, "a"), "?::a"), (Alert("", "a"), "::a"), (Alert("heart", None), "heart::")],
)
def test_a_missing_organ_is_a_question_mark_and_a_missing_note_is_empty(alert, key):
    assert noise_key(alert) == key


@pytest.mark.parametrize(
    ("before", "suppressed", "silenced", "converged"),
    [
        (entry(1, NOW), 1, False, False),
        (entry(1, NOW - WINDOW + 1), 1, False, False),
        (entry(1, NOW - WINDOW), 0, False, False),
        (entry(3, NOW - WINDOW), 0, False, False),
        (entry(4, NOW - WINDOW), 0, True, True),
        (entry(4, NOW - WINDOW + 1), 1, False, False),
        (entry(9, NOW + 1), 0, True, True),  # the clock stepped back
        (entry(9, NOW, silenced=True), 0, True, False),
    ],
)
def test_within_the_window_an_alert_is_suppressed_and_past_the_count_silenced(before, suppressed, silenced, converged):
    ledger = {"heart::disk #% full": before}

    after = reduce_noise(ledger, [Alert("heart", "disk 10% full")], NOW, WINDOW, 5)

    assert after.suppressed == suppressed
    assert after.converged == (("heart::disk #% full",) if converged else ())
    assert after.ledger == {"heart::disk #% full": before._replace(count=before.count + 1, last=NOW, silenced=silenced)}
    assert ledger == {"heart::disk #% full": before}


def test_the_same_alert_ninety_times_is_one_entry_and_another_one_comes_out_at_once():
    """Ten minutes apart each, so that the window never helps."""
    ledger, spoken = {}, []
    for attempt in range(1, 91):
        now = NOW + attempt * 10 * WINDOW
        alerts = [Alert("disk", f"attempt {attempt}")] + [Alert("disk", "burning")] * (attempt == 45)
        before = ledger
        ledger, suppressed, _ = reduce_noise(ledger, alerts, now, WINDOW, 5)
        spoken += [key for key, after in ledger.items() if before.get(key) != after and not after.silenced]
        assert suppressed == 0

    assert ledger["disk::attempt #"].count == 90
    assert ledger["disk::attempt #"].last == now
    assert spoken == ["disk::attempt #"] * 4 + ["disk::burning"]


def test_no_alerts_change_nothing():
    ledger = {"a::b": entry()}
    assert reduce_noise(ledger, [], NOW, WINDOW, 5) == (ledger, 0, ())


def test_a_sample_is_cut_at_160_characters():
    after = reduce_noise({}, [Alert("a", "词" * 200)], NOW, WINDOW, 5)
    assert next(iter(after.ledger.values())).sample == "词" * 160
