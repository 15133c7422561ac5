"""One setting of the user's configuration changes; whatever else stands there stays."""

import tomllib

import pytest

from host.errors import ConfigFault
from host.setup.config_file import with_setting


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "[evaluation]\nholdout = 0.1\n"),
        ("", "[evaluation]\nholdout = 0.1\n"),
        (
            "# mine\n[daemon]\nhttp_port = 1  # keep\n",
            "# mine\n[daemon]\nhttp_port = 1  # keep\n\n[evaluation]\nholdout = 0.1\n",
        ),
        ("[evaluation]\n# a tenth\nholdout = 0.2  # or so\n", "[evaluation]\n# a tenth\nholdout = 0.1  # or so\n"),
        ("[evaluation]\n\n[recall]\nengine = false\n", None),
        ("evaluation = { holdout = 0.3 }\n", "evaluation = { holdout = 0.1 }\n"),
        ("evaluation.holdout = 0.3\n", "evaluation.holdout = 0.1\n"),
        ('[daemon]\nlog_level = "info"', None),
        ("[daemon]\r\nhttp = true\r\n", None),
    ],
)
def test_the_setting_changes_and_the_rest_stays(before: str | None, after: str | None) -> None:
    text = with_setting(before, "evaluation", "holdout", 0.1)

    if after is not None:
        assert text == after
    assert tomllib.loads(text) == tomllib.loads(before or "") | {"evaluation": {"holdout": 0.1}}
    assert all(line in text for line in (before or "").splitlines() if "holdout" not in line)
    assert with_setting(text, "evaluation", "holdout", 0.1) == text


@pytest.mark.parametrize("before", ["evaluation = 3\n", "[[evaluation]]\nholdout = 1\n", "x = [", "a = 1\na = 2\n"])
def test_a_text_that_cannot_take_it_is_refused(before: str) -> None:
    with pytest.raises(ConfigFault):
        with_setting(before, "evaluation", "holdout", 0.1)
