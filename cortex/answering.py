"""From which memory a call is answered: from the adopted index where there is one, else from all the files.

An index is never trusted further than it can be proven. Whatever is doubtful about it sends the call back to reading
everything, with a note on stderr; the answer is the same.
"""

import os
import sys
from collections.abc import Callable

from cortex.arguments import Call
from cortex.corpus.faults import CorpusError
from cortex.corpus.root import pin
from cortex.envelope import JSONObject
from cortex.errors import CortexError
from cortex.layout import INDEX_MANIFEST
from cortex.memory import Memory

Answer = Callable[[Call, Memory], JSONObject]


def answer(call: Call, give: Answer) -> JSONObject:
    """Return what a call is answered with.

    Raises:
        CortexError: `integrity_error` where the memory is not sound, and what `give` raises.
    """
    answered = None if call.has("--no-index") else _from_index(call, give)
    if answered is not None:
        return answered
    from cortex.sound import sound_corpus

    return give(call, sound_corpus(call))


def _from_index(call: Call, give: Answer) -> JSONObject | None:
    """Answer from the adopted index; None where there is none, or none to rely on."""
    try:
        with pin(call.memory_root()) as root:
            if not has_index(root.descriptor):
                return None
            from cortex.index.memory import open_memory

            with open_memory(root) as memory:
                return None if memory is None else give(call, memory)
    except CortexError as error:
        if error.code == "not_found":
            return None  # that something is not there is said by the files alone
        raise
    except CorpusError:
        return None  # the root itself cannot be pinned: reading it will say so
    except Exception as error:  # noqa: BLE001 - a damaged index may break anything; the files answer all the same
        if sys.stderr is not None:
            sys.stderr.write(f"cortex: the index was not used, every file was read: {reason(error)}\n")
        return None


def has_index(root: int) -> bool:
    """Tell whether there may be one: a look that costs next to nothing where there is none."""
    try:
        os.stat(INDEX_MANIFEST, dir_fd=root, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        pass  # there is something; opening it will say what
    return True


def reason(error: Exception) -> str:
    """Return why an index cannot be relied on, as a clause."""
    from cortex.index.layout import IndexDoubtError

    return str(error) if isinstance(error, IndexDoubtError) else f"it cannot be read ({type(error).__name__})"
