"""Codex runs no hook that its user has not trusted, and says nothing about it: so its own server is asked."""

from collections.abc import Iterator
from pathlib import Path

from host.doctor.connections import connected
from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.errors import RemoraError
from host.namespace import SCRIPT
from host.setup import codex, codex_trust
from host.setup.settings_file import read

FIRST = "Trust the project in Codex first. "  # which nothing of ours can do
TRUSTED = frozenset({codex_trust.TRUSTED, "managed"})


def trust(scene: Scene) -> Iterator[Finding]:
    """Our hooks in Codex's settings that it does not run."""
    program = scene.programs.which("codex")
    files = [one.file.path for one in connected(scene) if one.registrar.HOST == codex.HOST and one.hooks]
    keys = frozenset(key for file in files for key in codex.trust_keys(file, read(file)))
    if program is None or not keys:
        return
    try:
        with codex_trust.app_server(Path(program), scene.environ) as server:
            told = server.hooks(scene.repository, keys)
    except RemoraError as fault:
        yield finding(
            "host-silent",
            f"{program} does not say which hooks it trusts: {fault.problem}",
            "Hooks that it does not trust it does not run.",
            "Look with /hooks in Codex.",
            program,
        )
        return
    waiting = sorted(one.key for one in told if one.trust_status not in TRUSTED)
    unseen = keys - {one.key for one in told}
    if waiting:
        yield _untrusted(f"Codex does not run {len(waiting)} of our hooks: they are not trusted.", program)
    elif unseen:
        yield _untrusted(
            f"Codex does not see {len(unseen)} of our hooks: it does not trust this project.", program, FIRST
        )


def _untrusted(what: str, program: str, first: str = "") -> Finding:
    return finding(
        "hooks-untrusted",
        what,
        "Its sessions are not seen, and get nothing. Codex itself says nothing about it.",
        f"{first}Trust the hooks with /hooks in Codex, or: {SCRIPT} init --host codex --trust-hooks",
        program,
    )
