"""`remember`: an item to its file. Where it goes is decided by its type alone."""

from typing import Any, Final, NamedTuple

from msgspec import UNSET

from cortex.errors import CortexError
from cortex.privacy import strip_private
from cortex.store import hot_memory, notes
from cortex.store.audit import NOTES_LOG
from cortex.store.files import read_state, refused
from cortex.store.governor import Act, Change, govern
from cortex.store.items import IdeaItem, KnowledgeItem, MemoryItem
from cortex.store.room import taken
from cortex.store.store import Store
from policies.limits import CORPUS_MAX_BYTES, CORPUS_MAX_FILES, MIB
from policies.tiers import FOLDERS, HOT_FILES, IDEAS, TIER_OF_TYPE, ItemType
from policies.timestamps import format_instant

ACT: Final = "remember"
_OUTCOMES: Final = {"add": "appended", "set": "set"}


class Remembered(NamedTuple):
    """Where an item is now, and what was done for it: created, appended, set, unchanged."""

    path: str
    outcome: str
    id: str | None
    warnings: tuple[str, ...]


def remember_entries(store: Store, item: MemoryItem, adapter: str, now: int) -> Remembered:
    """Add an entry to an actor's hot memory, or set all of them.

    Raises:
        CortexError: `governance_refused`; nothing was written then.
    """
    path = HOT_FILES[item.actor]
    _check_tier(store, path, "memory")
    act = Act(ACT, adapter, path, now)

    def plan(data: bytes | None) -> Change | None:
        memory = hot_memory.parse(data or b"")
        entries = hot_memory.entries_after(memory, item)
        if entries == memory.entries and data == hot_memory.render(memory):
            return None
        change = hot_memory.turnover(memory.entries, entries)
        audit: dict[str, Any] = {
            "entries_before": len(memory.entries),
            "entries_after": len(entries),
            "evictions": [strip_private(entry) for entry in change.dropped],
            "additions": list(change.added),
        }
        audit |= {name: value for name in ("provenance", "confidence") if (value := getattr(item, name)) is not UNSET}
        grown = hot_memory.updated(memory, entries, act.ts, adapter)
        return Change(hot_memory.render(grown), len(change.dropped), audit)

    written = govern(store, act, plan)
    outcome = _OUTCOMES[item.op] if written.changed else "unchanged"
    return Remembered(path, outcome, None, written.warnings)


def remember_note(store: Store, item: IdeaItem | KnowledgeItem, adapter: str, now: int) -> Remembered:
    """Make a note, or append to the one of that name.

    Raises:
        CortexError: `governance_refused`, or `integrity_error` where a note in the way cannot be read.
    """
    kind: ItemType = "idea" if isinstance(item, IdeaItem) else "knowledge"
    corpus = store.corpus_folder()
    prefix = f"{corpus}/" if corpus else ""
    folder = IDEAS if isinstance(item, IdeaItem) else FOLDERS[item.entity_type]
    for slug in notes.slugs_of(notes.name_of(item)):
        place = notes.Place(f"{prefix}{folder}/{slug}.md", slug)
        _check_tier(store, place.path, kind)
        # The idea of a slug guards the ids that are made of it, in whichever folder.
        with store.locks.hold(f"{prefix}{IDEAS}/{slug}.md"):
            remembered = _write_note(store, item, place, notes.Source(adapter, now))
        if remembered is not None:
            return remembered
    raise refused("every file name that this name leads to is taken by another name")


def _write_note(
    store: Store, item: IdeaItem | KnowledgeItem, place: notes.Place, source: notes.Source
) -> Remembered | None:
    """Make or extend the note of one slug; None where it carries another name."""
    act = Act(ACT, source.adapter, place.path, source.now, log=NOTES_LOG)
    became: list[tuple[str, str]] = []

    def plan(data: bytes | None) -> Change | None:
        if data is None:
            created = _with_free_id(store, place, source)
            note = notes.new_note(item, place, created)
            _check_room(store, 1, len(note))
            became.append(("created", notes.id_of(place.slug, format_instant(created.now))))
            return Change(note)
        record = notes.read(place.path, data)
        if not notes.is_named(record, notes.name_of(item)):
            return None
        grown = notes.appended(item, record, data, source)
        _check_room(store, 0, len(grown) - len(data))
        became.append(("appended", record.id))
        return Change(grown)

    written = govern(store, act, plan)
    return Remembered(place.path, *became[0], written.warnings) if became else None


def _with_free_id(store: Store, place: notes.Place, source: notes.Source) -> notes.Source:
    """Move the time of creation on by milliseconds until no note of that slug in another folder has its id."""
    corpus = place.path.rsplit("/", 2)[0] if place.path.count("/") > 1 else ""
    taken = set()
    for folder in (IDEAS, *FOLDERS.values()):
        path = "/".join(part for part in (corpus, folder, f"{place.slug}.md") if part)
        taken.add(_id_at(store, path))
    while notes.id_of(place.slug, format_instant(source.now)) in taken:
        source = source._replace(now=source.now + 1)
    return source


def _id_at(store: Store, path: str) -> str | None:
    with store.place(path) as place:
        data = None if place is None else read_state(place.folder, place.name).data
    try:
        return None if data is None else notes.read(path, data).id
    except CortexError:
        return None


def _check_room(store: Store, files: int, size: int) -> None:
    """Refuse what would bring the corpus past a bound: no reader would take any of it any more."""
    found = taken(store.root.descriptor, store.corpus_folder())
    if found.files + files > CORPUS_MAX_FILES:
        raise refused(f"the corpus holds {CORPUS_MAX_FILES} files already, and no reader takes more")
    if found.size_bytes + size > CORPUS_MAX_BYTES:
        raise refused(f"the corpus would hold more than {CORPUS_MAX_BYTES // MIB} MiB, and no reader takes more")


def _check_tier(store: Store, path: str, kind: ItemType) -> None:
    if store.tier(path) != TIER_OF_TYPE[kind]:
        raise refused(f"{path} is no place for an item of type {kind}")
