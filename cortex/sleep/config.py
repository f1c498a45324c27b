"""The parameters of sleep in `CORTEX/config.json`: what differs from the defaults, and nothing else."""

import json
from typing import Any

from cortex.errors import CortexError, invalid
from cortex.layout import SLEEP_CONFIG
from cortex.nofollow import NotRegularError
from cortex.store.files import read_state, refused
from cortex.store.governor import Act, Change, govern
from cortex.store.store import Store
from cortex.strict_json import StrictJSONError, loads
from policies.rhythm import InvalidSetting, Rhythm, Value, effective_rhythm


def rhythm_of(store: Store) -> Rhythm:
    """Return the parameters that are in force.

    Raises:
        CortexError: `invalid_input` where the file is no JSON object, or sets what is no parameter or out of range;
            `governance_refused` where it is a link or no file.
        OSError: It cannot be read.
    """
    rhythm, faults = effective_rhythm(settings_of(store))
    if faults:
        raise invalid(f"{SLEEP_CONFIG}: {_said(faults[0])}")
    return rhythm


def settings_of(store: Store) -> dict[str, Any]:
    """Return what the file sets, judged or not; raises as `rhythm_of`."""
    with store.place(SLEEP_CONFIG) as place:
        if place is None:
            return {}
        try:
            data = read_state(place.folder, place.name).data
        except NotRegularError as error:
            raise refused(f"{SLEEP_CONFIG} {error}: it is not trusted") from error
    return _decoded(data)


def set_value(store: Store, key: str, value: Value | InvalidSetting, actor: str, now: int) -> tuple[str, ...]:
    """Set a parameter; return warnings.

    Raises:
        CortexError: `invalid_input` where the value is none or the file is damaged, `governance_refused`.
    """
    if isinstance(value, InvalidSetting):
        raise invalid(_said(value))

    def plan(data: bytes | None) -> Change:
        settings = {**_decoded(data), key: value}
        return Change((json.dumps(settings, ensure_ascii=False, indent=1) + "\n").encode())

    return govern(store, Act("sleep config", actor, SLEEP_CONFIG, now), plan).warnings


def _decoded(data: bytes | None) -> dict[str, Any]:
    if not data:
        return {}
    try:
        settings = loads(data)
    except StrictJSONError as error:
        raise _no_settings() from error
    if not isinstance(settings, dict):
        raise _no_settings()
    return settings


def _no_settings() -> CortexError:
    return invalid(f"{SLEEP_CONFIG} is no JSON object of parameters")


def _said(fault: InvalidSetting) -> str:
    return f"{fault.key} {fault.problem}"
