"""What the daemon and its methods know of each other."""

import json

from host.connection import Peer, Reply, settle
from tests.support.methods import FakeShell


async def test_a_peer_is_notified_in_lines_until_it_is_gone() -> None:
    lines: list[bytes] = []

    def send(line: bytes) -> bool:
        lines.append(line)
        return len(lines) < 2

    peer = Peer(7, 1000, 42, send)

    assert not peer.notified
    assert peer.notify("audit.entry", {"entry": 1})
    assert not peer.notify("audit.entry", {"entry": 2})
    assert peer.notified
    assert [json.loads(line)["params"]["entry"] for line in lines] == [1, 2]


async def test_nothing_follows_a_plain_reply() -> None:
    reply = Reply(result=1)

    await reply.written()
    await reply.lost()


async def test_a_failure_after_the_answer_is_logged_by_kind_and_goes_no_further() -> None:
    shell = FakeShell()

    async def fail() -> None:
        raise RuntimeError("a canary")

    await settle(fail, shell.log)

    assert shell.lines == [{"event": "settle.failed", "error": "RuntimeError"}]
