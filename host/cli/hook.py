"""`hook`: one hook call of an agent product, by hand. The products themselves start `host/hook.py` directly, which
costs a tenth; this command is for trying out what a hook would answer."""

import os
import sys
from pathlib import Path

import click

from host.adapters import ADAPTERS

HOOK = Path(__file__).parents[1] / "hook.py"


@click.command()
@click.argument("product", metavar="HOST", type=click.Choice(sorted(ADAPTERS)))
def hook(product: str) -> None:
    """Pass one hook call of an agent product to the daemon.

    Reads the call from standard input and prints the answer.

    \b
    Example:
      remora-pre hook claude-code < call.json
    """
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-I", "-S", str(HOOK), product])
