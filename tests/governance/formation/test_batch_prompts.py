"""What batch extraction sends: fenced material, the types of the mode, and nothing that should not leave."""

from datetime import UTC

import pytest

from governance.formation.batch_answer import Proposed
from governance.formation.batch_prompts import DECIDE_TOOL, EXTRACT_TOOL, BatchPrompts
from governance.formation.batch_types import KEPT, WORTH
from governance.formation.batch_windows import Window, windows
from governance.formation.contracts import KnownRecord, MemoryType, Mode
from governance.formation.errors import ParameterFault
from governance.formation.prompts import PromptPolicy
from tests.support.batching import WS, a_text, ids_in

KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"


def prompts(mode: Mode = Mode.CODE, additions: PromptPolicy | None = None) -> BatchPrompts:
    return BatchPrompts(additions or PromptPolicy(), host="codex", workspace=WS, mode=mode, zone=UTC)


def a_window(*texts: str) -> Window:
    (found,) = windows([a_text(seq, text) for seq, text in enumerate(texts, 1)], (2, len(texts)), WS)
    return found


def test_a_window_is_shown_as_fenced_rows_with_what_came_before() -> None:
    request = prompts().extracting(a_window("Said before.", f"The token is {KEY}.", "We ship on Thursdays."), "release")
    told = request.messages[0].content
    assert ids_in(told) == ["m-1", "m-2", "m-3"]
    assert [line.count('"use":"background"') for line in told.splitlines() if '"id"' in line] == [1, 0, 0]
    assert KEY not in told and "[secret:" in told
    assert '{"scene_name":"release"}' in told
    assert told.count("<material mark=") == told.count("</material mark=") == 2
    assert (request.tool_choice, request.tools) == ("submit", (EXTRACT_TOOL,))


def test_a_scene_is_told_only_where_there_was_one() -> None:
    told = prompts().extracting(a_window("Said before.", "We ship on Thursdays."), "").messages[0].content
    assert "scene" not in told


@pytest.mark.parametrize(
    ("mode", "offered"),
    [
        (Mode.CHAT, {"persona", "episodic", "instruction"}),
        (Mode.CODE, {"work_fact", "work_task", "work_method", "work_artifact"}),
    ],
)
def test_a_mode_offers_its_types_with_their_metadata(mode: Mode, offered: set[str]) -> None:
    told = prompts(mode).extracting(a_window("Said before.", "We ship on Thursdays."), "").messages[0].content
    lines = [line for line in told.splitlines() if line.startswith("- ")]
    assert {line[2:].split(";")[0] for line in lines} == offered
    for line in lines:
        assert f"from {WORTH[MemoryType(line[2:].split(';')[0])]}" in line
        assert all(name in line for name in KEPT[MemoryType(line[2:].split(";")[0])])


def test_memories_are_shown_beside_their_candidates_without_secrets() -> None:
    memory = Proposed(content="The limit is 20.", type=MemoryType.WORK_FACT, priority=1, scene="s", sources=("m-1",))
    known = KnownRecord(memory_id="mem_1", text=f"The limit is 10, the token {KEY}.", guarded=False)
    request = prompts().deciding([(memory, [known]), (memory, [])])
    told = request.messages[0].content
    assert '"memory":0' in told and '"memory":1' in told and "mem_1" in told
    assert KEY not in told and "[secret:" in told
    assert request.tools == (DECIDE_TOOL,)


def test_a_users_wishes_are_appended_and_recorded_and_bounded() -> None:
    wishes = PromptPolicy(user={"batch-extract": "Prefer German."}, workspaces={WS: {"batch-decide": "Be strict."}})
    made = prompts(additions=wishes)
    assert "Prefer German." in made.extract.text and made.extract.use.source == "user"
    assert "Be strict." in made.decide.text and made.decide.use.source == "workspace"
    assert prompts().extract.sha256 != made.extract.sha256
    with pytest.raises(ParameterFault):
        prompts(additions=PromptPolicy(user={"batch-extract": "x" * 9_000}))


def test_the_tools_fit_a_strict_schema() -> None:
    def check(schema: object) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert sorted(schema["required"]) == sorted(schema["properties"])
            for value in schema.values():
                check(value)

    for tool in (EXTRACT_TOOL, DECIDE_TOOL):
        check(dict(tool.schema))
