"""The answers to the verbs on memories are read leniently: new fields are ignored, optional ones may be absent."""

import msgspec
import pytest

from host.cli import memory_answers as answers


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"hits": [], "later": 1}', answers.Hits),
        (b'{"hits": [], "explain": {"terms": [{"term": "a", "records": 1}], "total": 3, "rows": 1}}', answers.Hits),
        (b'{"records": [], "next": null, "total": 3}', answers.Listed),
        (b'{"memoryId": "m"}', answers.Remembered),
        (b'{"memoryId": "m", "duplicateOf": null, "updates": [{"memoryId": "n", "text": "t"}]}', answers.Remembered),
        (b'{"memoryId": "m", "changed": true}', answers.Edited),
        (b'{"memoryId": "m", "muted": true, "changed": true}', answers.Muted),
        (b'{"files": 1, "records": 2, "findings": [{"rule": "r", "severity": "s", "problem": "p"}]}', answers.Linted),
        (b'{"imported": 1, "refused": [{"index": 0, "problem": "p", "kind": "k"}]}', answers.Imported),
    ],
)
def test_unknown_fields_are_ignored_and_absent_ones_have_defaults(raw: bytes, kind: type) -> None:
    assert isinstance(msgspec.json.decode(raw, type=kind), kind)


def test_an_answer_without_its_substance_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b"{}", type=answers.Pinned)
