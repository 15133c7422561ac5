"""What a running agent is told about a task, as versioned files beside this one: a change of words is a new version."""

from functools import lru_cache
from importlib.resources import files

from recall.canonical import text_digest
from recall.contracts import Frozen


class Prompt(Frozen, frozen=True, kw_only=True):
    """`id`: name@version."""

    id: str
    text: str
    sha256: str


def names() -> tuple[str, ...]:
    """All of them as name@version, in order."""
    return tuple(sorted(path.name.removesuffix(".md") for path in files(__name__).iterdir() if "@" in path.name))


@lru_cache(maxsize=32)
def prompt(name: str) -> Prompt:
    """The newest version of `name`. Raises LookupError: there is none."""
    versions = sorted(int(one.rpartition("@")[2]) for one in names() if one.rpartition("@")[0] == name)
    if not versions:
        raise LookupError(f"there is no prompt {name!r}")
    chosen = f"{name}@{versions[-1]}"
    text = files(__name__).joinpath(f"{chosen}.md").read_text(encoding="utf-8").strip()
    return Prompt(id=chosen, text=text, sha256=text_digest(text))
