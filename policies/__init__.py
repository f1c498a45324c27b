"""The numbers and decisions that the memory and its auditor both obey.

Everything here is pure: no clock, no environment, no file. Callers pass `now`, mappings and text in.
"""

__version__ = "0.1.0"
