"""What the commands of the team workflow share: who calls, the documents that they read, and the answer as it is."""

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from click.core import ParameterSource

from governance.review import Principal
from governance.team.decoding import DOCUMENT_BYTES
from host.cli.link import ask
from host.cli.output import show_json
from host.cli.wording import folder
from host.client import TOO_LARGE, Refused
from host.config import environment
from host.errors import RemoraError
from host.namespace import SCRIPT
from host.principals import marked

T = TypeVar("T")


def asked(method: str, workspace: Path, params: Mapping[str, object], answer: type[T]) -> T:
    """The daemon's answer to an operation, as the one who typed it. A refusal says its kind, and is a document where
    JSON was asked for. Raises Refused, and Exit."""
    who = {"workspace": folder(workspace), "principal": principal(), "holder": f"cli:{os.getsid(0)}"}
    try:
        return ask(method, {**params, **who}, answer)
    except Refused as refused:
        raise told(refused.kind, refused.problem, refused.next_step) from refused


def told(kind: str, problem: str, next_step: str) -> Exception:
    """What to raise for a refusal: where JSON was asked for, it is printed as a document."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("as_json"):
        return Refused(kind, 0, f"{kind}: {problem}", next_step)
    show_json({"kind": kind, "problem": problem, "next": next_step})
    return click.exceptions.Exit(1)


def principal() -> Principal:
    """Who types: a person, if a terminal is at one end at least and no agent's product started this."""
    there = any(end.isatty() for end in (sys.stdin, sys.stdout, sys.stderr))
    return Principal.HUMAN if there and not marked(environment()) else Principal.AGENT


def document(request: str) -> dict[str, Any]:
    """The document of `--request`: a JSON file, `-` is standard input. Raises RemoraError."""
    name = "standard input" if request == "-" else request
    try:
        raw = sys.stdin.buffer.read() if request == "-" else Path(request).read_bytes()
        found = msgspec.json.decode(raw)
        size = len(msgspec.json.encode(found))
    except OSError as error:
        raise RemoraError(f"{name} cannot be read: {error.strerror}.", "Name the file of the document.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RemoraError(f"{name} is no JSON: {error}.", "Give the document as one JSON object.") from error
    if not isinstance(found, dict):
        raise RemoraError(f"{name} is no JSON object.", "Give the document as one JSON object.")
    if size > DOCUMENT_BYTES:
        problem = f"{name} has {size} bytes; {DOCUMENT_BYTES} are taken."
        raise told(TOO_LARGE, problem, "Give less at a time.")
    return found


def with_json() -> str:
    """The command as it was typed, with `--json`: what hands a task over."""
    context = click.get_current_context()
    words = [SCRIPT, *context.command_path.split()[1:]]
    for one in context.command.params:
        given = context.params.get(one.name or "")
        if context.get_parameter_source(one.name or "") is not ParameterSource.COMMANDLINE:
            continue
        for value in given if isinstance(given, tuple) else (given,):
            option = one.secondary_opts[0] if value is False else one.opts[0]
            words += [] if isinstance(one, click.Argument) else [option]
            words += [] if isinstance(value, bool) else [str(value)]
    return shlex.join([*words, "--json"])


def short(digest: str | None) -> str:
    """The beginning of a digest, as a person compares it."""
    return "" if not digest else f"{digest[:12]}…"
