"""The command line `remora-pre`: the table of its commands, and how they fail.

`SECTIONS` maps each command to the module that carries it. A command's module is imported when the command is run, so
that `status` or `hook` do not pay for what `demo` needs; this is the only such place. Exit codes: 0 ok, 1 a finding or
a refusal, 2 wrong usage. A failure is said in three parts: what, why, what to do; the traceback comes with `--debug`.
"""

import importlib
import sys
from types import TracebackType

import click

from host.errors import RemoraError
from host.namespace import SCRIPT

# section -> command -> (module:attribute, first sentence of its help)
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Try": {
        "demo": ("host.cli.demo:demo", "Play a recorded coding session and show what it would have been told."),
        "replay": ("host.cli.replay:replay", "Show the passes a transcript would have made."),
        "eval": (
            "host.cli.eval:evaluation",
            "Measure what is found, and when it is handed over, where the answers are known.",
        ),
    },
    "Run": {
        "serve": ("host.cli.run:serve", "Run the daemon in the foreground."),
        "start": ("host.cli.run:start", "Start the daemon in the background."),
        "stop": ("host.cli.run:stop", "Stop the daemon."),
        "status": ("host.cli.run:status", "Say how the daemon is."),
        "metrics": ("host.cli.run:metrics", "Show the numbers of all that was decided, and how the daemon stands now."),
        "hook": ("host.cli.hook:hook", "Pass one hook call of an agent product to the daemon."),
        "mcp": ("host.cli.mcp:mcp", "Serve memory over MCP, on standard input and output."),
    },
    "Set up": {
        "init": ("host.cli.init:init", "Connect an agent product to the daemon."),
        "plugin": ("host.cli.plugin:plugin", "Build a plugin folder for Claude Code."),
        "doctor": ("host.cli.doctor:doctor", "Check the whole installation, and say what to do about what is wrong."),
        "config": ("host.cli.config:config", "Show or check the configuration."),
        "completion": ("host.cli.completion:completion", "Print the shell completion script."),
    },
    "Memory": {
        "remember": ("host.cli.remember:remember", "Keep something for later sessions."),
        "search": ("host.cli.search:search", "Find memories by words."),
        "list": ("host.cli.memory:listing", "List the memories of a workspace."),
        "show": ("host.cli.memory:show", "Show one memory and where it stands."),
        "edit": ("host.cli.edit:edit", "Change a memory, in your editor or by options."),
        "pin": ("host.cli.memory:pin", "Show a memory at the start of every session."),
        "mute": ("host.cli.mutes:mute", "Hand a memory, a kind, or for a time everything, no longer over."),
        "unmute": ("host.cli.mutes:unmute", "Let a memory, a kind, or the workspace speak again."),
        "mutes": ("host.cli.mutes:mutes", "Show what is muted here, and until when."),
        "forget": ("host.cli.memory:forget", "Remove a memory, or an item of the review queue, for good."),
        "checkpoint": ("host.cli.checkpoint:checkpoint", "Form memories of what sessions said since the last time."),
        "extract": ("host.cli.extract:extract", "Note facts and lessons of a conversation, each with its quotes."),
        "stage": ("host.cli.stage:stage", "Hand over the answer to a task."),
        "review": ("host.cli.review:review", "Go through what waits for you, show one item, or decide about it."),
        "approve": ("host.cli.approve:approve", "Let a high-risk procedure be shown, or list those that wait."),
        "import": ("host.cli.imports:importing", "Take in memories from Markdown files, or past sessions."),
        "lint": ("host.cli.lint:lint", "Check the memory files of a workspace."),
        "reindex": ("host.cli.reindex:reindex", "Make the index again from the memory files."),
    },
    "Team": {
        "recall": ("host.cli.recall:recall", "Get past turns of this worktree as a task."),
        "synthesize": (
            "host.cli.consolidate:synthesize",
            "Get the entries that are new as a task: make scenes and the doctrine of them.",
        ),
        "prepare": ("host.cli.promote:prepare", "Record that you said yes to a review, and make a plan of it."),
        "promote": ("host.cli.promote:promote", "Write the files of a plan: all of them, or none."),
        "assemble": (
            "host.cli.consolidate:assemble",
            "Write doctrine, scenes and skills where an agent product reads them.",
        ),
        "discard": ("host.cli.discard:discard", "Give up a candidate, a task or a plan."),
        "team": ("host.cli.team:team", "The memory that a repository keeps for a team."),
    },
    "Tune": {
        "attention": ("host.cli.attention:attention", "Show or choose how often it speaks in this workspace."),
        "feedback": ("host.cli.feedback:feedback", "Say what a packet, or a memory, was worth."),
    },
    "Audit": {
        "audit": ("host.cli.audit:audit", "Read why something was, or was not, handed over."),
        "evidence": ("host.cli.evidence:evidence", "Show how a memory came to be, and what agents did with it."),
    },
}
UNUSABLE = (FileNotFoundError, NotADirectoryError, PermissionError)
PLACES = {name: place for section in SECTIONS.values() for name, (place, _) in section.items()}


class Refused(click.ClickException):
    """A failure that was expected and can be explained."""

    exit_code = 1

    def format_message(self) -> str:
        return self.message


class Commands(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = PLACES.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, first_sentence) for name, (_, first_sentence) in commands.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (RemoraError, UnicodeEncodeError, *UNUSABLE) as error:
            if ctx.params.get("debug"):
                raise
            raise Refused(_said(error)) from error


def _said(error: Exception) -> str:
    match error:
        case UnicodeEncodeError():
            return f"A text cannot be written as {error.encoding}. Use UTF-8, in the text and as the locale."
        case FileNotFoundError() | NotADirectoryError() | PermissionError():
            place = error.filename or "The current folder"
            return f"{place} cannot be used: {error.strerror}. Check that it exists and is yours."
    return str(error)


@click.group(
    name=SCRIPT, cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name=SCRIPT, prog_name=SCRIPT, message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="On a failure, show the traceback.")
def main(debug: bool) -> None:
    """Memory that comes by itself: what an agent learned before, at the step where it matters.

    \b
    Example:
      remora-pre demo
    """
    if not debug:
        sys.excepthook = explain


def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say an unforeseen failure in one line, in place of the traceback."""
    click.echo(
        f"Error: {kind.__name__}: {error}\n"
        f"This was not foreseen. Run `{SCRIPT} --debug …` again for the traceback, and report it.",
        err=True,
    )
