"""The corpus: canonical Markdown and JSONL files below a pinned root, read safely, as records.

`root` pins, `walk` finds the files, `reader` reads them; `markdown`, `jsonl`, `record`, `digest` and `faults` are pure.
"""
