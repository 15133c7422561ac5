"""What `init` puts into a repository beside the settings: the mark of its memory folder, and two lines for git.

They are edits like the others: shown, written all or not at all, and taken back where nobody else wrote there.
"""

from collections.abc import Mapping
from pathlib import Path

from governance.team.formats import Formats
from governance.team.setting_up import IGNORED, LINE_ENDS, index_file
from host.errors import ConfigFault
from host.setup import settings_file
from host.setup.edits import Edit

MEMORY = "memory"  # what these edits hold
ABOUT = {
    "index.json": ("says that this is a memory folder; it is meant for git",),
    ".gitignore": ("keeps what a promotion has in the making out of git",),
    ".gitattributes": ("keeps line ends as they are: digests name the bytes",),
}


def coming(repository: Path, formats: Formats) -> tuple[Edit, ...]:
    """The edits that make what is missing; a file that is there keeps its lines. Raises ConfigFault for a link."""
    edits = []
    for path, ours in _wanted(repository, formats).items():
        before = settings_file.read(path)
        after = ours if before is None else _with_line(path, before, ours)
        edits.append(Edit(path=path, before=before, after=after, holds=MEMORY, about=ABOUT[path.name]))
    return tuple(edits)


def going(repository: Path, formats: Formats) -> tuple[Edit, ...]:
    """The edits that take these files back where they are exactly as we made them. Raises ConfigFault for a link."""
    edits = []
    for path, ours in _wanted(repository, formats).items():
        before = settings_file.read(path)
        edits.append(Edit(path=path, before=before, after=None if before == ours else before, holds=MEMORY))
    return tuple(edits)


def is_unused(folder: Path) -> bool:
    """Whether a memory folder holds nothing but the mark that it is one."""
    return folder.is_dir() and {one.name for one in folder.iterdir()} <= {"index.json"}


def _wanted(repository: Path, formats: Formats) -> Mapping[Path, str]:
    folder, memory = repository / formats.folder, repository / formats.memory_root
    wanted = {
        memory / "index.json": index_file(formats).decode(),
        folder / ".gitignore": f"{IGNORED}\n",
        folder / ".gitattributes": f"{LINE_ENDS}\n",
    }
    for path in (folder, memory, *wanted):
        if path.is_symlink():
            raise ConfigFault(f"{path} is a link.", "Put the folder or file itself there: its memory is written there.")
    return wanted


def _with_line(path: Path, before: str, ours: str) -> str:
    if path.suffix == ".json" or ours.strip() in before.splitlines():
        return before
    return before + ("" if before.endswith("\n") or not before else "\n") + ours
