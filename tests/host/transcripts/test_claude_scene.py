"""Who speaks where: sessions, agents, turns, steps and the reply that is being told."""

from host.transcripts.claude_scene import Scene
from host.transcripts.records import Report
from recall.contracts import SourceKind
from tests.host.transcripts.reading import payload


def a_scene(**record: object) -> tuple[Scene, dict[str, object]]:
    return Scene("stem"), {"sessionId": "s", "cwd": "/w", "timestamp": "1970-01-01T00:00:01Z", "uuid": "u"} | record


def test_a_session_named_by_no_record_has_the_files_name() -> None:
    scene, record = a_scene(sessionId=None)
    assert scene.place(record).session_id == "stem"


def test_a_session_opens_once_and_a_copy_opens_as_a_fork() -> None:
    scene, record = a_scene(forkedFrom={"sessionId": "old"})
    place = scene.place(record)

    (opening,) = scene.opening(place)

    assert payload(opening) == {"source": "fork"}
    assert (opening.event_id, opening.turn, opening.step) == ("start:s", 0, 0)
    assert scene.opening(place) == ()
    assert scene.known(Report(format="x")).parent == "old"


def test_texts_of_one_message_are_told_together_with_the_id_of_the_first() -> None:
    scene, record = a_scene()
    place = scene.place(record)
    assert scene.replying(place, "m1") == []
    scene.add(place, " one ", "msg:a")
    scene.add(place, "\n\n", "msg:b")
    scene.add(place, "two", "msg:c")
    assert scene.replying(place, "m1") == []

    (told,) = scene.replying(place, "m2")

    assert (payload(told)["text"], told.event_id, told.message_id, told.step) == ("one\ntwo", "msg:a", "m1", 1)
    assert scene.told("main") == []
    assert scene.now(place).step == 2


def test_each_agent_counts_its_own_turns_and_steps() -> None:
    scene, record = a_scene()
    main, sub = scene.place(record), scene.place(record | {"agentId": "x"})
    scene.prompted(main)
    scene.replying(sub, "m1")

    assert (scene.now(main).turn, scene.now(main).step) == (1, 0)
    assert (scene.now(sub).turn, scene.now(sub).step) == (0, 1)
    assert (scene.author(main), scene.author(sub)) == (SourceKind.USER, SourceKind.AGENT)
    assert set(scene.agents()) == {"main", "x"}
