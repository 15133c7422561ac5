"""The user's `config.toml` edited in place (pure): some settings change, comments and everything else stay."""

from collections.abc import Mapping, MutableMapping, Sequence

import tomlkit
from tomlkit.exceptions import TOMLKitError

from host.errors import ConfigFault

Value = float | str | bool | Sequence[str]


def with_setting(text: str | None, section: str, name: str, value: Value) -> str:
    """The configuration with `value` in its section, which is made when it is not there. Raises ConfigFault."""
    return with_settings(text, section, {name: value})


def with_settings(text: str | None, section: str, values: Mapping[str, Value | None]) -> str:
    """The same for several settings of one section. None: the setting goes, so that its default holds."""
    try:
        document = tomlkit.parse(text or "")
    except TOMLKitError as error:
        raise ConfigFault(f"The configuration is not TOML: {error}.", "Correct the line, then try again.") from error
    if all(value is None for value in values.values()) and section not in document:
        return text or ""
    table = document.setdefault(section, tomlkit.table())
    if not isinstance(table, MutableMapping):
        raise ConfigFault(f"`{section}` in the configuration is no section.", "Correct the line, then try again.")
    for name, value in values.items():
        if value is None:
            table.pop(name, None)
        elif isinstance(value, str | float | int):
            table[name] = value
        else:
            table[name] = list(value)
    return tomlkit.dumps(document)
