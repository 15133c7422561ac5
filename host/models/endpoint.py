"""Where a model is called, and with which key (pure): base URLs are https, or http on this machine."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

from governance.formation.errors import ModelError, ModelErrorKind

KEY = re.compile(r"[\x21-\x7e]{1,4096}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """Where to. `url`: with the route; `key_variable`: what names the key, empty: none is sent."""

    url: str
    key_variable: str = ""

    @property
    def host(self) -> str:
        """For people: host and port, never what stands before or after."""
        parts = urlsplit(self.url)
        return parts.netloc.rpartition("@")[2]

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        return on_loopback(urlsplit(self.url).hostname or "")


def on_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint(base_url: str, route: str, key_variable: str) -> Endpoint:
    """The endpoint of `route` below a base URL; a base that ends with the route is taken as it is.

    Raises ModelError (`configuration`): neither https nor http on loopback, or with a name and password in it.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise refused("The base URL is no URL.", "Write it as https://model.example/v1.") from None
    if not host or parts.scheme not in ("http", "https"):
        raise refused("The base URL is no URL of a web server.", "Write it as https://model.example/v1.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise refused(
            "The base URL holds more than an address.", "Put the key into a variable and name that in `api_key_env`."
        )
    if parts.scheme == "http" and not on_loopback(host):
        raise refused(
            f"The base URL of {host} is http, so the conversation and the key could be read on the way.",
            "Use https; http is for this machine alone.",
        )
    return Endpoint(url=_with_route(parts, route), key_variable=key_variable)


def _with_route(parts: SplitResult, route: str) -> str:
    path = parts.path.rstrip("/")
    if not path.endswith(route):
        path += route
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def key_of(endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """The key, as the environment has it now; empty: none is wanted. Raises ModelError (`configuration`)."""
    if not endpoint.key_variable:
        return ""
    key = environ.get(endpoint.key_variable, "").strip()
    if not key:
        raise refused(
            f"There is no key for {endpoint.host}: {endpoint.key_variable} is not set where the daemon was started.",
            "Set it, then start the daemon again.",
        )
    if KEY.fullmatch(key) is None:
        raise refused(f"What {endpoint.key_variable} holds is no key.", "It is one word of plain characters.")
    return key


def refused(problem: str, next_step: str) -> ModelError:
    """A ModelError of kind `configuration`: only a person can change it."""
    return ModelError(ModelErrorKind.CONFIGURATION, f"{problem} {next_step}")
