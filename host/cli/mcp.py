"""`mcp`: the MCP server, for one client on standard input and output. Agent products start it themselves."""

import sys

import click

from host.config import environment
from host.mcp.process import run
from host.namespace import env


@click.command()
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """Serve memory over MCP, on standard input and output.

    An agent product starts it and ends it. It speaks to the daemon, and starts one when there is none.

    \b
    Example:
      claude mcp add remora-pre -- remora-pre mcp
    """
    if environment().get(env("internal")) == "1":  # our own model sessions are given nothing
        return
    if sys.stdin.isatty():
        click.echo("This waits for an MCP client. Agent products start it by themselves; Ctrl-C ends it.", err=True)
    run(debug=bool(ctx.parent and ctx.parent.params.get("debug")))
