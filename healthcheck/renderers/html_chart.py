"""The history as a picture: a column a run (or a few runs), a band a severity, oldest at the left.

Many runs share a column; every severity that one of them had is marked in it, so that one bad run in a thousand still
shows. Words stand beside the picture, not in it: they keep their size where it shrinks.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from healthcheck.checks import Severity
from healthcheck.course import PastRun
from healthcheck.words import counted, duration
from policies.timestamps import format_instant

COLUMNS: Final = 240
_WIDTH: Final = 1200
_BAND: Final = 40
_LEVELS: Final = (Severity.CRITICAL, Severity.WARN, Severity.OK)


def chart(runs: Sequence[PastRun]) -> str:
    """Return the picture of at least one run, with its words, as a figure in HTML."""
    per_column = -(-len(runs) // COLUMNS)
    columns = [
        frozenset(run.overall for run in runs[start : start + per_column])
        for start in range(0, len(runs), per_column)
    ]  # fmt: skip
    return (
        '<figure class="chart">\n<ul class="levels">'
        + "".join(f"<li>{severity.word}</li>" for severity in _LEVELS)
        + f'</ul>\n<svg viewBox="0 0 {_WIDTH} {_BAND * len(_LEVELS)}" preserveAspectRatio="none" role="img" '
        + 'aria-labelledby="chart-title chart-words">\n<title id="chart-title">Verdicts, oldest at the left</title>\n'
        + "".join(_bands(columns))
        + f'</svg>\n<div class="axis">{_axis(runs)}</div>\n'
        + f'<figcaption id="chart-words">{_words(runs, per_column)}</figcaption>\n</figure>\n'
    )


def _bands(columns: Sequence[frozenset[Severity]]) -> Iterator[str]:
    for row, severity in enumerate(_LEVELS):
        top = row * _BAND
        yield f'<rect class="band-{severity.word}" y="{top}" width="{_WIDTH}" height="{_BAND}"/>\n'
        marks = [severity in column for column in columns]
        if any(marks):
            path = "".join(
                f"M{begin:g} {top + 4}h{end - begin:g}v{_BAND - 8}h{begin - end:g}z" for begin, end in _stretches(marks)
            )
            yield f'<path class="runs-{severity.word}" d="{path}"/>\n'


def _stretches(marks: Sequence[bool]) -> Iterator[tuple[float, float]]:
    """Yield where each stretch of marked columns begins and ends."""
    width = _WIDTH / len(marks)
    edges = [index for index, (left, right) in enumerate(pairwise((False, *marks, False))) if left != right]
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        yield round(begin * width, 2), round(end * width, 2)


def _axis(runs: Sequence[PastRun]) -> str:
    return "".join(
        f'<time datetime="{format_instant(run.at)}">{minute(run.at)}</time>'
        for run in (runs if len(runs) == 1 else (runs[0], runs[-1]))
    )


def minute(instant: int) -> str:
    """Return an instant for people, to the minute: `2026-08-10 12:00 UTC`."""
    return f"{format_instant(instant)[:16].replace('T', ' ')} UTC"


def _words(runs: Sequence[PastRun], per_column: int) -> str:
    verdicts = [run.overall for run in runs]
    shares = ", ".join(f"{verdicts.count(severity)} {severity.word}" for severity in _LEVELS)
    text = f"{counted(len(runs), 'run')}, oldest at the left: {shares}."
    if per_column > 1:
        text += f" A column is {per_column} runs, with every verdict that one of them had."
    if len(runs) > 1:
        longest = max(later.at - earlier.at for earlier, later in pairwise(runs))
        text += f" The longest time between two runs was {duration(longest)}."
    return text
