"""Transcripts of Claude Code that a person could import, and a script that proposes what was said in them."""

import json
from pathlib import Path
from typing import Any

SAID = {
    "s-one": "The importer is slow. By the way, we ship on Thursdays, so there is no hurry today.",
    "s-two": "Leave the tag alone for now, releases are Thursday only.",
}
QUOTES = {"s-one": "we ship on Thursdays", "s-two": "releases are Thursday only"}
SENTENCE = "Releases go out on Thursdays."


def conversation(folder: Path, session: str, *texts: str, day: str = "2026-11-03") -> Path:
    """The session file of a conversation in `folder`: what the user says, each answered."""
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(texts):
        at = f"{day}T10:{number:02}"
        common = {"sessionId": session, "cwd": str(folder)}
        lines.append(
            common
            | {"type": "user", "uuid": f"{session}-u{number}", "timestamp": f"{at}:00Z"}
            | {"message": {"role": "user", "content": text}}
        )
        said = {"id": f"{session}-m{number}", "role": "assistant", "content": [{"type": "text", "text": "I will."}]}
        lines.append(
            common | {"type": "assistant", "uuid": f"{session}-a{number}", "timestamp": f"{at}:05Z"} | {"message": said}
        )
    file = folder / f"{session}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def proposing(file: Path) -> None:
    """A script for both sessions: a fact from the first, the same as the open one from the second, and its sentence."""

    def proposal(quote: str, *, known: bool) -> dict[str, Any]:
        item = {"content": SENTENCE, "evidence": [{"sourceRef": "${ref}", "quote": quote}]}
        pick = {"ref": f'"sourceRef":"([^"]+)","text":"[^"]*{quote}'}
        if known:
            pick["gap"], item["gapId"] = '"gapId":"([^"]+)"', "${gap}"
        return {"pick": pick, "json": {"status": "complete", "items": [item]}}

    sentence = {"id": "${id}", "verdict": "accept", "sentence": SENTENCE}
    answers = [
        proposal(QUOTES["s-one"], known=False),
        proposal(QUOTES["s-two"], known=True),
        {"pick": {"id": '"id":"([^"]+)"'}, "json": {"results": [sentence]}},
    ]
    file.write_text(json.dumps({"id": "demo", "answers": answers}))
