"""Is anything silenced, and may that be believed? The noise ledger, as the runs before left it."""

import os

from cortex.layout import NOISE_LEDGER
from cortex.places import Layout
from healthcheck.collectors.folder import open_memory_folder, printable, shown
from healthcheck.evidence import Collected, Missing, NoiseEvidence, Observed, SilenceEvidence, Unreadable


def collect_noise(layout: Layout) -> Collected[NoiseEvidence]:
    """Read the noise ledger. Missing is the common case: nothing was ever told."""
    from healthcheck.notices import LedgerError, read

    folder_name, _, name = NOISE_LEDGER.partition("/")
    path = shown(layout, layout.memory_root / NOISE_LEDGER)
    folder = open_memory_folder(layout, folder_name)
    if not isinstance(folder, int):
        return folder
    try:
        ledger = read(folder, name)
    except LedgerError as error:
        return Unreadable(path, str(error))
    finally:
        os.close(folder)
    if ledger is None:
        return Missing(f"no {path}")
    silences = (
        SilenceEvidence(printable(key), entry.silence.until, ingested)
        for ingested, entries in ((False, ledger.findings), (True, ledger.alerts))
        for key, entry in sorted(entries.items())
        if entry.silence is not None
    )
    return Observed(NoiseEvidence(path, tuple(silences)))
