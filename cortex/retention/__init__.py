"""Retention: forgetting marks, archiving moves, compaction compresses; nothing here deletes an entry."""
