"""`python -m healthcheck` is `memory-health`."""

import sys

from healthcheck.cli import main

sys.exit(main())
