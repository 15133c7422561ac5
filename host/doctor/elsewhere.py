"""Settings that `init` wrote in other checkouts: an installation that moved leaves all of them behind at once."""

from collections.abc import Iterator
from pathlib import Path

from host.doctor.connections import Found, current, wanted_now
from host.doctor.findings import Finding
from host.doctor.scene import Scene
from host.errors import ConfigFault
from host.setup import REGISTRARS
from host.setup.records import Record, Records
from host.setup.registrar import Level, Places, Wanted
from host.setup.settings_file import read

PROJECT: Level = "project"


def elsewhere(scene: Scene) -> Iterator[Finding]:
    """Our entries in the settings of other checkouts that do not hold any more."""
    if scene.homes is None:
        return
    says = wanted_now(scene)
    for record in Records(scene.paths.state / "settings").all():
        if record.repository and Path(record.repository) != scene.repository:
            found = _found(scene, scene.homes.home, record, says)
            if found is not None:
                yield from current(found, says)


def _found(scene: Scene, home: Path, record: Record, says: Wanted) -> Found | None:
    """What stands in that file now; None where there is nothing of ours, or it cannot be read. One who looks at that
    checkout is told so."""
    registrar = REGISTRARS.get(record.host)
    if registrar is None or record.level != PROJECT:
        return None
    places = Places(home=home, repository=Path(record.repository), environ=scene.environ)
    for file in registrar.files(PROJECT, places):
        if str(file.path) == record.path:
            try:
                entries = file.installed(read(file.path), says)
            except ConfigFault:
                return None
            return Found(registrar=registrar, level=PROJECT, file=file, entries=entries, workspace=record.repository)
    return None
