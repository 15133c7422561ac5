"""M-02: what a session did, as a record of a few hundred characters. Pure.

An episode tells its intent in the user's own words, cut and screened; what failed, as commands, files and error
classes; what was done before it worked; and how it ended. Nothing that a tool printed stands in it but the names of
errors. What a tool's output named is a stranger's word, and the record says so (`derived:tool`).

Each failure is one line of a fixed form, which its source reads again (`recall/sources/episodic.py`). An article stands
before an error that every project has:

    `make seal` failed with SealBrokenError, 2 times: ended in success after `rm build/seal.stamp`.
    `make docs` failed with a KeyError: ended in failure.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from governance.procedures import risk_of
from governance.screen import is_instruction_like, redact
from recall.contracts import EPISODE, Flag, Frozen, MemoryKind, MemoryRecord, Millis, Origin, Period, Risk, ScopeRef

FEWEST = 2  # segments of a session that is worth an episode
INTENT = 160  # characters
LONGEST, LONGEST_LINE, LONGEST_NAME = 800, 220, 48
MOST_THREADS, MOST_ERRORS, MOST_REMEDIES, MOST_RUN, MOST_FILES = 3, 2, 3, 4, 6
MOST_TRIED, MOST_HUMPS = 64, 6
SESSION, DERIVED = "session:", "derived:tool"
_ELSEWHERE = re.compile(r"\b[a-z][a-z+.-]{1,10}://|<\(", re.IGNORECASE)  # what comes from, or goes to, another place
_WEAKENS = re.compile(  # or runs what nobody sees, or asks another place
    r"\|\s*(?:sudo\s+)?(?:\w*sh|python3?|node|perl|ruby)\b|\b(?:sudo|eval|base64|nc|ncat|ssh|scp|chmod|chown)\s"
    r"|\bgit config\b|\bconfig (?:set|add)\b|--(?:no-verify|insecure|no-check-certificate|trusted-host|registry"
    r"|(?:extra-)?index-url|allow-\w+|disable-\w+|no-gpg\w*)\b|reject_unauthorized|hookspath|sslverify",
    re.IGNORECASE,
)
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


class Outcome(StrEnum):
    """How a session ended, as far as anybody can tell."""

    UNKNOWN = "unknown"
    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"


class StepKind(StrEnum):
    SAID = "said"  # by the user
    DONE = "done"  # a call, with how it ended
    OTHER = "other"


class Mood(StrEnum):
    """What a person's words say of the work before them."""

    NONE = ""
    AGREES = "agrees"
    CORRECTS = "corrects"


class Step(Frozen, frozen=True, kw_only=True):
    """One thing that happened. `act`: the line of a call (`recall.acts`); `ok` None: nobody knows how it ended.

    `names`: errors that name more than a sort of error; `sorts`: the others. `looks`: it changed and checked nothing.
    `changed`: the file that the call wrote. `told`: a tool's output had named the act before the agent ran it.
    """

    kind: StepKind
    at: Millis
    said: str = ""
    mood: Mood = Mood.NONE
    act: str = ""
    ok: bool | None = None
    names: tuple[str, ...] = ()
    sorts: tuple[str, ...] = ()
    looks: bool = False
    told: bool = False
    changed: str = ""


class Thread(Frozen, frozen=True, kw_only=True):
    """An act that failed, and what came of it. `remedy`: what was done between its last failure and its success; of one
    that failed to the end, what was done between its failures, and did not help."""

    act: str
    times: int
    errors: tuple[str, ...]
    solved: bool
    remedy: tuple[str, ...]


class Episode(Frozen, frozen=True, kw_only=True):
    """What a session did. `unresolved`: acts that failed to the end."""

    intent: str
    threads: tuple[Thread, ...]
    ran: tuple[str, ...]
    files: tuple[str, ...]
    outcome: Outcome
    started: Millis
    ended: Millis

    @property
    def unresolved(self) -> tuple[str, ...]:
        return tuple(one.act for one in self.threads if not one.solved)


@dataclass
class _Open:
    """A thread while the steps are read."""

    act: str
    times: int = 0
    names: dict[str, None] = field(default_factory=dict)
    sorts: dict[str, None] = field(default_factory=dict)
    solved: bool = False
    since: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)

    def fails(self, step: Step) -> None:
        self.times += 1
        self.solved = False
        self.tried, self.since = [*self.tried, *self.since][-MOST_TRIED:], []
        self.names.update(dict.fromkeys(step.names))
        self.sorts.update(dict.fromkeys(step.sorts))

    def closed(self) -> Thread:
        errors = tuple(self.names) or tuple(f"{'an' if sort[0] in 'AEIOU' else 'a'} {sort}" for sort in self.sorts)
        return Thread(
            act=self.act,
            times=self.times,
            errors=tuple(name for name in errors if _is_a_name(name))[:MOST_ERRORS],
            solved=self.solved,
            remedy=tuple(dict.fromkeys(filter(harmless, self.since if self.solved else self.tried)))[-MOST_REMEDIES:],
        )


def episode_of(steps: Sequence[Step]) -> Episode | None:
    """The episode of these steps, in their order; None: too little happened."""
    if len(steps) < FEWEST or not any(step.kind is StepKind.DONE or step.said for step in steps):
        return None
    threads = _threads(steps)
    done = [step for step in steps if step.kind is StepKind.DONE]
    ran = dict.fromkeys(step.act for step in done if step.act and not (step.looks or step.told or step.changed))
    told = {act for one in threads for act in (one.act, *one.remedy)}
    return Episode(
        intent=_intent(steps),
        threads=tuple(sorted(threads, key=lambda one: (-one.times, one.act))[:MOST_THREADS]),
        ran=tuple(act for act in ran if act not in told and harmless(act))[-MOST_RUN:],
        files=tuple(dict.fromkeys(step.changed for step in done if step.changed and step.ok is not False))[:MOST_FILES],
        outcome=_outcome(steps, threads),
        started=steps[0].at,
        ended=steps[-1].at,
    )


def worded(episode: Episode) -> str:
    """The text of its record: a line for each failure, the most frequent first, what else was done, how it ended."""
    lines = [line(one) for one in episode.threads]
    if episode.files:
        lines.append(f"Changed: {', '.join(episode.files)}.")
    if episode.ran:
        lines.append(f"Ran: {', '.join(f'`{act}`' for act in episode.ran)}.")
    while lines and sum(map(len, lines)) > LONGEST:
        lines.pop()  # what else was done says least
    return "\n".join([*lines, f"Ended: {episode.outcome}."])


def line(thread: Thread) -> str:
    """A failure in a line."""
    named = f" with {', '.join(thread.errors)}" if thread.errors else ""
    often = f", {thread.times} times" if thread.times > 1 else ""
    ended = Outcome.SUCCESS if thread.solved else Outcome.FAILURE
    said = f"`{thread.act}` failed{named}{often}: ended in {ended}"
    remedy = list(thread.remedy)
    while remedy:
        told = f"{said} {'after' if thread.solved else 'despite'} {', '.join(f'`{act}`' for act in remedy)}."
        if len(told) <= LONGEST_LINE:
            return told
        remedy.pop(0)  # what came last before the success says most
    return f"{said}."


def record_of(episode: Episode, memory_id: str, scope: ScopeRef, session: str) -> MemoryRecord:
    """The episode as a memory: extracted, so never more than a hint. `session`: the session's keyed name, for it is not
    told its own past. Words that read like an order to an agent are kept from all until a person has seen them."""
    text, _ = redact(worded(episode))
    title, _ = redact(f"Asked: {episode.intent}" if episode.intent else "")
    if is_instruction_like(title):
        title = ""
    tags = [EPISODE, str(episode.outcome), f"{SESSION}{session}"]
    if any(thread.errors for thread in episode.threads):
        tags.append(DERIVED)
    return MemoryRecord(
        memory_id=memory_id,
        anchor_id=f"memory:{memory_id}",
        kind=MemoryKind.EPISODIC,
        scope=scope,
        text=text,
        created_at=episode.ended,
        title=title or None,
        tags=tuple(tags),
        flags=(Flag.QUARANTINED,) if is_instruction_like(text) else (),
        origin=Origin.EXTRACTED,
        importance=50,
        occurred=Period(start=episode.started, end=episode.ended),
    )


def _threads(steps: Iterable[Step]) -> list[Thread]:
    threads: dict[str, _Open] = {}
    for step in steps:
        if step.kind is not StepKind.DONE or not step.act or _ELSEWHERE.search(step.act):
            continue
        if step.told and step.ok is False and not harmless(step.act):
            continue
        if step.ok is False and (
            step.names or not (step.looks or step.changed)
        ):  # an edit that did not fit is no event
            threads.setdefault(step.act, _Open(step.act)).fails(step)
            continue
        if step.ok is not True or step.looks:
            continue
        for one in threads.values():
            if one.solved:
                continue
            if _same(step.act, one.act):
                one.solved = True
            elif not step.told:
                one.since.append(step.act)
    return [one.closed() for one in threads.values()]


def harmless(act: str) -> bool:
    """Whether an act may be told to have helped: what destroys, publishes or fetches is nobody's advice, least of all
    when somebody else's text had asked the agent for it."""
    return risk_of(act, Risk.LOW) is Risk.LOW and _ELSEWHERE.search(act) is None and _WEAKENS.search(act) is None


def _is_a_name(error: str) -> bool:
    """Whether an error's name is one, and no sentence that somebody wrote as a name."""
    said = _HUMPS.sub(" ", error)
    return len(error) <= LONGEST_NAME and said.count(" ") < MOST_HUMPS and not is_instruction_like(said)


def _same(act: str, failed: str) -> bool:
    """Whether an act that went well shows that the one that failed would: the same, or the same with more or less."""
    if act == failed:
        return True
    short, long = sorted((act, failed), key=len)
    return " " in short and long.startswith(f"{short} ")


def _intent(steps: Iterable[Step]) -> str:
    """What the user asked first that was no correction, on one line."""
    said = [" ".join(step.said.split()) for step in steps if step.kind is StepKind.SAID and step.said.strip()]
    first = next(iter(said), "")
    return first if len(first) <= INTENT else f"{first[: INTENT - 1].rstrip()}…"


def _outcome(steps: Sequence[Step], threads: Sequence[Thread]) -> Outcome:
    """The user's last word on the work counts most; without one, whether what failed was overcome."""
    words = next((step.mood for step in reversed(steps) if step.kind is StepKind.SAID), Mood.NONE)
    open_ones = sum(not one.solved for one in threads)
    if words is Mood.CORRECTS:
        return Outcome.FAILURE if threads and open_ones == len(threads) else Outcome.PARTIAL
    if words is Mood.AGREES:
        return Outcome.PARTIAL if open_ones else Outcome.SUCCESS
    if not threads:
        return Outcome.UNKNOWN
    if not open_ones:
        return Outcome.SUCCESS
    return Outcome.FAILURE if open_ones == len(threads) else Outcome.PARTIAL
