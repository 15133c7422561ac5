"""Every name of the team workflow carries the mark of the preview."""

from host.team.formats import FORMATS


def test_every_name_carries_the_mark() -> None:
    assert FORMATS.document("share") == "remora-pre-share@v1"
    assert FORMATS.memory_root == ".remora-pre/memory"
    assert FORMATS.policy == "sanitize-pre@1"
    assert FORMATS.projected("release") == "release-pre"
