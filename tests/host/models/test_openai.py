"""The OpenAI driver: which interface, which dialect, whose key."""

from typing import Any

import pytest

from governance.formation.errors import ModelError
from host.config import FormationSettings
from host.models.openai import make

CHAT, RESPONSES = "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/responses"
LOCAL, GATE = "http://localhost:11434/v1", "https://gate.example/v1"


@pytest.mark.parametrize(
    ("given", "url", "variable", "own"),
    [
        ({}, CHAT, "OPENAI_API_KEY", True),
        ({"api": "responses"}, RESPONSES, "OPENAI_API_KEY", True),
        ({"api_key_env": "MINE"}, CHAT, "MINE", True),
        ({"base_url": LOCAL}, f"{LOCAL}/chat/completions", "", False),
        ({"base_url": GATE, "api": "responses", "api_key_env": "GATE"}, f"{GATE}/responses", "GATE", False),
    ],
)
def test_where_it_is_called_and_with_whose_key(given: dict[str, Any], url: str, variable: str, own: bool) -> None:
    """The vendor's key is never sent to another endpoint by itself."""
    driver = make(FormationSettings(driver="openai", model="m", **given), {})

    assert (driver.endpoint.url, driver.endpoint.key_variable, driver.own) == (url, variable, own)
    assert driver.id == "openai:m"


def test_a_model_must_be_named() -> None:
    with pytest.raises(ModelError, match=r"formation\.model"):
        make(FormationSettings(driver="openai"), {})
