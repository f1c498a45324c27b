"""Expansion: the records that a record names as related, breadth first, within two budgets."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from cortex.corpus.record import Record
from cortex.retrieval.cards import Budget, JSONObject, card, estimate_tokens
from cortex.retrieval.filters import Listed

L = TypeVar("L", bound=Listed)


class Graph(Generic[L]):
    """The related-links between records that are valid now.

    A link names a record by its id, else the one Markdown record whose file stem it is; where two have that stem it
    names neither.

    Args:
        records: What is known of each of the records.
        load: Returns the record itself.
    """

    def __init__(self, records: Sequence[L], load: Callable[[L], Record]) -> None:
        self._load = load
        self._by_id = {record.id: record for record in records}
        self._by_stem: dict[str, L | None] = {}
        for record in records:
            path = record.provenance.path
            if path.endswith(".md"):
                stem = path.rpartition("/")[2].removesuffix(".md")
                self._by_stem[stem] = None if stem in self._by_stem else record

    def find(self, record_id: str) -> L | None:
        """Return what is known of the record of that id, or None."""
        return self._by_id.get(record_id)

    def walk(self, root: L) -> Iterator[Record]:
        """Yield `root` and what can be reached from it, breadth first, each record once."""
        seen = {root.id}
        queue = deque([root])
        while queue:
            record = self._load(queue.popleft())
            yield record
            for name in record.related:
                target = self._by_id.get(name) or self._by_stem.get(name)
                if target is not None and target.id not in seen:
                    seen.add(target.id)
                    queue.append(target)


def expand(graph: Graph[L], root: L, budget: Budget) -> JSONObject:
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
