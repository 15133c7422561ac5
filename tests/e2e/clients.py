"""The real clients, at the versions that these tests know: found, or installed into a cache folder by npm.

    clients.codex(), clients.opencode(), clients.claude() -> Path    the program
    clients.gemini() -> list[str]                                    the command line that starts it

The folder is `remora-pre-tests` in the user's cache folder; several processes may ask at once. A client that is missing
and cannot be installed fails the test that needs it: without a real client this suite proves nothing. A test is skipped
only where the package itself names no build for this platform.
"""

import fcntl
import functools
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from host import namespace

CODEX = "@openai/codex@0.171.0"
GEMINI = "@google/gemini-cli@0.61.0"
OPENCODE = "opencode-ai@1.18.33"
CLAUDE = "@anthropic-ai/claude-code@2.1.332"

INSTALL_SECONDS = 900
# What the caller has, before a test gets a home of its own.
_HOME = Path.home()
_ENVIRONMENT = dict(os.environ)
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or _HOME / ".cache") / namespace.name("tests")
_PLATFORMS = {"win32": ("win32", "windows")}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class ClientMissing(RuntimeError):
    """A real client is not here and could not be installed; the text says why and what to do."""


def codex() -> Path:
    """The Codex CLI."""
    package = _build_of(CODEX)
    return _only(package.glob("vendor/*/bin/codex*"), CODEX)


def gemini() -> list[str]:
    """The Gemini CLI, which is a script for node."""
    program = _package(GEMINI) / "bundle" / "gemini.js"
    return [_tool("node"), str(_only([program], GEMINI))]


def opencode() -> Path:
    """OpenCode."""
    return _only(_build_of(OPENCODE).glob("bin/opencode*"), OPENCODE)


@functools.cache
def claude() -> Path:
    """Claude Code: the one that ships inside the Python package claude-agent-sdk, else the npm package."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is not None and spec.origin is not None:
        for name in ("claude", "claude.exe"):
            bundled = Path(spec.origin).parent / "_bundled" / name
            if bundled.exists():
                return bundled
    package = _build_of(CLAUDE)
    return _only((path for name in ("claude", "claude.exe") for path in [package / name]), CLAUDE)


def _build_of(pinned: str) -> Path:
    """The folder of the package that holds the build for this platform. Skips where there is none for it."""
    package = _package(pinned)
    builds = json.loads((package / "package.json").read_text(encoding="utf-8")).get("optionalDependencies", {})
    machine = _MACHINES.get(platform.machine().lower(), platform.machine().lower())
    for system in _PLATFORMS.get(sys.platform, (sys.platform,)):
        wanted = [name for name in builds if name.endswith(f"-{system}-{machine}{_libc()}")]
        if wanted:
            return _only([package.parents[len(_name(pinned).split("/")) - 1] / name for name in wanted], pinned)
    pytest.skip(f"NO CLIENT: {pinned} has no build for {sys.platform} on {machine}{_libc()}; it has {sorted(builds)}")


def _libc() -> str:
    """How builds for this system's C library are named, for packages that tell them apart: musl's say so."""
    return "-musl" if sys.platform == "linux" and platform.libc_ver()[0] != "glibc" and _musl() else ""


def _musl() -> bool:
    return any(Path("/lib").glob("ld-musl-*"))


@functools.cache
def _package(pinned: str) -> Path:
    """The installed package, installed now if need be. Raises ClientMissing."""
    folder = _CACHE / pinned.strip("@").replace("/", "-").replace("@", "-")
    package = folder / "node_modules" / _name(pinned)
    if not package.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with (_CACHE / f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # whoever waits here finds it installed
            if not package.is_dir():
                _install(pinned, folder)
    return package


def _install(pinned: str, folder: Path) -> None:
    """Install beside the folder and rename: a half-made one is never met."""
    npm = _tool("npm")
    _tool("node")
    with tempfile.TemporaryDirectory(dir=_CACHE, prefix=f"{folder.name}-") as making:
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", making, pinned]
        done = subprocess.run(
            command,
            cwd=making,
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
        )
        if done.returncode != 0 or not (Path(making) / "node_modules" / _name(pinned)).is_dir():
            said = (done.stderr or done.stdout).strip()[-2000:]
            raise ClientMissing(
                f"npm could not install the real client {pinned} (exit {done.returncode}): {said}\n"
                "Connect the package index, or install it by hand into "
                f"{folder} with: npm install --ignore-scripts --prefix {folder} {pinned}"
            )
        os.chmod(making, 0o755)
        shutil.rmtree(folder, ignore_errors=True)  # one that lacks its package
        os.rename(making, folder)
        os.mkdir(making)  # for the block's end to remove


def _tool(name: str) -> str:
    found = shutil.which(name, path=_ENVIRONMENT.get("PATH"))
    if found is None:
        raise ClientMissing(f"The real client needs {name}, and there is none on the search path: install Node.js 20.")
    return found


def _name(pinned: str) -> str:
    return pinned[: pinned.rindex("@")]


def _only(found: Iterable[Path], pinned: str) -> Path:
    """The first that is there. Raises ClientMissing."""
    for path in found:
        if path.exists():
            return path
    raise ClientMissing(
        f"{pinned} is installed, but its build for this platform is not: npm leaves out what it could not load. "
        f"Remove its folder in {_CACHE} and run the test again with the package index connected."
    )
