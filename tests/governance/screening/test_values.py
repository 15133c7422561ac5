"""Secrets, words, names, references, digests."""

import pytest

from governance.screening.values import entropy, is_jumbled, looks_random, looks_secret, trimmed


@pytest.mark.parametrize(
    "value",
    [
        *("zq!42xYw", "tr0ub4dor&3", "LLihQWEZucTEo", "c6856fe72ab34cd4ef87a3d943527538", "purple-otter-horse-17"),
        *("p%40ss,word!", "0123456789abcdef0123", "AbCdEfGh12", "sunny_Day#1"),
    ],
)
def test_a_literal_that_no_word_looks_like_is_a_secret(value: str) -> None:
    assert looks_secret(value)


@pytest.mark.parametrize(
    "value",
    [
        *("changeme", "<your-api-key>", "YOUR_API_KEY_HERE", "************", "xxxx-xxxx", "EXAMPLE-ABC-123", "..."),
        *("${DB_PASSWORD}", "$TOKEN", "{{secret}}", "settings.SECRET_KEY", "/run/secrets/db_password", "%(password)s"),
        *("process.env.API_KEY", "https://vault.example/x", "op://vault/item", "secrets.DEPLOY_KEY"),
        *("access_token", "user-profile-cache", "userProfileCache", "sha256-hashed", "32-byte", "argon2id", "OAuth2"),
        *("rotated.", "required", "12", "123456789", "v2.1-only", "base64-encoded", "short"),
        *("123e4567-e89b-42d3-a456-426614174000", "sha256:3b1f0c5a7d2e4968", "mem_" + "0a" * 16, "ws_" + "0a" * 16),
    ],
)
def test_a_word_a_reference_a_placeholder_or_an_identity_is_none(value: str) -> None:
    assert not looks_secret(value)


def test_letters_are_jumbled_when_their_case_changes_as_in_no_name() -> None:
    assert is_jumbled("LLihQWEZucTEo")
    assert is_jumbled("aBcDeFgHiJ")
    assert not is_jumbled("AVeryLongComponentName")
    assert not is_jumbled("XMLHttpRequest")
    assert not is_jumbled("UPPERCASE")
    assert not is_jumbled("AbCd")
    assert not is_jumbled("9876543A21")


def test_random_needs_three_kinds_of_characters_entropy_and_no_long_word() -> None:
    assert looks_random("q8Zr2Lw9Xc4Vb7Nm1Kj6Hg3Fd5Sa0Pq8Tz")
    assert not looks_random("q8zr2lw9xc4vb7nm1kj6hg3fd5sa0pq8tz")
    assert not looks_random("aA1" * 12)
    assert not looks_random("Q8Zr2internationalization9Xc4Vb7Nm1K")
    assert not looks_random("mem_" + "0a" * 16)


def test_entropy_is_in_bits_a_character() -> None:
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2


def test_a_value_loses_the_punctuation_around_it() -> None:
    assert trimmed('"abc123".') == "abc123"
