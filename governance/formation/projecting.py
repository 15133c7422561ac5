"""What of a session's texts the model is shown: evidence, and what helps to understand it (formation.md 5.2, 5). Pure.

Evidence is what the user wrote; what a machine wrote in the user's place is none. Secrets are replaced before anything
leaves the process, and a quote is compared with what was shown: no secret is ever quoted. A record of more than 4 000
characters is cut at a sentence, and says so.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo

import msgspec

from governance.formation.admit import Shown
from governance.formation.contracts import EvidenceRecord, FailureClass, Role
from governance.formation.dates import day
from governance.formation.ladder import RangeFault
from governance.formation.quality import Noise, cleaned, noise_of
from governance.screen import redact
from recall.canonical import digest, text_digest
from recall.contracts import Frozen

PROJECTION = "checkpoint_pre_v1"  # changes with what is shown: a range that failed is hashed anew then
USER, ASSISTANT = "user", "assistant"
LONGEST_RECORD = 4_000  # characters
LONGEST_REF = 160
MOST_RECORDS = 64  # of a segment
LONGEST_EVIDENCE = 12_000  # characters of its JSON
LONGEST_ENTRY = LONGEST_EVIDENCE - 100  # of one record in it: text that JSON must escape grows sixfold
READ = 4 * LONGEST_RECORD  # characters that are screened: a secret that lies across the cut is seen whole
LONGEST_HELP = 400  # characters of what the agent said just before
_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？；\n]")
_encoder = msgspec.json.Encoder()


class Evidence(Frozen, frozen=True, kw_only=True):
    """A record as it is shown: its text is cleaned, redacted and cut. `coverage`: the digest of the text as it came.
    `before`: the end of what the agent said just before. `weight`: characters of its JSON."""

    record: EvidenceRecord
    coverage: str
    before: str
    weight: int

    def row(self, zone: tzinfo = UTC) -> dict[str, object]:
        """As it stands in the material of a prompt."""
        return _row(self.record, zone)

    @property
    def shown(self) -> Shown:
        """As a quote of it is judged."""
        one = self.record
        return Shown(content=one.text, role=Role.USER, timestamp=one.at, new=True, truncated=one.truncated)


def evidence(records: Sequence[EvidenceRecord]) -> Iterable[Evidence]:
    """What of these texts is evidence, one by one, in their order. `records`: after `check`."""
    said: EvidenceRecord | None = None
    for record in records:
        if record.role != USER:
            said = record
            continue
        text = cleaned(_sound(record.text), USER)
        if telling(text):
            before = "" if said is None or said.workspace_key != record.workspace_key else helping(said)
            yield _evidence(record, text, before)


def telling(text: str) -> bool:
    """Whether a cleaned text of the user says anything. A command does when words follow its name: they are the
    user's."""
    noise = noise_of(text)
    return noise is None or (noise is Noise.COMMAND and len(text.split(None, 1)) > 1)


def check(records: Sequence[EvidenceRecord], after: int, through: int) -> None:
    """Whether these texts keep to the range that was asked for. Raises RangeFault (`evidence`)."""
    last, refs = after, set[str]()
    for record in records:
        if not last <= record.event_seq <= through or record.event_seq <= after:
            problem = f"Event {record.event_seq} does not stand between {after} and {through} in its order."
            raise RangeFault(FailureClass.EVIDENCE, problem)
        if not 0 < len(record.ref) <= LONGEST_REF or record.ref in refs:
            problem = f"Event {record.event_seq} has no name of its own of at most {LONGEST_REF} characters."
            raise RangeFault(FailureClass.EVIDENCE, problem)
        refs.add(record.ref)
        last = record.event_seq


def coverage_hash(shown: Iterable[Evidence]) -> str:
    """Which texts a range holds, word for word."""
    return digest([[one.record.message_id, one.record.event_seq, one.coverage] for one in shown])


def request_hash(from_seq: int, through_seq: int, coverage: str) -> str:
    """What an operation was asked to do. Settings are no part of it."""
    span = {"fromSeq": from_seq, "throughSeq": through_seq}
    return digest({**span, "coverageHash": coverage, "projection": PROJECTION})


def helping(record: EvidenceRecord, longest: int = LONGEST_HELP) -> str:
    """The end of what somebody said, for the model to understand what follows."""
    text = redact(cleaned(_sound(record.text), record.role)[-READ:])[0]
    return text if len(text) <= longest else f"… {text[-longest:]}"


def plain(record: EvidenceRecord, longest: int = LONGEST_RECORD) -> EvidenceRecord:
    """A record as it may be shown: cleaned, redacted, and cut at a sentence when it is longer."""
    return _cut(record, cleaned(_sound(record.text), record.role), longest)


def _evidence(record: EvidenceRecord, text: str, before: str) -> Evidence:
    cut, longest = _cut(record, text, LONGEST_RECORD), LONGEST_RECORD
    while (weight := len(_encoder.encode(_row(cut, UTC)).decode())) > LONGEST_ENTRY:
        longest = longest * 2 // 3
        cut = _cut(record, text, longest)
    return Evidence(record=cut, coverage=text_digest(_sound(record.text)), before=before, weight=weight + 1)


def _cut(record: EvidenceRecord, text: str, longest: int) -> EvidenceRecord:
    whole = redact(text[:READ])[0]
    shown = whole
    if len(whole) > longest:
        ends = [found.end() for found in _SENTENCE.finditer(whole, longest // 2, longest)]
        space = whole.rfind(" ", longest // 2, longest)
        shown = whole[: ends[-1] if ends else space if space > 0 else longest].rstrip()
    cut = record.truncated or len(text) > READ or shown != whole
    return msgspec.structs.replace(record, text=shown, truncated=cut)


def _row(record: EvidenceRecord, zone: tzinfo) -> dict[str, object]:
    row: dict[str, object] = {"sourceRef": record.ref, "written": day(record.at, zone), "text": record.text}
    return {**row, "truncated": True} if record.truncated else row


def _sound(text: str) -> str:
    """The text without halves of characters: they can be neither hashed nor sent."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
