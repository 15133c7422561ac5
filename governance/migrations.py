"""The SQL of governance's tables, for `host/compose.py` to put into the main database's schema."""

from importlib.resources import files

_TABLES = ("audit", "evidence")


def schema(version: int = 1) -> str:
    """The script that takes every table group of governance to `version` from the one before."""
    folder = files("governance").joinpath("schema")
    scripts = [folder.joinpath(f"{table}_{version:03}.sql").read_text(encoding="utf-8") for table in _TABLES]
    return "\n".join(scripts)
