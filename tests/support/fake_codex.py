"""A stand-in for `codex app-server`: it lists the hooks of the user's hooks.json, and keeps what it is told to trust.

It answers as the real one did when asked (Codex CLI 0.171.0), with hashes of its own. FAKE_CODEX in the environment
names a fault: "refuses", "silent", "odd", or "deaf" (it takes no trust).
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def install(folder: Path) -> Path:
    """Put it on a search path as `codex`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "codex"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).absolute()}" "$@"\n')
    program.chmod(0o755)
    return program


def _hooks(home: Path, trusted: str) -> list[dict[str, Any]]:
    file = home / "hooks.json"
    events = json.loads(file.read_text())["hooks"] if file.exists() else {}
    found = []
    for event, groups in events.items():
        snake = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")
        for group, one in enumerate(groups):
            for place, hook in enumerate(one["hooks"]):
                key = f"{file}:{snake}:{group}:{place}"
                number = hashlib.sha256(json.dumps(hook).encode()).hexdigest()
                status = "trusted" if f'"{key}"]\ntrusted_hash = "sha256:{number}"' in trusted else "untrusted"
                told = {"key": key, "currentHash": f"sha256:{number}", "trustStatus": status}
                found.append(told | {"eventName": event, "sourcePath": str(file)})
    return found


def _answer(method: str, params: dict[str, Any], home: Path, fault: str) -> dict[str, Any]:
    config = home / "config.toml"
    text = config.read_text() if config.exists() else ""
    if fault == "refuses" and method != "initialize":
        return {"error": {"code": -32600, "message": "no"}}
    if method == "hooks/list":
        if fault == "odd":
            return {"result": {"data": 5}}
        return {"result": {"data": [{"cwd": cwd, "hooks": _hooks(home, text)} for cwd in params["cwds"]]}}
    if method == "config/batchWrite" and fault != "deaf":
        text += "" if "[hooks.state]" in text else "\n[hooks.state]\n"
        for key, state in params["edits"][0]["value"].items():
            text += f'\n[hooks.state."{key}"]\ntrusted_hash = "{state["trusted_hash"]}"\n'
        config.write_text(text)
    return {"result": {"status": "ok"}}


def main() -> None:
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    fault = os.environ.get("FAKE_CODEX", "")
    print(json.dumps({"method": "notice", "params": {}}), flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if fault == "silent":
            return
        if "id" in message:
            print("no json", flush=True)
            print(
                json.dumps({"id": message["id"]} | _answer(message["method"], message["params"], home, fault)),
                flush=True,
            )


if __name__ == "__main__":
    main()
