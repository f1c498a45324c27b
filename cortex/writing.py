"""`remember` and `propose`: the refusals that come before an item's own rules.

Permission was judged with the arguments; here follow the payload (bytes, then strict JSON) and the binding of types
to commands.
"""

import sys
from typing import Final

from cortex.arguments import Call
from cortex.errors import CortexError, invalid
from cortex.retrieval.cards import JSONObject
from cortex.strict_json import StrictJSONError, loads
from policies.limits import PAYLOAD_MAX_BYTES

# Which types of item each command takes.
TYPES: Final = {
    "remember": frozenset({"memory", "idea", "knowledge"}),
    "propose": frozenset({"proposal"}),
}


def remember(call: Call) -> JSONObject:
    """Refuse a payload that is no item of this command; no item is taken by this version."""
    bound_item(call)
    raise CortexError("governance_refused", "this version checks items but does not store them yet")


propose = remember


def bound_item(call: Call) -> dict[str, object]:
    """Return the payload of a write as an object whose type the command takes.

    Raises:
        CortexError: `invalid_input` for a payload that is too large or no strict JSON, `write_refused` for any value
            but an object of one of the command's types.
    """
    payload = _payload(call)
    if len(payload) > PAYLOAD_MAX_BYTES:
        raise invalid(f"a payload has at most {PAYLOAD_MAX_BYTES} bytes")
    try:
        item = loads(payload)
    except StrictJSONError as error:
        raise invalid(f"the payload is no strict JSON: {error}") from error
    types = TYPES[call.command.name]
    if not (isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"] in types):
        raise CortexError("write_refused", f"{call.command.name} takes an object of type {' or '.join(sorted(types))}")
    return item


def _payload(call: Call) -> bytes:
    text = call.positionals[0]
    if text != "-":
        return text.encode(errors="surrogatepass")
    return sys.stdin.buffer.read(PAYLOAD_MAX_BYTES + 1)
