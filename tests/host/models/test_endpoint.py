"""Where a model is called: https, or http on this machine, and keys that are words."""

import pytest

from governance.formation.errors import ModelError, ModelErrorKind
from host.models.endpoint import Endpoint, endpoint, key_of, on_loopback, refused

ROUTE = "/chat/completions"
HTTP, HTTPS = "http:" + "//", "https:" + "//"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://model.example/v1", "https://model.example/v1/chat/completions"),
        (" https://model.example/v1/ ", "https://model.example/v1/chat/completions"),
        ("https://model.example", "https://model.example/chat/completions"),
        ("https://model.example:8443/api/v1", "https://model.example:8443/api/v1/chat/completions"),
        ("https://model.example/v1/chat/completions", "https://model.example/v1/chat/completions"),
        ("https://model.example/v1?version=2", "https://model.example/v1/chat/completions?version=2"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
        (f"{HTTP}127.9.9.9/v1", f"{HTTP}127.9.9.9/v1/chat/completions"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
        (f"{HTTP}LOCALHOST./v1", f"{HTTP}LOCALHOST./v1/chat/completions"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_a_route_is_put_below_the_base(base: str, url: str) -> None:
    assert endpoint(base, ROUTE, "").url == url


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("", "no URL"),
        ("model.example/v1", "no URL"),
        ("ftp://model.example/v1", "no URL"),
        ("file:///etc/passwd", "no URL"),
        ("https:///v1", "no URL"),
        ("https://[::1/v1", "no URL"),
        ("https://model.example:99999/v1", "no URL"),
        ("http://model.example/v1", "Use https"),
        ("http://127.evil.example/v1", "Use https"),
        ("http://localhost.evil.example/v1", "Use https"),
        (f"{HTTP}10.0.0.1/v1", "Use https"),
        (f"{HTTPS}user:word@model.example/v1", "more than an address"),
        ("https://model.example/v1#part", "more than an address"),
    ],
)
def test_another_base_is_refused_without_what_it_holds(base: str, said: str) -> None:
    with pytest.raises(ModelError, match=said) as caught:
        endpoint(base, ROUTE, "")

    assert caught.value.kind is ModelErrorKind.CONFIGURATION
    assert "word" not in str(caught.value)


def test_who_is_called_is_named_by_host_and_port() -> None:
    assert Endpoint(url="https://model.example:8443/v1/x?token=1").host == "model.example:8443"
    assert Endpoint(url="http://[::1]:80/v1").is_local and not Endpoint(url="https://model.example/v1").is_local
    assert not on_loopback("") and not on_loopback("0.0.0.0")


def test_the_key_is_looked_up_at_each_call() -> None:
    environ = dict[str, str]()
    where = Endpoint(url="https://model.example/v1", key_variable="MODEL_KEY")
    with pytest.raises(ModelError, match="MODEL_KEY is not set") as caught:
        key_of(where, environ)
    assert caught.value.kind is ModelErrorKind.CONFIGURATION

    environ["MODEL_KEY"] = " sk-1\n"
    assert key_of(where, environ) == "sk-1"
    assert key_of(Endpoint(url="https://model.example/v1"), environ) == ""


@pytest.mark.parametrize("held", ["sk 1", "sk-1\r\nx-other: 1", "clé", "x" * 5_000])
def test_what_is_no_key_is_refused_and_not_repeated(held: str) -> None:
    with pytest.raises(ModelError, match="MODEL_KEY holds is no key") as caught:
        key_of(Endpoint(url="https://model.example/v1", key_variable="MODEL_KEY"), {"MODEL_KEY": held})

    assert held not in str(caught.value)


def test_a_refusal_says_what_and_what_to_do() -> None:
    assert str(refused("It is so.", "Do this.")) == "It is so. Do this."
