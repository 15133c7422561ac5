"""How a command hook reaches the daemon: one line for the settings of an agent, by the cheapest client on the machine.

`curl` on the HTTP socket, else an `nc` that speaks to Unix sockets, else the interpreter with `host/hook.py`, which
costs most (`tests/bench/bench_steps.py`). `nc` costs less than `curl`, but does not know HTTP: the line has to. What
may start the daemon takes the interpreter: a session's start, and a hook that does nothing else.

The line holds for every shell that an agent may use, since it only starts `/bin/sh`. It ends with code 0 whatever
happens, says nothing on standard error, and prints a whole answer or nothing. It looks for the socket where
`host/paths.py` does, and only in a folder that is the user's own. A daemon that let it wait too long is not asked again
until it says that it is well, by taking the mark LATE_FILE away: an agent waits once for one that hangs.
"""

import os
import shlex
import shutil
from collections.abc import Callable

from host.hook import START_WORD
from host.namespace import HTTP_SOCKET_FILE, LATE_FILE, env, name
from recall.contracts import Frozen

CONNECT_SECONDS = 0.2
PATIENCE_SECONDS = 0.5  # for an answer
SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
WRAPPED = ("/shims/", "/snap/")  # a version manager's stand-in, or a program shut in: slow, or unable to see the socket
SOCKET_NC = frozenset(["nc.openbsd", "ncat"])  # those that know -U, by the name of the file itself
CRLF = "\\r\\n"  # as printf is told
SOCKET_NC_SYSTEMS = ("Darwin", "FreeBSD", "OpenBSD")  # whose own nc knows it


class Tools(Frozen, frozen=True, kw_only=True):
    """What is on this machine. Absolute paths; empty: not there, or of no use here.

    `folder`: of the daemon's sockets, as the environment says now. `uid`: whose they are.
    """

    python: str
    hook: str
    folder: str
    uid: int
    curl: str = ""
    nc: str = ""


def find(python: str, hook: str, folder: str, which: Callable[[str], str | None] = shutil.which) -> Tools:
    """The clients here; nothing is started. `which`: where a program is on the search path, or None."""
    found = (os.path.realpath(path) for path in (_program("nc", which), _program("ncat", which)) if path)
    able = os.uname().sysname in SOCKET_NC_SYSTEMS
    nc = next((path for path in found if able or os.path.basename(path) in SOCKET_NC), "")
    return Tools(python=python, hook=hook, folder=folder, uid=os.getuid(), curl=_program("curl", which), nc=nc)


def _program(called: str, which: Callable[[str], str | None]) -> str:
    """The system's own program of that name before any other; empty: there is none to use."""
    places = [*(os.path.join(folder, called) for folder in SYSTEM_FOLDERS), which(called) or ""]
    usable = (path for path in places if os.path.isabs(path) and os.access(path, os.X_OK))
    return next((path for path in usable if not any(part in os.path.realpath(path) for part in WRAPPED)), "")


def client_of(tools: Tools) -> str:
    """Which client a line of `command` uses: `curl`, `nc` or `python`."""
    return "curl" if tools.curl else "nc" if tools.nc else "python"


def command(host: str, tools: Tools, *, starts: bool = False, revives: bool = False) -> str:
    """The command line of a hook of `host`. `starts`: of an event with which a session begins. `revives`: it only
    looks whether a daemon listens, and starts one if not.

    `q` ends it with the payload read: a host that cannot write all of it takes the hook for broken.
    """
    quiet = "q() { cat >/dev/null 2>&1; exit 0; }"
    own = f'[ "${env("internal")}" = 1 ] && q'  # our own model sessions are not watched
    if starts or revives or client_of(tools) == "python":
        python, hook = shlex.quote(tools.python), shlex.quote(tools.hook)
        words = f"{host} {START_WORD}" if revives else host
        asked = f"if [ -x {python} ]; then {python} -I -S {hook} {words} 2>/dev/null; exit 0; fi"
    else:
        asked = _at_the_socket(tools, _by_curl(host, tools.curl) if tools.curl else _by_nc(host, tools.nc))
    return f"/bin/sh -c {shlex.quote('; '.join((quiet, own, asked, 'q')))}"


def _at_the_socket(tools: Tools, ask: str) -> str:
    """`ask` with `$s` for the first socket that is there, in a folder `$d` that is ours. The programs of the system are
    found whatever the search path is."""
    chosen, marked = env("socket"), f'"$d/{LATE_FILE}"'
    usual = f'"${{XDG_RUNTIME_DIR:-/}}/{name()}" "${{TMPDIR:-/tmp}}/{name(str(tools.uid))}" {shlex.quote(tools.folder)}'
    return (
        f'PATH="/usr/bin:/bin${{PATH:+:$PATH}}"; '
        f'set -- {usual}; [ -n "${chosen}" ] && set -- "${{{chosen}%/*}}"; for d do s="$d/{HTTP_SOCKET_FILE}"; '
        f'if [ -S "$s" ] && [ -O "$d" ] && [ ! -L "$d" ]; then [ -e {marked} ] && q; {ask}; exit 0; fi; done'
    )


# What an answer that is too late leaves behind.
_MARK = f'{{ printf "" > "$d/{LATE_FILE}"; }} 2>/dev/null'


def _by_curl(host: str, curl: str) -> str:
    """Its exit code says whether the answer is whole; 28: too late. Without `Expect:` it would ask before it sends."""
    call = (
        f'{shlex.quote(curl)} -q -s -f --noproxy "*" --connect-timeout {CONNECT_SECONDS} --max-time {PATIENCE_SECONDS} '
        f'--unix-socket "$s" -H Expect: -H Content-Type:application/json --data-binary @- http://localhost/hook/{host}'
    )
    return f'a=$({call} 2>/dev/null); case "$?$a" in "0{{"*"}}") printf %s "$a";; 28*) {_MARK};; esac'


def _by_nc(host: str, nc: str) -> str:
    """HTTP by hand: the answer is whole when its length is what its head says."""
    lines = (f"POST /hook/{host} HTTP/1.0", "Host: localhost", "Content-Type: application/json")
    head = CRLF.join((*lines, "Content-Length: %s", "", "%s"))
    return "; ".join(
        (
            "LC_ALL=C",  # lengths in bytes
            "b=$(cat)",
            f'a=$(printf "{head}" "${{#b}}" "$b" | {shlex.quote(nc)} -w 1 -U "$s" 2>/dev/null)',
            f'e=$(printf "{CRLF}{CRLF}."); e=${{e%.}}; h=${{a%%"$e"*}}; t=${{a#*"$e"}}',
            "n=${h#*ontent-?ength: }; n=${n%%[!0-9]*}",
            'case "$a" in "HTTP/1."?" 200 "*) case "${#t}$t" in "$n{"*"}") printf %s "$t";; esac'
            f';; "") {_MARK};; esac',
        )
    )
