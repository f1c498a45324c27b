"""Ranking, cards, filters, paging, graph and timeline over records that were already read. Pure: no file, no clock."""
