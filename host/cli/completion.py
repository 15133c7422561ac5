"""`completion`: the script that makes a shell complete our commands."""

import click
from click.shell_completion import get_completion_class

from host.namespace import SCRIPT

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the shell completion script.

    \b
    Example:
      eval "$(remora-pre completion bash)"
    """
    maker = get_completion_class(shell)
    if maker is None:
        raise click.UsageError(f"No completion for {shell}.")
    variable = f"_{SCRIPT}_COMPLETE".replace("-", "_").upper()
    click.echo(maker(ctx.find_root().command, {}, SCRIPT, variable).source())
