"""JSON as evidence and records have it: strict where Python's own reader is lenient.

No NaN or Infinity, no number that overflows to one, no integer past Python's digit limit, no duplicate key, no nesting
past the interpreter's limit. A number without a fraction is an integer, `3.0` too.
"""

import json
from math import isfinite


class StrictJSONError(ValueError):
    """Text that is no strict JSON. The message says which rule, and never repeats the text."""


def loads(data: str | bytes, *, unique_keys: bool = True) -> object:
    """Return the value that `data` (UTF-8, without a byte-order mark) spells.

    Without `unique_keys` the last of equal keys wins, and every other rule still holds.

    Raises:
        StrictJSONError: It is no strict JSON; the message repeats nothing of it, since it could be private.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        value: object = (_DECODER if unique_keys else _LAST_KEY_WINS).decode(text)
    except StrictJSONError:
        raise
    except UnicodeDecodeError as error:
        raise StrictJSONError("not valid UTF-8") from error
    except RecursionError as error:
        raise StrictJSONError("nested too deep") from error
    except ValueError as error:  # JSONDecodeError, and the plain ValueError of a giant integer
        raise StrictJSONError("not valid JSON") from error
    return value


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise StrictJSONError("a key stands twice")
    return members


def _number(text: str) -> int | float:
    number = float(text)
    if not isfinite(number):
        raise StrictJSONError("a number is too large")
    return int(number) if number.is_integer() else number


def _integer(text: str) -> int:
    _number(text)  # what overflows as a number is no integer either: 1e400 and its 400 digits fare alike
    return int(text)


def _no_constant(_: str) -> object:
    raise StrictJSONError("NaN and Infinity are no JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_without_duplicates, parse_float=_number, parse_int=_integer, parse_constant=_no_constant
)
_LAST_KEY_WINS = json.JSONDecoder(parse_float=_number, parse_int=_integer, parse_constant=_no_constant)
