"""Which files an item may change, and how: an allow-list in code. What is not named here is not touched.

A path here is a name within a memory, with `/`: `USER/...` lies in the USER folder, every other in the memory root.
Nothing is resolved: a name that is absolute or holds an empty component, `.` or `..` is no name within a memory.

    A  rewritten whole          hot memory
    B  appended to              notes, and the lists of projects and contacts
    C  proposed for             what a person decides about
    D  not touched              everything else
"""

from collections.abc import Container
from typing import Final, Literal

Tier = Literal["A", "B", "C", "D"]
ItemType = Literal["memory", "idea", "knowledge", "proposal"]
Actor = Literal["principal", "assistant"]
EntityType = Literal["person", "company", "research"]
TargetKind = Literal[
    "identity", "style", "definition", "canonical-content", "resume", "operational-rule", "projects", "contacts"
]

TIER_OF_TYPE: Final[dict[ItemType, Tier]] = {"memory": "A", "idea": "B", "knowledge": "B", "proposal": "C"}

HOT_FILES: Final[dict[Actor, str]] = {
    "principal": "USER/PRINCIPAL/PRINCIPAL_MEMORY.md",
    "assistant": "USER/DIGITAL_ASSISTANT/DA_MEMORY.md",
}
# Below the corpus folder.
IDEAS: Final = "Ideas"
FOLDERS: Final[dict[EntityType, str]] = {"person": "People", "company": "Companies", "research": "Research"}

# The files a proposal of each kind may be for. A kind with one file decides the target by itself.
TARGETS: Final[dict[TargetKind, tuple[str, ...]]] = {
    "identity": ("USER/PRINCIPAL/PRINCIPAL_IDENTITY.md", "USER/DIGITAL_ASSISTANT/DA_IDENTITY.md"),
    "style": ("USER/PRINCIPAL/WRITINGSTYLE.md",),
    "definition": ("USER/DEFINITIONS.md",),
    "canonical-content": ("USER/CANONICAL_CONTENT.md",),
    "resume": ("USER/PRINCIPAL/RESUME.md",),
    "operational-rule": ("USER/CONFIG/OPERATIONAL_RULES.md",),
    "projects": ("USER/PROJECTS.md",),
    "contacts": ("USER/CONTACTS.md",),
}
# Kinds whose file may be appended to as well, so that its tier is B.
_APPENDABLE: Final[tuple[TargetKind, ...]] = ("projects", "contacts")
_OF_USER: Final[dict[str, Tier]] = {
    **dict.fromkeys(HOT_FILES.values(), "A"),
    **{target: "B" if kind in _APPENDABLE else "C" for kind, targets in TARGETS.items() for target in targets},
}
_OWN_IDEAS: Final = "IDEAS"


def tier_of(path: str, corpus: str, outside: Container[str]) -> Tier:
    """Return the tier of a path within a memory.

    Args:
        path: The name within the memory.
        corpus: The folder that holds the corpus, "" for the memory root itself.
        outside: Top-level folders that are no part of a corpus which is the root itself.
    """
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        return "D"
    if parts[0] == "USER":
        return _OF_USER.get(path, "D")
    if len(parts) > 1 and parts[0] == _OWN_IDEAS:
        return "B"
    in_corpus = path.startswith(f"{corpus}/") if corpus else parts[0] not in outside
    return "B" if in_corpus else "D"


def kind_of(target: str) -> TargetKind | None:
    """Return the kind of proposal that a target is for, or None where nothing may be proposed for it."""
    return next((kind for kind, targets in TARGETS.items() if target in targets), None)


def target_of(kind: TargetKind, sent: str) -> str | None:
    """Return the target of a proposal of this kind: its only file whatever was sent, else the one that was, or None."""
    targets = TARGETS[kind]
    if len(targets) == 1:
        return targets[0]
    return sent if sent in targets else None
