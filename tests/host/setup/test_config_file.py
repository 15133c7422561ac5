"""One setting of the user's configuration changes; whatever else stands there stays."""

import tomllib

import pytest

from host.errors import ConfigFault
from host.setup.config_file import with_setting, with_settings


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


def test_settings_of_each_kind_are_written_and_taken_back() -> None:
    before = "# mine\n[formation]\nbase_url = 'https://x.example'\nmodel = 'old'  # mine too\n"
    values = {"driver": "command", "command": ("claude", "-p"), "batch": True, "base_url": None, "model": "new"}

    text = with_settings(before, "formation", values)

    assert tomllib.loads(text)["formation"] == {
        "model": "new",
        "driver": "command",
        "command": ["claude", "-p"],
        "batch": True,
    }
    assert "# mine\n" in text and "# mine too" in text
    assert with_settings(text, "formation", values) == text


@pytest.mark.parametrize("before", [None, "", "[daemon]\nhttp = true\n"])
def test_what_is_not_there_is_not_taken_back(before: str | None) -> None:
    assert with_settings(before, "formation", {"driver": None}) == (before or "")


@pytest.mark.parametrize("before", ["evaluation = 3\n", "[[evaluation]]\nholdout = 1\n", "x = [", "a = 1\na = 2\n"])
def test_a_text_that_cannot_take_it_is_refused(before: str) -> None:
    with pytest.raises(ConfigFault):
        with_setting(before, "evaluation", "holdout", 0.1)
