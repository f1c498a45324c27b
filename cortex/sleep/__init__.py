"""Sleep: experience from logs and transcripts becomes long-term cards, without a model."""
