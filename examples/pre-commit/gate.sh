#!/bin/sh
# A gate: rebuilds what is made from the canonical files only where the memory is not critical.
#
#     gate.sh MEMORY-ROOT
#
# A warning passes. What the gate found goes to stderr, so that stdout is the one JSON object of `cortex rebuild`.
set -eu
memory=${1:?usage: gate.sh MEMORY-ROOT}
memory-health --memory-root "$memory" --no-write --block-on critical >&2
exec cortex rebuild --from-canonical --memory-root "$memory"
