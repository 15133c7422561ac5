"""How framework texts look: every pattern is needed by some text, and none holds what people say of such things."""

import pytest

from governance.formation.quality_words import BLOB, BLOCK, MEDIA, METADATA, NOISE, SENTINEL

SAID_BY_FRAMEWORKS = [
    "[heartbeat] check the inbox",
    "Heartbeat poll",
    "[cron:7f3a nightly] Summarise the day.",
    "Read HEARTBEAT.md if it exists.",
    "If nothing needs doing, reply with ALL_CLEAR.",
    "This is an automated reminder: the build is done.",
    "A new session was started. Greet the user.",
    "Run your session startup sequence now.",
    "This session is being continued from a previous conversation that ran out of context.",
    "[Request interrupted by user for tool use]",
    "启动流程：打开 START.md",
    "心跳检查",
]


def test_every_pattern_is_needed() -> None:
    first = [next(place for place, noise in enumerate(NOISE) if noise.match(text)) for text in SAID_BY_FRAMEWORKS]
    assert sorted(set(first)) == list(range(len(NOISE)))


@pytest.mark.parametrize("text", ["HEARTBEAT_OK", "*NO_REPLY*", "no reply", "TASK_ALL_DONE."])
def test_a_sentinel_stands_alone(text: str) -> None:
    assert SENTINEL.fullmatch(text)
    assert not SENTINEL.fullmatch(f"{text} is what it says")


@pytest.mark.parametrize(
    ("tag", "block"),
    [
        ("system-reminder", True),
        ("relevant-memories", True),
        ("user_memory_context", True),
        ("environment_context", True),
        ("ide_selection", True),
        ("my-button", False),
        ("div", False),
        ("memoryleak", False),
    ],
)
def test_blocks_are_known_by_what_they_are_about(tag: str, block: bool) -> None:
    assert (BLOCK.search(f"<{tag}>\nx\n</{tag}>") is not None) is block
    assert BLOCK.search(f"the <{tag}> element") is None


def test_each_pattern_of_media_and_metadata_matches_what_it_is_for() -> None:
    shown = ["data:image/png;base64,iVBORw0KGgo=", "![x](data:)", "[Image #1] "]
    assert [bool(one.search(text)) for one, text in zip(MEDIA, shown, strict=True)] == [True] * len(MEDIA)
    told = ["Sender (untrusted):\n```json\n{}\n```\n", "[message_id: 7]", "[2026-11-03 10:02 UTC] "]
    assert [bool(one.search(text)) for one, text in zip(METADATA, told, strict=True)] == [True] * len(METADATA)
    assert BLOB.search("Aa9+" * 40) and not BLOB.search("Aa9+" * 20)
