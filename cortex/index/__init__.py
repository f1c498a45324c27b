"""A lexical index of the corpus that can be proven, and thrown away; the canonical files stay the only source of truth.

layout       the files of an index: manifest, table of contents, blocks, adoption
contents     what an index is made of, and how it is made
postings     which records hold a term, and how often: as they are gathered, and written into blocks
terms        a block of postings, read
hashing      SHA-256 of what is read, without what costs more than it
opening      from a memory root to its index, proven
lexical      an index, read block by block
memory       a memory answered from an index, with what changed since laid over
ranking      the ranking of `search`, from postings
rereading    a record, taken from its canonical file again
adoption     writing an index, and withdrawing it
evidence     what an adoption asks for
proof        does an index say what the canonical files say?
upkeep       keeping an adopted index fresh
"""
