"""Heat of scenes: how often one was written. It is counted here, and never taken from a text (team.md 10). Pure."""

from collections.abc import Sequence

from governance.team.errors import Kind, TeamFault

HOTTEST = 2_147_483_647


def created() -> int:
    """Of a scene that is new."""
    return 1


def updated(before: int) -> int:
    """Of a scene that is written again. Raises TeamFault (`capacity-exceeded`)."""
    return _counted(before + 1)


def merged(sources: Sequence[int]) -> int:
    """Of what several scenes became. Raises TeamFault (`capacity-exceeded`)."""
    return _counted(sum(sources) + 1)


def _counted(heat: int) -> int:
    if heat > HOTTEST:
        said = f"The heat of the scene would be {heat}; it is counted up to {HOTTEST}."
        raise TeamFault(Kind.CAPACITY_EXCEEDED, said, "Leave this scene as it is, or make a new one in its place.")
    return heat
