"""What of the runtime context a window shows, as packets are claimed, given back, delivered or only watched."""

from host.contracts import Context
from host.in_view import InView
from tests.support.builders import a_packet

ONE, TWO = Context(state="one"), Context(state="two")


def test_a_window_shows_nothing_at_first() -> None:
    assert InView().visible() is None


def test_what_is_in_hand_counts_until_it_is_given_back() -> None:
    view = InView(shown="one")
    view.taken(a_packet(packet_id="pkt_1", context=TWO))
    assert view.visible() == "two"
    view.given_back("pkt_1")
    assert view.visible() == "one"


def test_a_packet_that_says_nothing_of_it_changes_nothing() -> None:
    view = InView(shown="one")
    view.taken(a_packet(packet_id="pkt_1"))
    view.given(None)
    view.watched(None)
    assert view == InView(shown="one")


def test_what_was_delivered_is_shown() -> None:
    view = InView()
    view.taken(a_packet(packet_id="pkt_1", context=ONE))
    view.given_back("pkt_1")
    view.given(ONE)
    assert view == InView(shown="one")


def test_what_would_have_been_said_counts_only_where_remora_watches() -> None:
    view = InView(shown="one")
    view.watched(TWO)
    assert (view.visible(), view.visible(watched=True)) == ("one", "two")
    view.given(TWO)
    assert (view.would, view.visible(watched=True)) == (None, "two")
