"""Reading a textfile back, with the parser of the library that Prometheus's own tools are tested against."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def series_in(text: str) -> Series:
    """Return every sample's value by its name and its labels in order. A series that stands twice is an error."""
    found: Series = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, key
            found[key] = sample.value
    return found


def value_of(textfile: Path, name: str, **labels: str) -> float:
    """Return the value of the one sample with this name and, among others, these labels."""
    (value,) = [
        value
        for (sample_name, sample_labels), value in series_in(textfile.read_text("utf-8")).items()
        if sample_name == name and labels.items() <= dict(sample_labels).items()
    ]
    return value
