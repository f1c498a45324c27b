"""Expansion: the records that a record names as related, breadth first, within two budgets."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cortex.corpus.record import Record
from cortex.retrieval.cards import JSONObject, card, estimate_tokens


class Budget(NamedTuple):
    """How far an expansion may go: so many records, so many estimated tokens."""

    nodes: int
    tokens: int


class Graph:
    """The related-links between records that are valid now.

    A link names a record by its id, else the one Markdown record whose file stem it is; where two have that stem it
    names neither.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._by_id = {record.id: record for record in records}
        self._by_stem: dict[str, Record | None] = {}
        for record in records:
            path = record.provenance.path
            if path.endswith(".md"):
                stem = path.rpartition("/")[2].removesuffix(".md")
                self._by_stem[stem] = None if stem in self._by_stem else record

    def find(self, record_id: str) -> Record | None:
        """Return the record of that id, or None."""
        return self._by_id.get(record_id)

    def walk(self, root: Record) -> Iterator[Record]:
        """Yield `root` and what can be reached from it, breadth first, each record once."""
        seen = {root.id}
        queue = deque([root])
        while queue:
            record = queue.popleft()
            yield record
            for name in record.related:
                target = self._by_id.get(name) or self._by_stem.get(name)
                if target is not None and target.id not in seen:
                    seen.add(target.id)
                    queue.append(target)


def expand(graph: Graph, root: Record, budget: Budget) -> JSONObject:
    """Return the expansion of `root`: cards until a budget ends; `truncated` says that a reachable one was left out."""
    items: list[JSONObject] = []
    spent = 0
    truncated = False
    for record in graph.walk(root):
        cost = estimate_tokens(record.content)
        if len(items) == budget.nodes or spent + cost > budget.tokens:
            truncated = True
            break
        items.append(card(record, 0.0))
        spent += cost
    return {"items": items, "est_tokens": spent, "truncated": truncated}
