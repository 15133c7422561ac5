"""Events and memories for the benches: made up, always the same."""

import random
import time
from typing import Any

Json = dict[str, Any]
_WORDS = (
    "build cache parser token queue socket retry schema index worker branch merge deploy config secret timeout buffer "
    "fixture module stream packet header column cursor thread signal backend frontend client server render template"
)
WORDS = _WORDS.split()


def words(seed: int | str, size: int = 680) -> str:
    """Text of about `size` characters, always the same for a seed."""
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(size // 6))[:size]


def event(session: str, number: int, event_type: str, payload: Json, folder: str, **more: Any) -> Json:
    """An envelope as a producer sends it."""
    author = {"user/message": "user", "tool/result": "tool"}.get(event_type, "agent")
    channel = {"user/message": "session", "assistant/message": "agent"}.get(event_type, "tools")
    return {
        "schemaVersion": 1,
        "sessionId": session,
        "agentId": "main",
        "workspace": folder,
        "channel": channel,
        "eventType": event_type,
        "timestamp": time.time_ns() // 1_000_000,
        "sourceKind": author,
        "eventId": f"{session}:{number}",
        "payload": payload,
    } | more


def turn(session: str, number: int, folder: str, size: int = 800) -> Json:
    """Event `number` of an endless session: call, good result, call, good result, reply; a failure now and then.
    The payload has about `size` bytes."""
    text = words(f"{session}/{number}", size - 120)
    call = f"{session}-{number // 2}"
    match number % 5:
        case 0 | 2:
            payload: Json = {"tool": "shell", "args": f"make {WORDS[number % len(WORDS)]} # {text}"}
            return event(session, number, "tool/call", payload, folder, callId=call)
        case 1 | 3:
            ok = number % 50 != 1
            result = {"tool": "shell", "ok": ok, "text": text if ok else f"error: exit 2\n{text}"}
            return event(session, number, "tool/result", result, folder, callId=call)
        case _:
            return event(session, number, "assistant/message", {"text": text}, folder)


FORMS = (
    "{error} in {part}: the {words} must be rebuilt with `make {part}` before the tests run.",
    "When {part} raises {error}, delete its cache folder first; {words}.",
    "{part} was split in March: {error} means that {words} still import the old half.",
    "Do not edit {part} by hand, it is generated. {error} says the generator is older than {words}.",
    "The {words} need the port of {part}; without it you see {error}.",
    "Ask the platform team for a token of {part}, else {error}. It concerns {words}.",
    "{error}? Start the {part} container; {words} wait for it.",
    "We pinned {part} because of {error} in its last release, see {words}.",
    "{words}: {part} keeps them in UTC, and {error} is what a local time gives.",
    "Restart {part} after a migration. Otherwise {error}, together with {words}.",
    "{error} comes from {part} when the lock file is stale; refresh it, then {words}.",
    "Only {part} may write there. {error} tells that {words} tried to.",
)


def lesson(number: int) -> tuple[str, str]:
    """A memory, and the failing output that it is about. Every one has words that no other has."""
    chance = random.Random(number)
    error = f"E{number:04d}Mismatch"
    part = f"{chance.choice(WORDS)}_{chance.choice(WORDS)}_{number}"
    form = FORMS[number % len(FORMS)]
    memory = form.format(error=error, part=part, words=words(number, 20))
    output = (
        f'Traceback (most recent call last):\n  File "src/{part}.py", line {number}\n{error}: {part} is out of date'
    )
    return memory, output
