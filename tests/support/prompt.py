"""The command line as a person uses it, in a folder, with the daemon that the environment names."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main

ID = re.compile(r"mem_[0-9a-f]{32}")


class Prompt:
    """Runs commands in `folder`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch

    def run(self, *arguments: str, said: str = "") -> Result:
        return CliRunner().invoke(main, list(arguments), input=said)

    def ok(self, *arguments: str, said: str = "") -> str:
        """What a command prints that ends well."""
        result = self.run(*arguments, said=said)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments, "--json"))

    def keep(self, text: str, *options: str) -> str:
        """The id of a new memory."""
        found = ID.search(self.ok("remember", text, *options))
        assert found is not None
        return found[0]

    def listed(self, *options: str) -> list[str]:
        return [record["memoryId"] for record in self.json("list", *options)["records"]]

    def editor(self, script: str) -> None:
        """Make the editor a script: `text` is what stands in the file; what the script leaves in it is saved."""
        editor_of(self._monkeypatch, self.folder, script)


def editor_of(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Make the editor a script: `text` is what stands in the file; what the script leaves in it is saved."""
    program = folder / "editor.py"
    program.write_text(
        "import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_text()\n"
        f"{script}\nfile.write_text(text)\n"
    )
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(program)]))
    monkeypatch.delenv("VISUAL", raising=False)
