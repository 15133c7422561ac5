"""Who reads conversations, whether that one can be asked, and what is stuck."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from host.doctor import formation
from host.doctor.findings import Finding
from host.doctor.scene import Said, Scene
from tests.support.patients import Patient


@contextmanager
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def configured(patient: Patient, **settings: object) -> None:
    lines = [f"{name} = {msgspec.json.encode(value).decode()}" for name, value in settings.items()]
    patient.configure("[formation]\n" + "\n".join(lines) + "\n")


def test_with_the_agent_itself_there_is_nothing_to_look_at(patient: Patient) -> None:
    assert patient.states(formation.driver, formation.forming) == []
    configured(patient, enabled=False, driver="openai")
    assert patient.states(formation.driver) == []


def test_a_model_on_this_machine_that_answers_is_well(patient: Patient) -> None:
    with listening() as url:
        configured(patient, driver="openai", model="m", base_url=url)
        assert patient.states(formation.driver) == []


def test_one_that_does_not_answer_is_told_without_a_word_being_sent(patient: Patient) -> None:
    with listening() as url:
        pass
    configured(patient, driver="openai", model="m", base_url=url)

    one = patient.the(formation.driver, HTTPS_PROXY="http://127.0.0.1:1")

    assert one.state == "model-unreachable" and url.split("/")[2] in one.what


def test_on_the_way_out_it_is_the_proxy_that_must_answer(patient: Patient) -> None:
    configured(patient, driver="openai", model="m", base_url="https://model.invalid/v1")
    with listening() as url:
        proxy = url.removesuffix("/v1")
        assert patient.states(formation.driver, HTTPS_PROXY=proxy) == ["text-sent-away"]
        assert patient.states(formation.driver, https_proxy=proxy.removeprefix("http://")) == ["text-sent-away"]
    assert patient.states(formation.driver, HTTPS_PROXY=proxy) == ["model-unreachable", "text-sent-away"]
    assert "model-unreachable" in patient.states(formation.driver, HTTPS_PROXY="http://[::1")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"driver": "openai"}, "formation.model"),
        ({"driver": "openai", "model": "m", "base_url": "http://gate.example/v1"}, "Use https"),
        ({"driver": "command"}, "formation.command"),
        ({"driver": "scripted", "script": "/no/such.json"}, "cannot be read"),
        ({"driver": "command", "command": ["no-such-asker"]}, "no-such-asker"),
    ],
)
def test_settings_that_give_no_driver_are_told(patient: Patient, settings: dict[str, object], said: str) -> None:
    configured(patient, **settings)

    found = [one for one in patient.found(formation.driver) if one.state == "driver-unusable"]

    assert len(found) == 1 and said in found[0].what and found[0].todo


def test_a_missing_key_is_told_and_a_key_is_not(patient: Patient) -> None:
    with listening() as url:
        configured(patient, driver="anthropic", model="m", base_url=url, api_key_env="MY_KEY")
        one = patient.the(formation.driver)
        assert one.state == "driver-unusable" and "MY_KEY is not set" in one.what and "REMORA_PRE_" in one.todo
        assert patient.states(formation.driver, MY_KEY="sk-1") == []


def test_who_gets_the_words_is_said(patient: Patient) -> None:
    patient.program("asker", "cat")
    configured(patient, driver="command", command=["asker", "-p"])

    one = patient.the(formation.driver)

    assert one.state == "text-sent-away" and "asker -p" in one.what and "init --driver agent" in one.todo


# --------------------------------------------------------------------------------------- what the daemon says of itself


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered(Scene):
    """A scene in which the daemon answers this to `formation.status`."""

    forming: formation.Forming

    def ask(self, method: str, params: Any, answer: Any) -> Any:
        assert method == "formation.status"
        return self.forming


def found(patient: Patient, check: Any, **told: Any) -> list[Finding]:
    scene = patient.scene()
    fields = {name: getattr(scene, name) for name in Scene.__dataclass_fields__}
    answered = Answered(**{**fields, "said": Said(ready=True)}, forming=formation.Forming(**told))
    return list(check(answered))


@pytest.mark.parametrize(
    ("told", "state", "said"),
    [
        ({"state": "state-failed", "problem": "governance.db is missing."}, "formation-failed", "is missing"),
        ({"state": "state-corrupt"}, "formation-failed", "state-corrupt"),
        ({"poison": 1}, "formation-poison", "1 run was"),
        ({"poison": 2}, "formation-poison", "2 runs were"),
        ({"given_up": 1}, "ranges-given-up", "1 part of a conversation was"),
        ({"given_up": 2}, "ranges-given-up", "2 parts of conversations were"),
        ({"outbox_problem": "No space left on device"}, "outbox-stuck", "No space left"),
        ({"waiting": 1}, "checkpoints-waiting", "1 part"),
        ({"waiting": 2}, "checkpoints-waiting", "2 parts"),
    ],
)
def test_what_is_stuck_is_told(patient: Patient, told: dict[str, Any], state: str, said: str) -> None:
    (one,) = found(patient, formation.forming, **told)

    assert one.state == state and said in one.what and one.why and one.todo


@pytest.mark.parametrize("told", [{}, {"state": "off"}, {"waiting": 2, "driver": "openai:m"}])
def test_what_goes_on_by_itself_is_not_told(patient: Patient, told: dict[str, Any]) -> None:
    assert found(patient, formation.forming, **told) == []


def test_the_daemons_own_environment_counts_and_not_ours(patient: Patient) -> None:
    with listening() as url:
        configured(patient, driver="openai", model="m", base_url=url, api_key_env="MY_KEY")
        assert found(patient, formation.driver) == []
        (one,) = found(patient, formation.driver, driver_problem="MY_KEY is not set in the environment of the daemon.")
    assert one.state == "driver-unusable"


def test_a_running_daemon_answers(running: Patient) -> None:
    assert running.states(formation.driver, formation.forming) == []


@pytest.mark.reliability
def test_a_daemon_without_the_key_says_so_though_the_shell_has_it(patient: Patient) -> None:
    """As when a hook started it: what counts is what the daemon has."""
    with listening() as url:
        configured(patient, driver="openai", model="m", base_url=url, api_key_env="MY_KEY")
        with patient.daemon:
            one = patient.the(formation.driver, MY_KEY="sk-1")

    assert one.state == "driver-unusable" and "MY_KEY is not set" in one.what and "sk-1" not in repr(one)
