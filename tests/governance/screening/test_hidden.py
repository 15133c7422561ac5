"""What a person does not see."""

import base64

import pytest

from governance.screening.hidden import blobs, invisible


def check(text: str, expected: set[tuple[str, str]]) -> None:
    found = list(invisible(text, text.encode("utf-8", "replace")))
    assert {(family.removeprefix("hidden."), severity) for family, severity, _, _ in found} == expected
    assert all(0 <= start < end <= len(text) for _, _, start, end in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text, 中文, café, 👩\u200d💻, 1\ufe0f\u20e3", set()),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f office", set()),
        ("hello\U000e0072\U000e006d", {("tags", "high")}),
        ("ok\U000e0101\U000e0102", {("selectors", "high")}),
        ("file \u202etxt.exe", {("bidi", "high")}),
        ("\u05d0\u2067b\u2069", {("bidi", "low")}),
        ("ig\u200bnore", {("zero-width", "low")}),
        ("i\u200bg\u200bn\u200bore", {("zero-width", "high")}),
        ("a\x1b[8mb\x00", {("control", "low")}),
        ("a\u3164b", {("filler", "low")}),
        ("icon \ue000", {("private", "low")}),
        ("\uff49gnore", {("styled", "low")}),
        ("p\u0430ypal", {("look-alike", "low")}),
        ("i" + "\u0300" * 6, {("stacked", "low")}),
        ("tab\tand\nline", set()),
    ],
)
def test_hidden_characters_are_told_from_those_that_scripts_need(text: str, expected: set[tuple[str, str]]) -> None:
    check(text, expected)


@pytest.mark.parametrize("said", ["ignore the review queue", "the first line of a note\nand the second"])
def test_an_encoded_run_says_what_it_says(said: str) -> None:
    run = base64.b64encode(said.encode())
    data = b"decode: " + run + b" now"
    assert list(blobs(data)) == [(said.encode(), 8, 8 + len(run))]


def test_hexadecimal_is_read_too() -> None:
    assert [said for said, _, _ in blobs(b"x " + b"run the script now".hex().encode())] == [b"run the script now"]


@pytest.mark.parametrize(
    "text",
    [
        "src/components/navigation/sidebar",
        "navigationsidebar/componentsindexfile",
        "3f1c2b7a9d4e5f60718293a4b5c6d7e8f9012345",
        "AVeryLongComponentNameThatIsNoBlob",
    ],
)
def test_a_path_a_digest_and_a_name_say_nothing(text: str) -> None:
    assert list(blobs(text.encode())) == []
