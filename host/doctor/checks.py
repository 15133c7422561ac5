"""The table of checks, and one walk over it."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from host.doctor import (
    connections,
    elsewhere,
    folders,
    formation,
    memories,
    plugins,
    servers,
    serving,
    states,
    stores,
    switches,
    trust,
    versions,
)
from host.doctor.findings import Finding, finding, in_order
from host.doctor.scene import Check, Scene
from host.namespace import SCRIPT


def configuration(scene: Scene) -> Iterator[Finding]:
    """Whether the configuration can be used."""
    if scene.fault is not None:
        yield finding(
            "config-unusable",
            scene.fault.problem,
            "The daemon does not start with it; one that runs goes on with the settings from before.",
            f"{scene.fault.next_step} {SCRIPT} config check says whether it is well.",
            scene.paths.config_file,
        )


WORKERS = 4  # those that wait for a program are three
Told = Callable[[float, float], None]
CHECKS: tuple[Check, ...] = (
    folders.home,
    folders.folders,
    folders.disk,
    folders.installations,
    folders.clock,
    configuration,
    serving.socket_folder,
    serving.socket_file,
    serving.daemon,
    serving.version,
    serving.parts,
    serving.http,
    serving.secrets,
    stores.key,
    stores.databases,
    stores.index,
    stores.engine,
    stores.sqlite,
    connections.connections,
    elsewhere.elsewhere,
    plugins.plugins,
    trust.trust,
    servers.servers,
    switches.switches,
    versions.versions,
    memories.conflicts,
    memories.unused,
    memories.untrusted,
    memories.caps,
    formation.driver,
    formation.forming,
    states.chosen,
    states.measured,
    states.waiting,
)


def examine(scene: Scene, checks: tuple[Check, ...] = CHECKS, told: Told = lambda done, total: None) -> list[Finding]:
    """All that is found, the gravest first. A check that breaks is a finding itself, and the others go on.

    They run side by side: some wait for programs of others. `told`: called with how many are done, and of how many.
    """
    found: list[Finding] = []
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        at_work = [pool.submit(_all_of, check, scene) for check in checks]
        for done, future in enumerate(as_completed(at_work), start=1):
            found.extend(future.result())
            told(done, len(checks))
    return in_order(found)


def _all_of(check: Check, scene: Scene) -> list[Finding]:
    """What one check finds, as far as it comes."""
    found: list[Finding] = []
    try:
        found.extend(check(scene))
    except Exception as error:  # noqa: BLE001  (boundary: a check; what breaks it is what is looked for)
        found.append(_broken(check, error))
    return found


def hampered(scene: Scene, hosts: Sequence[str]) -> list[Finding]:
    """What stands in the settings of these products that keeps our hooks from running. Asks nobody."""
    return in_order((*switches.turned(scene, hosts), *connections.refused(scene, hosts)))


def strictly(scene: Scene, checks: tuple[Check, ...] = CHECKS) -> list[Finding]:
    """The same, for one who wants to see what breaks a check: it is raised."""
    return in_order(one for check in checks for one in check(scene))


def _broken(check: Check, error: Exception) -> Finding:
    name = getattr(check, "__name__", "?")
    return finding(
        "check-failed",
        f"The check `{name}` broke: {type(error).__name__}.",
        "What it looks at was not looked at to the end.",
        f"Run `{SCRIPT} --debug doctor` for the traceback, and report it.",
        name,
    )
