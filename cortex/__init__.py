"""The memory: canonical Markdown and JSONL files, read safely, without a daemon, a server or an index."""
