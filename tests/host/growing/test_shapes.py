"""What may be asked of formation, and what is refused before anything is looked at."""

import msgspec
import pytest

from governance.formation.contracts import Layer
from host.growing.shapes import ExtractParams, RetryParams, RunParams, StageParams


def test_nothing_said_means_what_waits_as_configured() -> None:
    assert msgspec.json.decode(b"{}", type=RunParams) == RunParams(
        workspace="", session_id="", driver="", emit_task=False, agent=""
    )
    assert msgspec.json.decode(b"{}", type=ExtractParams).layer is Layer.L1


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (RunParams, {"sessionId": "s" * 257}),
        (RunParams, {"driver": "d" * 4097}),
        (ExtractParams, {"layer": "l4"}),
        (ExtractParams, {"since": "2d"}),
        (RetryParams, {}),
        (StageParams, {"batch": []}),
        (StageParams, {}),
    ],
)
def test_what_does_not_fit_is_refused(kind: type[msgspec.Struct], given: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(given), type=kind)
