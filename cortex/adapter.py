"""The memory for hosts that embed us: the command line's own code path, in process. Nothing here raises."""

import json
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from cortex.arguments import Host
from cortex.cli import dispatch, process_clock
from cortex.envelope import JSONObject, exit_of, failure
from cortex.errors import CortexError, invalid

Answer = tuple[int, JSONObject]


class Adapter(NamedTuple):
    """A memory as one host sees it. Each method returns (exit status, envelope), as the command of its name does."""

    name: str
    memory_root: str | None
    clock: Callable[[], int]

    def status(self) -> Answer:
        """Count the records."""
        return self._call("status")

    def search(self, query: str) -> Answer:
        """Rank records by a query."""
        return self._call("search", query)

    def timeline(self, anchor: str) -> Answer:
        """Show what was created around a record or an instant."""
        return self._call("timeline", options=("--anchor", anchor))

    def get(self, *ids: str) -> Answer:
        """Read records in full."""
        return self._call("get", *ids)

    def export(self, *ids: str) -> Answer:
        """Read records in full, to keep elsewhere."""
        return self._call("export", *ids)

    def remember(self, item: object, options: Mapping[str, bool] | None = None) -> Answer:
        """Add an item to the memory; permitted only by options that are exactly `{"allow_write": True}`."""
        return self._write("remember", item, options)

    def propose(self, item: object, options: Mapping[str, bool] | None = None) -> Answer:
        """Propose a change to a governed file; permission as for `remember`."""
        return self._write("propose", item, options)

    def _write(self, command: str, item: object, options: object) -> Answer:
        try:
            permission = _permission(options)
            payload = json.dumps(item, allow_nan=False)
        except (CortexError, TypeError, ValueError, RecursionError) as error:
            refusal = error if isinstance(error, CortexError) else invalid("the item cannot be written as JSON")
            return _refused(command, refusal)
        return self._call(command, payload, options=permission)

    def _call(self, command: str, *positionals: str, options: tuple[str, ...] = ()) -> Answer:
        if not all(isinstance(word, str) for word in (*positionals, *options)):
            return _refused(command, invalid("every argument is a string"))
        words = [command, "--adapter", self.name, *_attached(options), "--", *positionals]
        try:
            envelope, _ = dispatch(words, Host(os.environ, self.clock, self.memory_root))
        except Exception as error:  # noqa: BLE001 - hosts are promised an envelope, whatever breaks
            return _refused(command, CortexError("internal_error", f"{type(error).__name__} inside cortex"))
        return exit_of(envelope), envelope


def create_adapter(name: str, memory_root: str | None = None) -> Adapter:
    """Return the adapter of a host.

    Args:
        name: One of claude, hermes, codex, subagent; any other answers every call with `invalid_input`.
        memory_root: The memory to use; as on the command line where None.
    """
    return Adapter(name, memory_root, process_clock)


def _permission(options: object) -> tuple[str, ...]:
    if options is None or options == {} or _is_exactly(options, allowed=False):
        return ()
    if _is_exactly(options, allowed=True):
        return ("--allow-write",)
    raise invalid('options are None, {} or exactly {"allow_write": True} or {"allow_write": False}')


def _is_exactly(options: object, *, allowed: bool) -> bool:
    return isinstance(options, dict) and list(options) == ["allow_write"] and options["allow_write"] is allowed


def _attached(options: tuple[str, ...]) -> tuple[str, ...]:
    """Write `--name value` as `--name=value`, so that a value that begins with `--` stays a value."""
    return options if len(options) < 2 else ("=".join(options),)


def _refused(command: str, error: CortexError) -> Answer:
    envelope = failure(command, error)
    return exit_of(envelope), envelope
