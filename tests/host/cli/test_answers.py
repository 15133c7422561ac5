"""The daemon's answers are read leniently: new fields are ignored, optional ones may be absent."""

import msgspec
import pytest

from host.cli.answers import Health, Opened, Progress, Verified


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"ok": true, "entries": 3, "row": null}', Verified),
        (b'{"ready": true, "parts": {"index": "ok", "queue": 3}}', Health),
        (b'{"ready": true, "memory": {"files": 1, "problems": [{"file": "f", "memoryId": null}]}}', Health),
        (b'{"ready": true, "index": {"stage": "indexing", "done": 1, "total": 2, "problem": null}}', Health),
        (b'{"stage": "idle", "done": 0, "total": 0, "engine": {"state": "ready", "pid": 7}}', Progress),
    ],
)
def test_unknown_fields_are_ignored_and_absent_ones_have_defaults(raw: bytes, kind: type) -> None:
    assert isinstance(msgspec.json.decode(raw, type=kind), kind)


def test_an_answer_without_its_substance_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b"{}", type=Opened)
