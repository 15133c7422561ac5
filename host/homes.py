"""Where agent products keep what is the user's own: their folders below the home folder. Pure."""

from collections.abc import Mapping
from pathlib import Path

from recall.contracts import Frozen


class Homes(Frozen, frozen=True, kw_only=True):
    """The folders of one user. They need not exist."""

    home: Path
    claude: Path  # Claude Code's configuration: CLAUDE.md, rules, projects/<slug>/memory
    codex: Path
    gemini: Path


def homes_of(environ: Mapping[str, str]) -> Homes | None:
    """The folders for this environment: `CLAUDE_CONFIG_DIR` and `CODEX_HOME` name others than the usual ones. None
    without an absolute `HOME`: then no file of a user's is read."""
    home = environ.get("HOME", "")
    if not Path(home).is_absolute():
        return None
    return Homes(
        home=Path(home),
        claude=_chosen(environ, "CLAUDE_CONFIG_DIR") or Path(home) / ".claude",
        codex=_chosen(environ, "CODEX_HOME") or Path(home) / ".codex",
        gemini=Path(home) / ".gemini",
    )


def _chosen(environ: Mapping[str, str], name: str) -> Path | None:
    chosen = Path(environ.get(name, ""))
    return chosen if chosen.is_absolute() else None
