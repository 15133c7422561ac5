"""The SQL of governance's tables, for `host/compose.py` to put into the main database's schema."""

from importlib.resources import files

_TABLES = ("audit", "evidence")
_QUEUE = ("queue_001.sql", "episodes_002.sql", "formation_003.sql", "team_004.sql")


def schema(version: int = 1) -> str:
    """The script that takes the tables of governance to `version`: of each group that has such a step, in their order.

    Raises FileNotFoundError when none has.
    """
    folder = files("governance").joinpath("schema")
    steps = [folder.joinpath(f"{table}_{version:03}.sql") for table in _TABLES]
    scripts = [step.read_text(encoding="utf-8") for step in steps if step.is_file()]
    if not scripts:
        raise FileNotFoundError(f"governance has no schema step {version}")
    return "\n".join(scripts)


def queue_steps() -> tuple[str, ...]:
    """The numbered steps of `governance.db`. A step that was released is never changed: a new one follows it."""
    folder = files("governance").joinpath("schema")
    return tuple(folder.joinpath(name).read_text(encoding="utf-8") for name in _QUEUE)
