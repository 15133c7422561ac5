"""What an agent is told beside the material."""

import json

import msgspec
import pytest

from governance.team.contracts.staging import DraftBatch
from governance.team.guiding import RULES, Found, contract, draft_schema, guidance, note
from tests.support.team_recall import FORMATS

NONE = Found(turns=0, chunks=0, handed=0, held=0, done=0, too_large=0)


def found(**fields: int) -> Found:
    return msgspec.structs.replace(NONE, **fields)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (found(turns=3, chunks=1, handed=1), "stage"),
        (found(turns=3, chunks=1, held=1), "Another session"),
        (found(turns=3, done=3), "review"),
        (NONE, "Nothing matched"),
    ],
)
def test_the_next_step_follows_from_what_was_found(given: Found, word: str) -> None:
    made = guidance(FORMATS, given)
    assert word in made.next_action
    assert made.formats == ("remora-pre-candidate-draft-batch@v1", "remora-pre-skill-candidate@v1")
    assert made.rules == RULES and len(RULES) == 9


def test_a_note_counts_what_there_is() -> None:
    assert note(NONE) == "No turn of this worktree matches."
    assert note(found(turns=1, chunks=1, handed=1)) == "1 turn matches. 1 portion is unread; 1 given now."
    many = found(turns=9, chunks=4, handed=1, held=2, done=3, too_large=1)
    assert note(many) == (
        "9 turns match. 3 were read before and are not shown again. 4 portions are unread, 2 of them with another"
        " session; 1 given now. 1 turn is too large to be shown."
    )
    assert "1 was read before and is not" in note(found(turns=1, done=1))


def test_the_schema_is_that_of_the_type_with_its_bounds() -> None:
    schema = json.loads(draft_schema(FORMATS))
    batch, draft = schema["$defs"]["DraftBatch"], schema["$defs"]["Draft"]
    assert batch["properties"]["format"] == {"const": "remora-pre-candidate-draft-batch@v1"}
    assert batch["properties"]["candidates"]["maxItems"] == 8
    assert draft["properties"]["statements"]["maxItems"] == 16
    assert draft["properties"]["statements"]["minItems"] == 1
    assert batch["additionalProperties"] is False and draft["additionalProperties"] is False
    names = {field.encode_name for field in msgspec.structs.fields(DraftBatch)}
    assert set(batch["properties"]) == names
    assert set(schema["$defs"]) == {"DraftBatch", "Draft", "Statement"}
    referred = json.dumps(schema).count('"$ref"')
    assert referred == sum(json.dumps(schema).count(f'#/$defs/{name}"') for name in schema["$defs"])


def test_a_contract_has_the_schema_and_both_prompts() -> None:
    made = contract(FORMATS)
    assert made.draft_schema == draft_schema(FORMATS)
    assert len(made.prompts) == 2
