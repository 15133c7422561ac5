"""`init` and Codex's trust in our hooks: said plainly, asked for, and given through Codex itself."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from host.cli.output import count_of, say
from host.setup import codex, settings_file
from host.setup.codex_trust import BY_HAND, TRUSTED, AppServer, TrustFault, app_server
from host.setup.gather import Scene
from host.setup.records import digest

WHY = (
    "Codex runs a hook only when you have trusted it, and skips it in silence before that. Each of these is a command "
    "line, shown when it was written, that hands the event to remora's socket and prints its answer."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Consent:
    """How the user agrees: beforehand (`granted`), or when asked (`asks`); `quiet`: nothing is said."""

    granted: bool
    asks: bool
    quiet: bool

    def given(self) -> bool:
        """Whether it is agreed to. No answer is a no."""
        if self.granted or not self.asks:
            return self.granted
        try:
            return click.confirm("Have Codex trust them?")
        except click.Abort:
            click.echo(err=True)  # the question's line has no end
            return False

    def told(self, answer: str, text: str) -> str:
        """`answer`, once `text` was said."""
        if not self.quiet:
            say(text)
        return answer


def offer_trust(scene: Scene, changed: bool, consent: Consent) -> str | None:
    """Have Codex trust our hooks if that is agreed to, else say what is to be done. `changed`: they were just written.

    Codex is started only once it is agreed to. The answer: `trusted`, `untrusted`, `unknown` when Codex could not be
    asked, `unread` when it does not read this project's hooks; None when no hook of ours is there.
    """
    *_, hooks_file = codex.files(scene.level, scene.places)
    keys = codex.trust_keys(hooks_file.path, settings_file.read(hooks_file.path))
    if not keys:
        return None
    if not changed and keys <= codex.trusted(scene.places):
        return "trusted"
    consent.told("", f"{WHY} These are {count_of(len(keys), 'hook')}.")
    if not consent.given():
        return consent.told("untrusted", "They stay untrusted. Trust them by /hooks in Codex, or with --trust-hooks.")
    program = shutil.which("codex", path=scene.places.environ.get("PATH"))
    if program is None:
        return consent.told("unknown", f"Codex is not on the search path. {BY_HAND}")
    try:
        with app_server(Path(program), scene.places.environ) as server:
            return _given(server, scene, keys, consent)
    except TrustFault as fault:
        return consent.told("unknown", str(fault))


def _given(server: AppServer, scene: Scene, keys: frozenset[str], consent: Consent) -> str:
    found = server.hooks(scene.places.repository, keys)
    if not found:
        text = "Codex does not read this project's hooks: trust the project in Codex first, then run this again."
        return consent.told("unread", text)
    missing = [hook for hook in found if hook.trust_status != TRUSTED]
    if missing:
        server.trust(missing)
        _follow(scene, keys)
    if any(hook.trust_status != TRUSTED for hook in server.hooks(scene.places.repository, keys)):
        return consent.told("untrusted", f"Codex did not take it. {BY_HAND}")
    return consent.told("trusted", "Codex trusts them now.")


def _follow(scene: Scene, keys: frozenset[str]) -> None:
    """What Codex wrote at our word is part of what we take back: the record follows, unless more than that changed."""
    for file in codex.files(scene.level, scene.places):
        record, text = scene.records.get(file.path), settings_file.read(file.path)
        if record is None or text is None or digest(text) == record.digest:
            continue
        if digest(codex.without_trust(text, keys)) == record.digest:
            before = scene.records.before(file.path)
            scene.records.keep(msgspec.structs.replace(record, digest=digest(text)), before)
