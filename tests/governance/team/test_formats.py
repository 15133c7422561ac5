"""The names that leave the process are made of what the composition root hands down."""

from governance.team.formats import Formats

FORMATS = Formats(prefix="tool-x", mark="x", folder=".tool-x")


def test_every_name_is_made_of_prefix_mark_and_folder() -> None:
    assert FORMATS.document("share") == "tool-x-share@v1"
    assert FORMATS.memory_root == ".tool-x/memory"
    assert FORMATS.policy == "sanitize-x@1"
    assert (FORMATS.begin, FORMATS.end) == ("<!-- tool-x:begin v1 -->", "<!-- tool-x:end -->")
    assert FORMATS.projected("release") == "release-x"
