"""OpenCode's plugin under node, without OpenCode: a socket that answers as a test says, and the plugin that asks it."""

import contextlib
import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from host import namespace
from tests.e2e import clients

Json = dict[str, Any]
STAGE = Path(__file__).parent / "plugin_stage.mjs"
PLUGIN = Path(__file__).parents[2] / "host/setup/data" / f"{namespace.name()}.js"
TRANSFORM = "experimental.chat.messages.transform"
CLAIM = {"sessionId": "ses_1", "agentId": "main", "packetId": "pkt_1", "claimId": "clm_1"}
Answer = Callable[[Json], bytes | None]


def saying(text: str) -> Answer:
    """A daemon that hands this text over at the first request."""
    texts = [text]

    def answer(asked: Json) -> bytes:
        wanted = asked["method"] == "hook" and asked["params"].get("acknowledge")
        result: Json = {"output": None}
        if wanted and texts:
            result = {"output": {"text": texts.pop()}, "claim": CLAIM}
        return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode() + b"\n"

    return answer


class Daemon:
    """A socket that answers as the test says: bytes, or None for silence. `heard`: the requests, in order."""

    def __init__(self, path: Path, answer: Answer) -> None:
        self.heard: list[Json] = []
        self.more = threading.Condition()
        self._answer = answer
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def _accept(self) -> None:
        while True:
            try:
                connected, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(connected)
            thread = threading.Thread(target=self._serve, args=(connected,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connected: socket.socket) -> None:
        try:
            for line in connected.makefile("rb"):
                asked = json.loads(line)
                with self.more:
                    self.heard.append(asked)
                    self.more.notify_all()
                answer = self._answer(asked)
                if answer is not None:
                    connected.sendall(answer)
        except OSError:
            return

    def until(self, method: str, count: int = 1) -> list[Json]:
        """The params of that method's calls, once there are as many."""
        with self.more:
            assert self.more.wait_for(lambda: len(self._of(method)) >= count, timeout=20), self.heard
            return self._of(method)

    def _of(self, method: str) -> list[Json]:
        return [asked["params"] for asked in self.heard if asked["method"] == method]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connected in self._open:
            with contextlib.suppress(OSError):  # closed by the plugin already
                connected.shutdown(socket.SHUT_RDWR)
            connected.close()
        for thread in self._threads:
            thread.join()


class Stage:
    """The plugin, loaded as OpenCode loads it."""

    def __init__(self, environment: dict[str, str]) -> None:
        node = clients.gemini()[0]
        self._process = subprocess.Popen(
            [node, str(STAGE), PLUGIN.as_uri()],
            env={"PATH": os.environ["PATH"], **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _ask(self, asked: Json) -> Json:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the plugin's process has ended"
        answer: Json = json.loads(line)
        return answer

    def call(self, hook: str, given: object, output: object = None) -> Json:
        """Call a hook; nothing may come out of it but what it did to `output`."""
        answer = self._ask({"call": hook, "input": given, "output": output})
        assert not answer["threw"]
        return answer

    def hooks(self) -> list[str]:
        said: list[str] = self._ask({"call": "hooks"})["output"]
        return said

    def client(self, mode: str) -> list[Json]:
        stored: list[Json] = self._ask({"client": mode})["stored"]
        return stored

    def request(self, *messages: Json) -> Json:
        return self.call(TRANSFORM, {}, {"messages": list(messages)})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        out, err = self._process.communicate(timeout=20)
        assert (out, err, self._process.returncode) == ("", "", 0)


def user(text: str, name: str = "msg_1", session: str = "ses_1") -> Json:
    info = {"id": name, "role": "user", "sessionID": session, "model": {"modelID": "m"}, "time": {"created": 1}}
    return {"info": info, "parts": [{"id": f"prt_{name}", "type": "text", "text": text}]}


def tool(output: str, name: str = "msg_2", status: str = "completed", session: str = "ses_1") -> Json:
    field = {"completed": "output", "error": "error"}.get(status, "raw")
    state = {"status": status, "input": {"command": "make"}, field: output, "time": {"start": 1, "end": 2}}
    part = {"id": f"prt_{name}", "messageID": name, "sessionID": session, "type": "tool", "tool": "bash", "callID": "c"}
    return {"info": {"id": name, "role": "assistant", "sessionID": session}, "parts": [{**part, "state": state}]}


def ours(name: str, kept: object, session: str = "ses_1") -> Json:
    """The part that keeps a text of ours in the record of that message."""
    owner = {"id": f"prt_zz{name.removeprefix('msg_')}", "messageID": name, "sessionID": session}
    return {**owner, "type": "text", "text": "", "synthetic": True, "metadata": {namespace.name(): kept}}


def holding(message: Json, kept: object) -> Json:
    """The message, with that part of ours."""
    return {**message, "parts": [*message["parts"], ours(message["info"]["id"], kept)]}


def texts(answer: Json) -> list[str]:
    """Every text of the conversation, as the model would get it."""
    found: list[str] = []
    for message in answer["output"]["messages"]:
        for part in message["parts"]:
            state = part.get("state", {})
            found += [part.get("text", ""), state.get("output", ""), state.get("error", "")]
    return [text for text in found if text]
