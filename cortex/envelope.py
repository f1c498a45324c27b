"""The one JSON object that every command answers with.

Exactly five keys in this order: schema, ok, command, data, error. Success has data and no error; failure has an error
(code and message, neither empty) and no data. `cortex/schemas/lifeos-cortex-v1.schema.json` states the same.
"""

import json
from typing import Final

from cortex.errors import EXIT_OF, CortexError, Exit

SCHEMA: Final = "lifeos-cortex/v1"

JSONObject = dict[str, object]


def success(command: str, data: JSONObject) -> JSONObject:
    """Return the envelope of a command that was done."""
    return _checked({"schema": SCHEMA, "ok": True, "command": command, "data": data, "error": None})


def failure(command: str, error: CortexError) -> JSONObject:
    """Return the envelope of a command that was refused or failed."""
    described = {"code": error.code, "message": error.message}
    return _checked({"schema": SCHEMA, "ok": False, "command": command, "data": None, "error": described})


def exit_of(envelope: JSONObject) -> Exit:
    """Return the exit status that belongs to an envelope."""
    error = envelope["error"]
    return EXIT_OF[error["code"]] if isinstance(error, dict) else Exit.DONE


def render(envelope: JSONObject) -> bytes:
    """Return the envelope as it is written: compact, non-ASCII as it is, one line.

    An argument that was no valid UTF-8 shows as an escape, since raw it would make the line unreadable.
    """
    try:
        return (json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(envelope, allow_nan=False, separators=(",", ":")) + "\n").encode()


def _checked(envelope: JSONObject) -> JSONObject:
    """Refuse to answer with anything but an envelope: a caller must be able to rely on it."""
    command, data, error = envelope["command"], envelope["data"], envelope["error"]
    sound = isinstance(command, str) and (
        error is None and isinstance(data, dict)
        if envelope["ok"]
        else data is None and isinstance(error, dict) and error["code"] in EXIT_OF and _is_text(error["message"])
    )
    if not sound:
        raise CortexError("internal_error", "the answer was no envelope")
    return envelope


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
