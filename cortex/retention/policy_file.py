"""The policy that holds for a memory: its own file, else the memory root's, else the packaged default.

1. The file is YAML without tags and aliases, 1 MiB at most; `policies.retention` judges what it says.
2. A file with a fault is refused as a whole, each fault named by key and line: nothing is forgotten by half a policy.
3. The packaged default is the same as `policies.retention.DEFAULT_POLICY` (a test holds it), so that nobody pays for
   reading it.
"""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from cortex.errors import CortexError, invalid
from cortex.nofollow import NotRegularError
from cortex.store.files import read_state
from cortex.store.store import Store
from policies.retention import DEFAULT_POLICY, LevelPolicy, judge_policy

POLICY_PATH: Final = "_meta/memory-policy.yaml"
PACKAGED: Final = "packaged default"
MAX_BYTES: Final = 1024 * 1024
FAULTS_TOLD: Final = 10


class Policy(NamedTuple):
    """The rules of each level, and where they are from: a path, or `packaged default`."""

    levels: dict[str, LevelPolicy]
    source: str

    @property
    def is_packaged(self) -> bool:
        """Tell whether it is the one that comes with the program, which warns of nothing."""
        return self.source == PACKAGED


def find_policy(*stores: Store) -> Policy:
    """Return the policy of the first store that has one, else the packaged default.

    Raises:
        CortexError: `invalid_input` naming key and line for a file that is no policy; `integrity_error` for one that
            is a link, no file, or cannot be read.
    """
    for store in stores:
        data = _read(store)
        if data is not None:
            return Policy(parse_policy(data), f"{store.root.path}/{POLICY_PATH}")
    return Policy(DEFAULT_POLICY, PACKAGED)


def unmatched(policy: Policy, levels: Collection[str]) -> list[str]:
    """Return a warning for each rule that the file states and that matches no entry. `levels` are those that have some.

    A rule that never does anything is as good as a typing error: somebody believes that it does.
    """
    if policy.is_packaged:
        return []
    return [
        f"{level}.forget ({_spelled(rule)}) matches no entry: there is nothing of level {level}"
        for level, rule in sorted(policy.levels.items())
        if level not in levels and rule != LevelPolicy(level)
    ]


def parse_policy(data: bytes) -> dict[str, LevelPolicy]:
    """Return the rules that the text of a policy file states.

    Raises:
        CortexError: `invalid_input` where it is no policy.
    """
    if len(data) > MAX_BYTES:
        raise invalid(f"{POLICY_PATH} holds more than {MAX_BYTES} bytes")
    value, lines = _load(data)
    judged = judge_policy({} if value is None else value, lines)
    if judged.faults:
        told = "; ".join(str(fault) for fault in judged.faults[:FAULTS_TOLD])
        raise invalid(f"{POLICY_PATH}: {told}")
    if not judged.levels:
        raise invalid(f"{POLICY_PATH} states no level: those are L0 to L4, at the top or under levels")
    return judged.levels


def _spelled(rule: LevelPolicy) -> str:
    told = {name: value for name, value in rule._asdict().items() if name != "level"}
    return ", ".join(f"{name}: {str(value).lower()}" for name, value in told.items() if value not in (None, False))


def _read(store: Store) -> bytes | None:
    with store.place(POLICY_PATH) as place:
        if place is None:
            return None
        try:
            return read_state(place.folder, place.name).data
        except NotRegularError as error:
            raise CortexError("integrity_error", f"{POLICY_PATH} {error}: it is not trusted") from error


def _load(data: bytes) -> tuple[Any, dict[str, int]]:
    """Return what the YAML says, and the line of each key by its path."""
    import yaml

    try:
        for token in yaml.scan(data.decode()):
            if isinstance(token, yaml.TagToken | yaml.AnchorToken | yaml.AliasToken):
                raise invalid(f"{POLICY_PATH} (line {token.start_mark.line + 1}) may hold no tag, anchor or alias")
        root = yaml.compose(data.decode(), Loader=yaml.SafeLoader)
        lines: dict[str, int] = {}
        if root is not None:
            _note_lines(root, "", lines)
        return yaml.safe_load(data), lines
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (line {mark.line + 1})"
        raise invalid(f"{POLICY_PATH}{where} is no plain YAML") from error


def _note_lines(node: Any, prefix: str, lines: dict[str, int]) -> None:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        path = f"{prefix}{key.value}"
        if path in lines:
            raise invalid(f"{POLICY_PATH}: {path} (line {key.start_mark.line + 1}) stands there twice")
        lines[path] = key.start_mark.line + 1
        _note_lines(value, f"{path}.", lines)
