"""Reading an HTML page as a browser would: its elements, and the text that people see."""

from html.parser import HTMLParser

# Elements that have no end.
VOID = {"meta", "br"}


class Page(HTMLParser):
    """A page's elements, in their order, and its text; an element that is not closed, or closed twice, is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        """Everything that is read, as one string."""
        return "".join(self.texts)

    def having(self, name: str, value: str) -> list[tuple[str, dict[str, str | None]]]:
        """The elements with this attribute."""
        return [element for element in self.tags if element[1].get(name) == value]
