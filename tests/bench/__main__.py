"""Runs every bench, one after another: `python -m tests.bench [--json] [NAME …]`. With --json a line each."""

import subprocess
import sys

BENCHES = ("idle", "append", "pass", "log_growth", "hook")


def main(arguments: list[str]) -> int:
    wanted = [name for name in arguments if not name.startswith("-")] or list(BENCHES)
    flags = [flag for flag in arguments if flag.startswith("-")]
    unknown = [name for name in wanted if name not in BENCHES]
    if unknown:
        print(f"no such bench: {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    codes = [
        subprocess.run([sys.executable, "-m", f"tests.bench.bench_{name}", *flags], check=False).returncode
        for name in wanted
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
