"""The real clients are found or installed once, and what is missing is said. A stand-in takes the place of npm."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import clients

NPM = """#!/bin/sh
echo run >> "$0.runs"
while [ "$1" != --prefix ]; do shift; done
[ -e "$0.broken" ] && { echo "npm error network: no index" >&2; exit 1; }
package="$2/node_modules/@openai/codex"
mkdir -p "$package"
printf '{"optionalDependencies": {%s}}' "$(cat "$0.builds")" > "$package/package.json"
for build in $(cat "$0.here"); do
    mkdir -p "$2/node_modules/@openai/$build/vendor/triple/bin"
    : > "$2/node_modules/@openai/$build/vendor/triple/bin/codex"
done
"""


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A search path with our npm, which knows a build for a machine that all tests run on, and an empty cache."""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    for program in (npm, npm.with_name("node")):
        program.write_text(NPM)
        program.chmod(0o755)
    Path(f"{npm}.builds").write_text('"@openai/codex-plan9-x64": "1"')
    Path(f"{npm}.here").write_text("codex-plan9-x64")
    monkeypatch.setattr(clients, "_CACHE", tmp_path / "cache")
    monkeypatch.setattr(clients, "_ENVIRONMENT", {"PATH": f"{npm.parent}:/usr/bin:/bin"})
    monkeypatch.setattr(sys, "platform", "plan9")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    clients._package.cache_clear()
    yield npm
    clients._package.cache_clear()


def runs(npm: Path) -> int:
    return len(Path(f"{npm}.runs").read_text().splitlines()) if Path(f"{npm}.runs").exists() else 0


def test_a_client_is_installed_once_however_many_ask(npm: Path) -> None:
    found: list[Path] = []

    def ask() -> None:
        clients._package.cache_clear()
        found.append(clients.codex())

    asking = [threading.Thread(target=ask) for _ in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()

    assert len(set(found)) == 1 and len(found) == 4 and found[0].exists()
    assert runs(npm) == 1
    assert [path.name for path in (npm.parents[1] / "cache").iterdir() if path.is_dir()] == ["openai-codex-0.171.0"]


def test_what_npm_says_is_in_the_failure_and_the_next_try_begins_anew(npm: Path) -> None:
    Path(f"{npm}.broken").touch()
    with pytest.raises(clients.ClientMissing, match="no index"):
        clients.codex()

    Path(f"{npm}.broken").unlink()
    assert clients.codex().exists()


def test_without_node_it_is_said_what_is_missing(npm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_ENVIRONMENT", {"PATH": "/nowhere"})

    with pytest.raises(clients.ClientMissing, match=r"needs npm.*install Node\.js"):
        clients.codex()


def test_a_build_that_npm_left_out_fails_and_one_that_does_not_exist_is_skipped(npm: Path) -> None:
    Path(f"{npm}.here").write_text("")
    with pytest.raises(clients.ClientMissing, match="its build for this platform is not"):
        clients.codex()

    clients._package.cache_clear()
    subprocess.run(["rm", "-rf", str(npm.parents[1] / "cache")], check=True)
    Path(f"{npm}.builds").write_text('"@openai/codex-beos-x64": "1"')
    with pytest.raises(pytest.skip.Exception, match="NO CLIENT: @openai/codex@"):
        clients.codex()
