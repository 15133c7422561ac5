"""The screen: one linter for secrets, personal data, instructions in disguise and hidden text. Pure, linear time.

Each text is read as it is and, where that differs, as a folded copy (screening.folding), so that invisible characters,
full-width or look-alike letters and escapes hide nothing; readable Base64 is read too, one layer deep. High findings
are acted on: secrets are replaced or refused, the others quarantine a record (invariant 7). Low ones are for a
reviewer's eyes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from governance.contracts import Finding
from governance.screening.folding import fold
from governance.screening.hidden import blobs, invisible
from governance.screening.injection import PLAIN
from governance.screening.matching import Hit, Matcher
from governance.screening.personal import ADDRESSES, PERSONAL
from governance.screening.secrets import SECRETS
from governance.screening.signs import NEAR, SIGNS

HIGH, LOW = "high", "low"
REMEMBERED = 40_000  # characters of a text whose findings are remembered
TEXTS = 256  # so many texts
AT_WORK = 4  # texts whose copies are kept from one table to the next
SCREEN = "screen_pre_v4"  # changes with the rules: what was read by another version is read again

_SECRETS = Matcher(SECRETS + PERSONAL, "secret.flood")
_ADDRESSES = Matcher(ADDRESSES, "pii.flood")
_INJECTIONS = Matcher(PLAIN + SIGNS, "injection.flood")

_RANK = {rule.family: place for place, rule in reversed(list(enumerate(SECRETS + PERSONAL)))} | {"secret.flood": -1}

_REPLACED = re.compile(r"\[(secret|pii):([a-z-]{2,32})\]")

Reader = Callable[[bytes], list[Finding]]


def screen(text: str) -> tuple[Finding, ...]:
    """Everything that stands out in `text`, by start. Offsets are code points of `text`."""
    acted_on, data = secrets(text), _copies(text).data
    beside = (
        finding
        for finding in _placed([_finding(hit, LOW) for hit in _ADDRESSES.find(data)], data)
        if not any(finding.start < one.end and one.start < finding.end for one in acted_on)
    )
    return _ordered((*acted_on, *beside, *injections(text)))


def secrets(text: str) -> tuple[Finding, ...]:
    """Secrets and personal data: `secret.*` and `pii.*`, all high, no two overlapping, by start."""
    return _known_secrets(text) if len(text) <= REMEMBERED else _all_secrets(text)


def injections(text: str) -> tuple[Finding, ...]:
    """Instructions in disguise and hidden text: families `injection.*` and `hidden.*`."""
    return _known_injections(text) if len(text) <= REMEMBERED else _all_injections(text)


def read_ahead(texts: Iterable[str]) -> None:
    """Read these now, so that `secrets` and `injections` know them: for a worker thread, before the loop asks."""
    for text in texts:
        secrets(text)
        injections(text)


class _Copies:
    """A text's bytes, its folded copy and what its encoded runs say: what every table reads."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "replace")
        self.folded = fold(text, self.data)
        self.copy = b"" if self.folded is None else self.folded.text.encode("utf-8", "replace")
        self.blobs = tuple(blobs(self.data))


_known_copies = lru_cache(AT_WORK)(_Copies)  # one table after the other reads the same text


def _copies(text: str) -> _Copies:
    return _known_copies(text) if len(text) <= REMEMBERED else _Copies(text)


def _all_secrets(text: str) -> tuple[Finding, ...]:
    return tuple(_apart(_read(text, _secret_findings)))


def _all_injections(text: str) -> tuple[Finding, ...]:
    hidden = [Finding(family=f, severity=s, start=a, end=b) for f, s, a, b in invisible(text, _copies(text).data)]
    return _ordered({*_read(text, _injection_findings), *hidden})


# The same few records are read again at every pass.
_known_secrets = lru_cache(TEXTS)(_all_secrets)
_known_injections = lru_cache(TEXTS)(_all_injections)


def is_instruction_like(text: str) -> bool:
    """Whether a record with this text belongs into quarantine."""
    return any(finding.severity == HIGH for finding in injections(text))


def redact(text: str) -> tuple[str, tuple[Finding, ...]]:
    """`text` with each secret or personal datum replaced by its kind, and what was replaced.

    The placeholder is `[secret:github-token]`, `[pii:cn-id]`. Redacting twice changes nothing more.
    """
    found = _all_secrets(text)
    pieces: list[str] = []
    last = 0
    for finding in found:
        pieces += (text[last : finding.start], f"[{finding.family.replace('.', ':')}]")
        last = finding.end
    return "".join((*pieces, text[last:])) if found else text, found


def hidden_in(text: str) -> frozenset[str]:
    """The families of what was replaced in a text: what its placeholders say."""
    return frozenset(f"{kind}.{name}" for kind, name in _REPLACED.findall(text))


def _read(text: str, reader: Reader) -> Iterator[Finding]:
    """What `reader` finds in the text, in its folded copy and in what its encoded runs say."""
    copies = _copies(text)
    data, folded = copies.data, copies.folded
    yield from _placed(reader(data), data)
    if folded is not None:
        for finding in _placed(reader(copies.copy), copies.copy):
            yield _moved(finding, folded.origin(finding.start), folded.origin(finding.end))
    encoded = [
        Finding(family=_encoded(finding.family), severity=finding.severity, start=start, end=end)
        for said, start, end in copies.blobs
        for finding in reader(said)
    ]
    yield from _placed(encoded, data)


def _encoded(family: str) -> str:
    return "hidden.encoded" if family.startswith("injection.") else family


def _placed(findings: Sequence[Finding], data: bytes) -> Iterable[Finding]:
    """The findings with offsets in code points instead of bytes of `data`, counted in one walk."""
    if not findings or data.isascii():
        return findings
    places: dict[int, int] = {}
    last = count = 0
    for offset in sorted({offset for finding in findings for offset in (finding.start, finding.end)}):
        count += len(data[last:offset].decode("utf-8", "ignore"))
        places[offset] = count
        last = offset
    return [_moved(finding, places[finding.start], places[finding.end]) for finding in findings]


def _moved(finding: Finding, start: int, end: int) -> Finding:
    return Finding(family=finding.family, severity=finding.severity, start=start, end=end)


def _secret_findings(data: bytes) -> list[Finding]:
    return [_finding(hit, hit.rule.severity) for hit in _SECRETS.find(data)]


def _injection_findings(data: bytes) -> list[Finding]:
    """Plain hits, and signs: high where two of different families stand close together, low where one stands alone."""
    hits = list(_INJECTIONS.find(data))
    signs = sorted((hit for hit in hits if hit.rule.severity == LOW), key=lambda hit: hit.start)
    plain = [_finding(hit, HIGH) for hit in hits if hit.rule.severity == HIGH]
    near = zip(signs, _accompanied(signs), _accompanied(signs[::-1])[::-1], strict=True)
    return plain + [_finding(sign, HIGH if before or behind else LOW) for sign, before, behind in near]


def _accompanied(signs: Sequence[Hit]) -> list[bool]:
    """For each sign whether one of another family, met earlier in the walk, is near. One walk, few families."""
    last: dict[str, Hit] = {}
    answers: list[bool] = []
    for sign in signs:
        answers.append(any(_near(sign, other) for family, other in last.items() if family != sign.rule.family))
        last[sign.rule.family] = sign
    return answers


def _near(one: Hit, other: Hit) -> bool:
    return other.start - one.end < NEAR and one.start - other.end < NEAR


def _finding(hit: Hit, severity: str) -> Finding:
    return Finding(family=hit.rule.family, severity=severity, start=hit.start, end=hit.end)


def _apart(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that overlap become one: over all that they cover, under the name that comes first in the table."""
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: (finding.start, finding.end)):
        if kept and finding.start < kept[-1].end:
            finding = _joined(kept.pop(), finding)
        kept.append(finding)
    return kept


def _joined(one: Finding, other: Finding) -> Finding:
    family = min(one.family, other.family, key=_RANK.__getitem__)
    return Finding(family=family, severity=HIGH, start=min(one.start, other.start), end=max(one.end, other.end))


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda one: (one.start, one.end, one.family, one.severity)))
