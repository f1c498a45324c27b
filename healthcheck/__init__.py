"""The auditor: it collects evidence that a memory is alive, judges it, and reports. Missing evidence is never green.

    collectors (files → evidence) → evaluate (evidence + thresholds + now → findings) → report → renderers (→ text)

`cli` alone exits. `evaluate`, `report` and `renderers` touch no file, no clock and no environment.
"""
