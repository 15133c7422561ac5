"""Model requests of any framework: what is asked before one, and what is said after it. Nothing here raises.

An adapter says how its framework's list reads (`read`) and puts the texts into the request. The rest is the same for
all of them: a conversation is found or begun, what is news is told, a text is claimed, and once the model has answered
it is delivered; when the request failed, it waits again.
"""

import importlib.metadata
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from host.inprocess.companion import Companion
from host.inprocess.said import Listing, Placed, Said, identifier
from host.inprocess.talk import Call, Owner, Talk
from recall.canonical import text_digest

MAIN_AGENT = "main"
TALKS_KEPT = 1_024  # conversations of one adapter; the one that was silent longest gives way

R = TypeVar("R")
Read = Callable[[], Listing]
Put = Callable[[Sequence[Placed], Placed | None], R]
Reply = Callable[[], Sequence[Said]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn(Generic[R]):
    """One model request under way. `request`: as the framework is to send it. `handed`: what it hands over."""

    talk: Talk
    request: R
    handed: Placed | None


class Turns:
    """The model requests of one adapter, in as many conversations as there are."""

    def __init__(self, companion: Companion, host: str, package: str) -> None:
        """`host`: the adapter's name in the daemon's table; `package`: the framework's distribution, for its
        version."""
        self.companion = companion
        self._host = host
        self._version = _version(package)
        self._talks: OrderedDict[str, Talk] = OrderedDict()

    def session(self, own: str = "") -> str:
        """The id of a conversation: the framework's own within this workspace, else one that no other has."""
        if own:
            return f"{self._host}:{text_digest(self.companion.workspace)[:12]}:{own}"
        return f"{self._host}:{self.companion.mark()}"

    # ------------------------------------------------------------------ before

    async def open(self, read: Read, put: Put[R]) -> Turn[R] | None:
        """Tell what is news, claim, and have the texts put into the request: those that stand in the conversation, and
        the new one. None: the framework's own request goes out as it is."""
        try:
            listing = read()
            talk = self._talk(listing)
            answer = await self.companion.exchange(talk.ask(listing, self.companion.now()))
            return self._opened(talk, talk.heard(answer, listing), put)
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            self._odd(error)
            return None

    def open_sync(self, read: Read, put: Put[R]) -> Turn[R] | None:
        """The same without a loop."""
        try:
            listing = read()
            talk = self._talk(listing)
            answer = self.companion.exchange_sync(talk.ask(listing, self.companion.now()))
            return self._opened(talk, talk.heard(answer, listing), put)
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            self._odd(error)
            return None

    def _opened(self, talk: Talk, handed: Placed | None, put: Put[R]) -> Turn[R]:
        try:
            return Turn(talk=talk, request=put(talk.placed, handed), handed=handed)
        except BaseException:
            self.companion.give_back(talk.failed(handed))
            raise

    def _talk(self, listing: Listing) -> Talk:
        session = identifier(listing.session)
        talk = self._talks.get(session)
        if talk is None:
            talk = self._talks[session] = Talk(self._owner(session), self.companion.wait_ms)
        self._talks.move_to_end(session)
        while len(self._talks) > TALKS_KEPT:
            self._talks.popitem(last=False)
        return talk

    def _owner(self, session: str) -> Owner:
        return Owner(
            host=self._host,
            version=self._version,
            session=session,
            agent=MAIN_AGENT,
            workspace=self.companion.workspace,
            mark=self.companion.mark(),
        )

    # ------------------------------------------------------------------ after

    async def answered(self, turn: Turn[R] | None, reply: Reply) -> None:
        """The model has answered, with that."""
        if turn is not None:
            await self.companion.exchange(self._told(turn, reply))

    def answered_sync(self, turn: Turn[R] | None, reply: Reply) -> None:
        """The same without a loop."""
        if turn is not None:
            self.companion.exchange_sync(self._told(turn, reply))

    def _told(self, turn: Turn[R], reply: Reply) -> Sequence[Call]:
        """What there is to tell; of a reply that is not understood, that it came."""
        now = self.companion.now()
        try:
            return turn.talk.answered(turn.handed, reply(), now)
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            self._odd(error)
            return turn.talk.answered(turn.handed, (), now)

    def failed(self, turn: Turn[R] | None) -> None:
        """The request came to nothing, or was given up."""
        if turn is not None:
            self.companion.give_back(turn.talk.failed(turn.handed))

    def _odd(self, error: Exception) -> None:
        """The framework shows something that is not understood: an adapter older than it, most likely."""
        self.companion.problem = f"The adapter {self._host} failed: {type(error).__name__}: {error}"


def _version(package: str) -> str:
    """The version of a distribution; empty when it says none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
