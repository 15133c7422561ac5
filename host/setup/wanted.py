"""What the entries of this installation must say: its own absolute paths, its port and its token.

An interpreter that a version manager stands in for is named by its own path: the stand-in costs 80 ms a call.
"""

import os
import shutil
import sys
from pathlib import Path

from host.config import Paths
from host.namespace import SCRIPT, name
from host.paths import folder_problem
from host.setup.registrar import Wanted, Which
from host.transport import find

HOOK = Path(__file__).parents[1] / "hook.py"
USERS = "/run/user"  # where systems with systemd keep the runtime folders
PLUGIN = Path(__file__).with_name("data") / f"{name()}.js"


def wanted(paths: Paths, port: int, token: str, which: Which = shutil.which) -> Wanted:
    """For this installation. `which`: where a program is on the search path."""
    python = interpreter(sys.executable, sys.prefix)
    tools = find(python, str(HOOK.absolute()), folder(paths.socket, os.getuid()), which)
    return Wanted(tools=tools, script=script(python, which), plugin=str(PLUGIN.absolute()), port=port, token=token)


def folder(socket: Path, uid: int, users: str = USERS) -> str:
    """The folder of the daemon's sockets, by the same name in every session of a user: one over ssh lacks the runtime
    folder in its environment. It is the last place where a hook looks."""
    runtime = f"{users}/{uid}"
    is_fallback = socket.parent.name == name(str(uid))
    return f"{runtime}/{name()}" if is_fallback and folder_problem(runtime, uid) is None else str(socket.parent)


def interpreter(executable: str, prefix: str) -> str:
    """The interpreter's own path, where `executable` is one that a version manager put in front of it."""
    if Path(executable).is_relative_to(prefix):
        return executable
    own = (Path(prefix) / "bin" / program for program in (Path(executable).name, "python3", "python"))
    return next((str(path) for path in own if os.access(path, os.X_OK)), executable)


def script(python: str, which: Which) -> str:
    """Our command line: the one beside the interpreter, else the one that is run, else the one on the search path."""
    beside = Path(python).with_name(SCRIPT)
    if os.access(beside, os.X_OK):
        return str(beside)
    running = Path(sys.argv[0]).absolute()
    if running.name == SCRIPT and os.access(running, os.X_OK):
        return str(running)
    return which(SCRIPT) or str(beside)
