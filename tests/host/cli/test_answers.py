"""The daemon's answers are read leniently: new fields are ignored, optional ones may be absent."""

import msgspec
import pytest

from host.cli.answers import Health, Hits, Listed, Opened, Remembered, Verified


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"hits": [], "later": 1}', Hits),
        (b'{"records": [], "next": null, "total": 3}', Listed),
        (b'{"memoryId": "m"}', Remembered),
        (b'{"ok": true, "entries": 3, "row": null}', Verified),
        (b'{"ready": true, "parts": {"index": "ok", "queue": 3}}', Health),
        (b'{"ready": true, "memory": {"files": 1, "problems": [{"file": "f", "memoryId": null}]}}', Health),
    ],
)
def test_unknown_fields_are_ignored_and_absent_ones_have_defaults(raw: bytes, kind: type) -> None:
    assert isinstance(msgspec.json.decode(raw, type=kind), kind)


def test_an_answer_without_its_substance_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b"{}", type=Opened)
