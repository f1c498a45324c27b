"""Programs of the host that real-part tests run."""

import os
import shutil
import sys
from pathlib import Path

import pytest


def lacking(reason: str) -> None:
    """Skip for this reason, or fail where REQUIRE_REAL_PARTS is 1."""
    if os.environ.get("REQUIRE_REAL_PARTS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def program(*names: str) -> str:
    """Return the path of the first of these programs that is installed, beside this Python or elsewhere."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = next(filter(None, (shutil.which(name, path=path) for name in names)), None)
    if found is None:
        lacking(f"{names[0]} is not installed")
    return str(found)


def named_file(variable: str, what: str) -> Path:
    """Return the file that an environment variable names."""
    value = os.environ.get(variable, "")
    if not value:
        lacking(f"{variable} does not name {what}")
    return Path(value)
