"""The step that shortens a live log: its older rows go into a new compressed file, and it is written anew.

Rows that are appended meanwhile stay where they are: a log is known by how it begins.
"""

from cortex.nofollow import NotRegularError
from cortex.retention import packing, rotation
from cortex.retention.base import Base, read
from cortex.retention.doing import (
    AFTER,
    BEFORE,
    BETWEEN,
    Doing,
    Step,
    audit_of,
    differs,
    hash_at,
    hash_bytes,
    place_new,
    remove_known,
    sync_name,
)
from cortex.store.audit import NOTES_LOG, WRITES_LOG
from cortex.store.files import refused
from cortex.store.governor import Change, govern


def probe(base: Base, step: Step) -> str:
    """Return where a rotation stands."""
    aside = hash_at(base, step["to"]) if step["to"] else step["hash_to"]
    if aside not in (None, step["hash_to"]):
        return f"{step['to']} is in the way"
    data = _log(base, step["path"])
    if isinstance(data, str):
        return differs(step["path"], data)
    if data is None:
        return differs(step["path"], None)
    if _begins(data, step, BEFORE):
        return BEFORE if aside is None or not step["to"] else BETWEEN
    if _begins(data, step, AFTER):
        return AFTER if aside is not None else f"{step['to']} is gone"
    return differs(step["path"], "")


def _log(base: Base, path: str) -> bytes | str | None:
    try:
        return read(base, path)
    except (NotRegularError, OSError) as error:
        return f"odd: {error}"


def _begins(data: bytes, step: Step, state: str) -> bool:
    """Tell whether a log is one of a step's two contents, rows that were appended since left out."""
    begins: bool = hash_bytes(data[: step[f"size_{state}"]]) == step[f"hash_{state}"]
    return begins


def do(doing: Doing, step: Step) -> tuple[str, ...]:
    """Put the older rows aside, then write the log anew, under the log's lock all the while."""
    with doing.base.store.locks.hold(step["path"]):
        data = read(doing.base, step["path"])
        if data is None or not _begins(data, step, BEFORE):
            raise refused(f"{step['path']} was changed meanwhile; try again")
        kept, older = rotation.split_at(data[: step["size_before"]], step["older"])
        warnings: tuple[str, ...] = ()
        if step["to"]:
            warnings = place_new(doing, step["to"], packing.gzipped(older), None, audit_of(step))
            if packing.gunzipped(read(doing.base, step["to"])) != older:
                raise refused(f"{step['to']} does not read back as the rows of {step['path']}")
            sync_name(doing, step["to"])
        audit = {**audit_of(step), "moved_to": step["to"]}
        grown = kept + data[step["size_before"] :]
        change = Change(grown, step["rows_removed"], audit, renewed_at=doing.now)
        return (*warnings, *govern(doing.base.store, doing.act(step["path"]), lambda _: change).warnings)


def take_back(doing: Doing, step: Step) -> tuple[str, ...]:
    """Put the older rows back in their places; what was only renewed stays as it is."""
    if not step["to"]:
        return ()
    older = packing.gunzipped(read(doing.base, step["to"]))
    if older is None:
        raise refused(f"{step['to']} cannot be read back")

    def plan(data: bytes | None) -> Change | None:
        if data is not None and _begins(data, step, BEFORE):
            return None
        if data is None or not _begins(data, step, AFTER):
            raise refused(f"{step['path']} was changed meanwhile; it was left as it is")
        whole = rotation.merge(data[: step["size_after"]], older, step["older"])
        if hash_bytes(whole) != step["hash_before"]:
            raise refused(f"{step['path']} and {step['to']} do not come to what it was")
        return Change(whole + data[step["size_after"] :], audit=audit_of(step))

    warnings = govern(doing.base.store, doing.act(step["path"]), plan).warnings
    return (*warnings, *remove_known(doing, step["to"], step["hash_to"], audit_of(step)))


def written_since(base: Base, step: Step) -> str | None:
    """Return why a step that was done cannot be taken back although it was not undone by anybody: its log has grown.

    The audit's own logs grow by every act, this one too: their later rows stay where they are.
    """
    if step["kind"] != "rotate" or not step["to"] or step["path"] in (WRITES_LOG, NOTES_LOG):
        return None
    current = hash_at(base, step["path"])
    return None if current in (step["hash_after"], step["hash_before"]) else differs(step["path"], current)
