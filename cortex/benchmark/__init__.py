"""Evidence for retrieval: labelled queries put to the ranking that `search` uses, and what came back, in numbers."""
