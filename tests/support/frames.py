"""The adversarial frames as requests on our wire: each envelope as the one event of an `event.append`."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data" / "adversarial"
GOOD = (
    b'{"schemaVersion":1,"sessionId":"s-a1","agentId":"ag1","workspace":"/w","channel":"tools",'
    b'"eventType":"tool/result","timestamp":1795910400000,"sourceKind":"tool","payload":%s}'
)
LONGEST = 4 * 1024 * 1024


def append(envelope: bytes, number: int = 1) -> bytes:
    """An `event.append` of one envelope, as a line."""
    head = b'{"jsonrpc":"2.0","id":%d,"method":"event.append","params":{"events":[' % number
    return head + envelope + b"]}}\n"


def frames() -> Iterator[tuple[str, str, bytes]]:
    """(kind, what to expect, envelope bytes) of each record that is bytes and not a client's behaviour."""
    for line in (DATA / "frames.jsonl").read_text("ascii").splitlines():
        record = json.loads(line)
        if "b64" in record:
            yield record["kind"], record["expect"], _as_ours(base64.b64decode(record["b64"]))
        elif (made := _made(record["gen"])) is not None:
            yield record["kind"], record["expect"], made


def json_suite() -> Iterator[tuple[str, str, bytes]]:
    """(kind, what to expect, document bytes) of the public JSON suite."""
    for line in (DATA / "third_party_json.jsonl").read_text("ascii").splitlines():
        record = json.loads(line)
        yield record["kind"], record["expect"], base64.b64decode(record["b64"])


def _as_ours(frame: bytes) -> bytes:
    return (
        frame.replace(b'"channel":"tool"', b'"workspace":"/w","channel":"tools"')
        .replace(b'"timestamp":"2026-11-29T00:00:00Z"', b'"timestamp":1795910400000')
        .replace(b'"eventType":"tool_result"', b'"eventType":"tool/result"')
    )


def _made(gen: dict[str, object]) -> bytes | None:
    match gen["what"]:
        case "nested_payload":
            depth = int(str(gen["depth"]))
            return GOOD % (b'{"a":' + b"[" * depth + b"]" * depth + b"}")
        case "string_payload":
            return GOOD % (b'{"text":"' + b"x" * min(LONGEST, int(str(gen["bytes"]))) + b'"}')
        case "many_keys":
            return GOOD % json.dumps({f"k{key}": 1 for key in range(int(str(gen["n"])))}).encode()
        case _:
            return None
