"""Governed writes: typed items, tiers, and files that are the old ones or the new ones, never something between."""
