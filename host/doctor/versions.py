"""Agent products on this machine and in running sessions: their versions, and what the table of hosts has for them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from host.capability import Capabilities, Client, ranges
from host.contracts import Capability
from host.doctor.findings import Finding, finding, readable
from host.doctor.scene import Scene
from host.namespace import SCRIPT
from recall.contracts import Frozen

PROGRAMS = {  # host -> its program
    "claude-code": "claude",
    "codex": "codex",
    "gemini-cli": "gemini",
    "opencode": "opencode",
    "cursor": "cursor-agent",
}


class Seen(Frozen, frozen=True, kw_only=True):
    """A host that was found: a program, or the sessions that speak from it now. `version`: empty when it does not say.
    `versions`: those that the table has; `evidence`: how the row that holds is known."""

    host: str
    version: str
    where: str
    versions: str
    takes: Capability
    evidence: str


def seen(scene: Scene) -> list[Seen]:
    """Every host on the search path, and every one that live sessions speak from."""
    there = {host: path for host, program in PROGRAMS.items() if (path := scene.programs.which(program)) is not None}
    with ThreadPoolExecutor(max_workers=len(PROGRAMS)) as pool:  # each may take seconds
        said = pool.map(scene.programs.version, there.values())
    found = [_row(scene, host, number, path) for (host, path), number in zip(there.items(), said, strict=True)]
    for one in scene.said.hosts if scene.said is not None else ():
        live = "1 session" if one.sessions == 1 else f"{one.sessions} sessions"
        sessions = live if one.sessions else "a session that is over"
        found.append(_row(scene, one.host, one.version, sessions))
    return found


def _row(scene: Scene, host: str, version: str, where: str) -> Seen:
    table, client = Capabilities(scene.settings.hosts.allow), Client(host=host, version=version)
    row = table.row(client)
    return Seen(
        host=host,
        version=version,
        where=readable(where),
        versions=ranges(host) or "none",
        takes=table.of(client),
        evidence="none" if row is None else str(row.evidence),
    )


def versions(scene: Scene) -> Iterator[Finding]:
    """Programs that do not say their version, and whatever has one that the table does not have."""
    for one in seen(scene):
        if not one.version and one.host in PROGRAMS and one.where == scene.programs.which(PROGRAMS[one.host]):
            yield finding(
                "host-silent",
                f"{one.where} does not say its version.",
                "Whether it is one that we know cannot be told; its sessions may tell it themselves.",
                f"Run `{one.where} --version` to see why.",
                one.where,
            )
        elif one.takes.why:
            yield _unknown(scene, one)


def _unknown(scene: Scene, one: Seen) -> Finding:
    allow = f'[hosts] allow = ["{one.host} {".".join(one.version.split(".")[:2])}"]'
    return finding(
        "host-unknown-version",
        f"{one.host} {one.version} ({one.where}) is not in the table of hosts, which has {one.versions}.",
        "Where this version puts a text nobody has looked at: its sessions are only watched and get nothing.",
        f"Install a newer remora; or allow it: {allow} in {scene.paths.config_file}, then {SCRIPT} stop.",
        one.where,
    )
