"""What agent products were told about us: hooks and servers in their settings, held against what they should say."""

import os
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.doctor.serving import kept_port, kept_token
from host.doctor.switches import plugged
from host.errors import ConfigFault
from host.namespace import SCRIPT
from host.paths import socket_path
from host.setup import REGISTRARS, claude_code
from host.setup.exclude import exclude_path
from host.setup.hook_groups import event_of
from host.setup.json_entries import unread
from host.setup.registrar import LEVELS, Entry, Level, Places, Registrar, SettingsFile, Wanted
from host.setup.settings_file import read
from host.setup.tracked import tracked
from host.setup.wanted import wanted
from recall.workspace import common_directory

MCP, PLUGIN = "mcp", "plugin"
UNREVIVED = "A daemon that ends while a session runs is not started again before the next session."


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A settings file, and what of ours is in it."""

    registrar: Registrar
    level: Level
    file: SettingsFile
    entries: tuple[Entry, ...]
    workspace: str = ""  # where that is not the one that is looked at

    @property
    def hooks(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.kind != MCP)

    @property
    def servers(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.kind == MCP)

    @property
    def title(self) -> str:
        return self.registrar.TITLE

    @property
    def again(self) -> str:
        """The command that writes it anew."""
        elsewhere = f" --workspace {shlex.quote(self.workspace)}" if self.workspace else ""
        return f"{SCRIPT} init --host {self.registrar.HOST} --level {self.level}{elsewhere}"


def connections(scene: Scene) -> Iterator[Finding]:
    """Every product: is it here, is it connected, and does what stands in its settings still hold."""
    if scene.homes is None:
        return
    places = Places(home=scene.homes.home, repository=scene.repository, environ=scene.environ)
    says = wanted_now(scene)
    any_hooks = False
    for registrar in REGISTRARS.values():
        found, findings = settings_of(registrar, places, says)
        yield from findings
        hooked = [one for one in found if one.hooks]
        plugin = plugged(scene) if registrar.HOST == claude_code.HOST else None
        any_hooks = any_hooks or bool(hooked or plugin)
        if hooked and plugin:
            yield _beside_plugin(hooked[0], plugin)
        if not hooked and not plugin and (seen := registrar.detect(places, scene.programs.which)):
            yield finding(
                "host-unconnected",
                f"{registrar.TITLE} is on this machine and not connected here ({seen[0]}).",
                "Its sessions are not seen, and get nothing.",
                f"{SCRIPT} init --host {registrar.HOST}",
                registrar.HOST,
            )
        yield from _whole(registrar, hooked)
        yield from _twice(hooked)
        if hooked and not any(one.servers for one in found):
            yield finding(
                "mcp-missing",
                f"{registrar.TITLE} has our hooks and not our MCP server.",
                "Its agent can be handed memories, and cannot look for one or correct one by itself.",
                hooked[0].again,
                registrar.HOST,
            )
        for one in found:
            yield from current(one, says)
            yield from _heard(scene, one)
            yield from _guarded(scene, one)
    if not any_hooks:
        yield finding(
            "nothing-connected",
            "No agent product is connected here.",
            "The daemon sees no session, and hands nothing over.",
            f"{SCRIPT} init",
            scene.repository,
        )


def refused(scene: Scene, hosts: Sequence[str]) -> list[Finding]:
    """Settings of these products that cannot be read, by us or by the product."""
    if scene.homes is None:
        return []
    places = Places(home=scene.homes.home, repository=scene.repository, environ=scene.environ)
    says = wanted_now(scene)
    return [one for host in hosts for one in settings_of(REGISTRARS[host], places, says)[1]]


def connected(scene: Scene) -> list[Found]:
    """Everywhere that something of ours stands, as far as it can be read."""
    if scene.homes is None:
        return []
    places = Places(home=scene.homes.home, repository=scene.repository, environ=scene.environ)
    says = wanted_now(scene)
    return [one for registrar in REGISTRARS.values() for one in settings_of(registrar, places, says)[0]]


def wanted_now(scene: Scene) -> Wanted:
    """What the entries of this installation must say. A port or a token that was not made yet is in none."""
    port = scene.settings.daemon.http_port or kept_port(scene.paths.port_file)
    return wanted(scene.paths, port, kept_token(scene.paths.token_file), scene.programs.which)


def settings_of(registrar: Registrar, places: Places, says: Wanted) -> tuple[list[Found], list[Finding]]:
    """The files of a product in which there is something of ours, and those that cannot be read."""
    found, findings, refused = list[Found](), list[Finding](), list[Finding]()
    at_home = os.path.realpath(places.home) == os.path.realpath(places.repository)  # which is no project
    levels: tuple[Level, ...] = ("user",) if at_home else LEVELS
    for level in levels:
        for file in registrar.files(level, places):
            if any(one.where == str(file.path) for one in findings):  # a file of both levels
                continue
            try:
                text = read(file.path)
                entries = _entries(file, text, says, places)
            except ConfigFault as fault:
                findings.append(
                    finding(
                        "settings-unusable",
                        f"The settings {file.path} cannot be read: {fault.problem}",
                        f"Whether {registrar.TITLE} is connected cannot be told, and nothing can be written there.",
                        fault.next_step or "Repair the file.",
                        file.path,
                    )
                )
                continue
            if text is not None and (why := unread(text, file.refuses)):
                refused.append(
                    finding(
                        "settings-unusable",
                        f"{file.path} {why}.",
                        f"{registrar.TITLE} cannot read it: it takes nothing of it, or does not start.",
                        "Remove the file, or write {} into it." if not text.strip() else "Take that out.",
                        file.path,
                    )
                )
            if entries:
                found.append(Found(registrar=registrar, level=level, file=file, entries=entries))
    return found, findings + (refused if found else [])  # of a product that is not connected it is not our business


def _entries(file: SettingsFile, text: str | None, says: Wanted, places: Places) -> tuple[Entry, ...]:
    """What of ours is there. A command hook names the folder of the sockets as the environment of `init` had it, and
    finds them from any: another one is no fault."""
    entries = file.installed(text, says)
    for folder in socket_folders(places.environ) if any(not entry.current for entry in entries) else ():
        tools = msgspec.structs.replace(says.tools, folder=folder)
        same = file.installed(text, msgspec.structs.replace(says, tools=tools))
        if all(entry.current for entry in same):
            return same
    return entries


def socket_folders(environ: Mapping[str, str]) -> Iterator[str]:
    """Where the sockets are for this user with, and without, what a session at a desk has in its environment."""
    uid = os.getuid()
    for runtime in ("", f"/run/user/{uid}"):
        for temporary in (environ.get("TMPDIR", ""), ""):
            there = {**environ, "XDG_RUNTIME_DIR": runtime, "TMPDIR": temporary}
            yield os.path.dirname(socket_path(there, uid))


def _whole(registrar: Registrar, hooked: Sequence[Found]) -> Iterator[Finding]:
    """Whether every event is there, at one level at least."""
    for level in LEVELS:
        there = [one for one in hooked if one.level == level]
        events = {entry.what for one in there for entry in one.hooks}
        missing = [event for event in registrar.EVENTS if event not in events]
        unheard = "What these events tell is not heard, and nothing can be handed over there."
        if there and missing:
            yield finding(
                "hooks-missing",
                f"{registrar.TITLE} has some of our hooks in {there[0].file.path}, without {', '.join(missing)}.",
                unheard if any(event_of(event) == event for event in missing) else UNREVIVED,
                there[0].again,
                there[0].file.path,
            )


def _twice(hooked: Sequence[Found]) -> Iterator[Finding]:
    """An event that is told by two hooks."""
    seen: dict[str, Found] = {}
    twice: dict[str, Found] = {}
    for one in hooked:
        for entry in one.hooks:
            if entry.what in seen:
                twice[entry.what] = one
            seen.setdefault(entry.what, one)
    if twice:
        event, second = next(iter(twice.items()))
        first = seen[event]
        where = f"in {second.file.path}" if first is second else f"in {first.file.path} and in {second.file.path}"
        yield finding(
            "hooks-twice",
            f"{second.title} has our hooks twice, {where}.",
            "Each event is told twice: what it says counts once, but every step waits for both.",
            f"Take one away: {SCRIPT} init --remove --host {second.registrar.HOST} --level {second.level}"
            + (f"; then: {second.again}" if first is second else ""),
            second.file.path,
        )


def _beside_plugin(found: Found, plugin: Path) -> Finding:
    return finding(
        "hooks-twice",
        f"{found.title} has our hooks twice: by the plugin, which {plugin} switches on, and by {found.file.path}.",
        "Each event is told twice: what it says counts once, but every step waits for both.",
        f"Keep one of the two: {SCRIPT} init --remove --host {found.registrar.HOST} --level {found.level}",
        found.file.path,
    )


def current(found: Found, says: Wanted) -> Iterator[Finding]:
    """Entries that name what is not there any more, or what is not ours any more."""
    for kind, entries in (("hooks", found.hooks), (MCP, found.servers)):
        off = [entry.what for entry in entries if entry.disabled]
        if off:
            yield finding(
                "hooks-off",
                f"{found.title} leaves out our {'MCP server' if kind == MCP else 'hooks'} in {found.file.path}.",
                "It was switched off there.",
                f"Switch it on in {found.title}, or take it away: {SCRIPT} init --remove --host {found.registrar.HOST}",
                found.file.path,
            )
        old = [entry for entry in entries if not entry.current]
        named = dict.fromkeys(path for entry in old for path in entry.paths)
        gone = [path for path in named if not os.path.exists(path) and path not in _places(found, says)]
        if gone:
            state = "mcp-stale" if kind == MCP else "hooks-stale"
            yield finding(
                state,
                f"{found.file.path} names {', '.join(gone)}, which is not there.",
                f"{found.title} cannot start it: nothing of it reaches the daemon.",
                found.again,
                found.file.path,
            )
        elif old and (why := _astray(old, says)):
            yield finding(
                "hooks-misdirected",
                f"Our hooks in {found.file.path} do not reach the daemon: {why}.",
                f"What {found.title} tells goes elsewhere or is refused, and nothing is handed over.",
                found.again,
                found.file.path,
            )
        elif old:
            yield finding(
                "hooks-outdated",
                f"Our entries in {found.file.path} are not what this installation writes.",
                "They are of another installation or an older version, or somebody changed them.",
                found.again,
                found.file.path,
            )


def _places(found: Found, says: Wanted) -> frozenset[str]:
    """The paths, and what looks like one, in entries as they must be."""
    wanted = found.file.installed(found.file.plan(None, says), says)
    return frozenset(path for entry in wanted for path in entry.paths)


def _astray(old: Sequence[Entry], says: Wanted) -> str:
    """To what wrong door they go; never the token itself."""
    why = []
    if any(entry.port and entry.port != says.port for entry in old):
        ports = sorted({str(entry.port) for entry in old if entry.port})
        why.append(f"they name port {', '.join(ports)} instead of {says.port}")
    if any(entry.token and entry.token != says.token for entry in old):
        why.append("their token is another one")
    return " and ".join(why)


def _heard(scene: Scene, found: Found) -> Iterator[Finding]:
    """Whether the daemon listens where http hooks go."""
    if not any(entry.kind == "http" for entry in found.entries):
        return
    said = "ok" if scene.said is None else str(scene.said.parts.get("http", "ok"))
    if not scene.settings.daemon.http or said.startswith("off"):
        yield finding(
            "http-off",
            f"{found.title} has http hooks in {found.file.path}, and the daemon does not listen for them.",
            "Its sessions are not seen, and get nothing.",
            f"Set [daemon] http = true, or take it out; then {SCRIPT} stop and {SCRIPT} start.",
            found.file.path,
        )


def _guarded(scene: Scene, found: Found) -> Iterator[Finding]:
    """A file that holds our token, or a path of this machine, is its owner's alone, and stays out of git."""
    path = found.file.path
    if not any(entry.token for entry in found.entries):
        return
    mode = path.stat().st_mode
    if mode & 0o077:
        yield finding(
            "settings-readable",
            f"{path} holds the token of HTTP hooks and can be read by others (mode {stat.S_IMODE(mode):04o}).",
            "Who has the token can speak to the daemon as you.",
            f"chmod 600 {path}",
            path,
        )
    if path.is_relative_to(scene.repository) and common_directory(str(scene.repository)) is not None:
        relative = path.relative_to(scene.repository).as_posix()
        if relative in tracked(scene.repository):
            again = f"remove {scene.paths.token_file}, start the daemon anew, and run: {found.again}"
            yield _shared(path, "is tracked by git", f"git rm --cached {relative}. For a new token {again}")
        elif not _is_ignored(scene.repository, relative):
            yield _shared(path, "is not ignored by git", found.again)


def _shared(path: Path, how: str, todo: str) -> Finding:
    return finding(
        "settings-shared",
        f"{path} holds the token of HTTP hooks and {how}.",
        "The next commit may give the token away.",
        todo,
        path,
    )


def _is_ignored(repository: Path, relative: str) -> bool:
    """Whether a plain line of git's lists names the file or a folder of it."""
    lists = [repository / ".gitignore", repository / Path(relative).parent / ".gitignore"]
    private = exclude_path(repository)
    names = [relative, *(parent.as_posix() for parent in Path(relative).parents if parent.name), Path(relative).name]
    for file in (*lists, *([private] if private is not None else [])):
        if not file.is_file():  # a pipe of that name would be waited for
            continue
        try:
            lines = file.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        patterns = [
            line.strip().removeprefix("**/").strip("/") for line in lines if line.strip()[:1] not in ("", "#", "!")
        ]
        if any(fnmatch(name, pattern) for pattern in patterns for name in names):
            return True
    return False
