"""Connecting agent products: their settings, edited in place and taken back. One module a product, in `REGISTRARS`."""

from collections.abc import Mapping

from host.setup import claude_code, codex, cursor, gemini_cli, opencode
from host.setup.registrar import Registrar

REGISTRARS: Mapping[str, Registrar] = {
    claude_code.HOST: claude_code,
    codex.HOST: codex,
    gemini_cli.HOST: gemini_cli,
    opencode.HOST: opencode,
    cursor.HOST: cursor,
}
