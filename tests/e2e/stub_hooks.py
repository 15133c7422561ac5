"""A hook server that answers what it is told to, and keeps what it was sent."""

import contextlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]


class StubHooks:
    """Answers each hook event with the next of its texts as additional context; with nothing once they are used up."""

    def __init__(self, **texts: list[str]) -> None:
        self.heard: list[Json] = []
        self._texts = texts
        self._open: list[socket.socket] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                owner._open.append(self.connection)

            def do_POST(self) -> None:
                payload = json.loads(self.rfile.read(int(self.headers["content-length"])))
                body = owner.answer(payload)
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def answer(self, payload: Json) -> bytes:
        self.heard.append(payload)
        event = payload["hook_event_name"]
        texts = self._texts.get(event, [])
        if not texts:
            return b""
        context = {"hookEventName": event, "additionalContext": texts.pop(0)}
        return json.dumps({"hookSpecificOutput": context}).encode()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def settings(self, *events: str, command: str = "") -> Json:
        """Client settings: http hooks for `events`, and `command` at SessionStart if given."""
        hooks: Json = {name: [{"hooks": [{"type": "http", "url": self.url, "timeout": 5}]}] for name in events}
        if command:
            hooks["SessionStart"] = [{"hooks": [{"type": "command", "command": command, "timeout": 5}]}]
        return {"hooks": hooks}

    def close(self) -> None:
        """As a killed process would: kept connections break, new ones are refused."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for connection in self._open:
            with contextlib.suppress(OSError):  # closed by the client already
                connection.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self.close()
