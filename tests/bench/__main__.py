"""Runs every bench, one after another: `python -m tests.bench [--json] [NAME …]`. With --json a line each.

One bench takes its own options too: `python -m tests.bench recall --records 1000,100000,1000000`.
"""

import subprocess
import sys

BENCHES = (
    "idle",
    "append",
    "decision",
    "pass",
    "recall",
    "log_growth",
    "screen",
    "review",
    "steps",
    "mcp",
    "checkpoint",
    "judgement",
    "team",
    "promote_kills",
)


def main(arguments: list[str]) -> int:
    named, flags = parted(arguments)
    wanted = named or list(BENCHES)
    wanted = [name.replace("-", "_") for name in wanted]
    unknown = [name for name in wanted if name not in BENCHES]
    if unknown:
        print(f"no such bench: {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    codes = [
        subprocess.run([sys.executable, "-m", f"tests.bench.bench_{name}", *flags], check=False).returncode
        for name in wanted
    ]
    return max(codes)


def parted(arguments: list[str]) -> tuple[list[str], list[str]]:
    """(names, options with their values)."""
    named: list[str] = []
    flags: list[str] = []
    for before, one in zip(["", *arguments], arguments, strict=False):
        takes_value = before.startswith("--") and before != "--json" and "=" not in before
        (flags if one.startswith("-") or takes_value else named).append(one)
    return named, flags


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
