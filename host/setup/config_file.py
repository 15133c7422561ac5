"""The user's `config.toml` edited in place (pure): one setting changes, comments and everything else stay."""

from collections.abc import MutableMapping

import tomlkit
from tomlkit.exceptions import TOMLKitError

from host.errors import ConfigFault


def with_setting(text: str | None, section: str, name: str, value: float) -> str:
    """The configuration with `value` in its section, which is made when it is not there. Raises ConfigFault."""
    try:
        document = tomlkit.parse(text or "")
    except TOMLKitError as error:
        raise ConfigFault(f"The configuration is not TOML: {error}.", "Correct the line, then try again.") from error
    table = document.setdefault(section, tomlkit.table())
    if not isinstance(table, MutableMapping):
        raise ConfigFault(f"`{section}` in the configuration is no section.", "Correct the line, then try again.")
    table[name] = value
    return tomlkit.dumps(document)
