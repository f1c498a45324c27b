"""`python -m cortex` is the `cortex` command."""

from cortex.cli import command

command()
