"""`search`, and the evidence that it happened, for those who ask for it. Without `--record` nothing is written.

A row: ts, query_hash, returned_count, duration_ms, and top_score where something was returned. The query itself is not
in it. A row that cannot be written is a warning on stderr; the answer stands.
"""

import sys
from typing import Any, Final, cast

from cortex.arguments import Call
from cortex.envelope import JSONObject
from cortex.errors import CortexError
from cortex.layout import OBSERVABILITY, RETRIEVAL_LOG
from cortex.privacy import strip_private
from cortex.searching import search as search_only

LOG: Final = f"{OBSERVABILITY}/{RETRIEVAL_LOG}"
VARIABLE: Final = "CORTEX_RECORD_RETRIEVALS"


def search(call: Call) -> JSONObject:
    """Rank records by a query; leave a row in the retrieval log where the call or the environment asks for it."""
    if not (call.has("--record") or call.host.environment.get(VARIABLE) == "1"):
        return search_only(call)
    began = call.host.clock()
    data = search_only(call)
    try:
        _record(call, data, max(call.host.clock() - began, 0))
    except (CortexError, OSError) as error:
        sys.stderr.write(f"cortex: the retrieval was not recorded: {error}\n")
    return data


def _record(call: Call, data: JSONObject, duration_ms: int) -> None:
    from hashlib import sha256

    from cortex.store.audit import append_row
    from cortex.store.store import open_store
    from policies.timestamps import format_instant

    items = cast("list[dict[str, Any]]", data["items"])
    row: JSONObject = {
        "ts": format_instant(call.now()),
        "query_hash": sha256(strip_private(call.positionals[0]).encode(errors="surrogateescape")).hexdigest()[:16],
        "returned_count": len(items),
        "duration_ms": duration_ms,
    }
    if items:
        row["top_score"] = items[0]["score"]
    with open_store(call.memory_root()) as store:
        append_row(store, LOG, row, sync=False)
