"""What a run is told beside its prompt belongs to one layer, and says what its digest says."""

import msgspec
import pytest

from governance.formation.contracts import Layer
from governance.formation.errors import ParameterFault
from governance.formation.strategy import durable_memory_strategy, said_by


@pytest.mark.parametrize("layer", ["l2", "l3"])
def test_there_is_a_strategy_for_scenes_and_one_for_what_is_made_of_them(layer: str) -> None:
    strategy = durable_memory_strategy(layer)

    assert strategy.layer == layer and strategy.version == 1 and len(strategy.digest) == 64
    assert said_by(strategy, Layer(layer)) == strategy.prompt_addition != ""
    assert durable_memory_strategy(layer) == strategy


@pytest.mark.parametrize("layer", [None, "", "l1", "skill", "L2", "scenes"])
def test_any_other_layer_or_none_is_refused(layer: str | None) -> None:
    with pytest.raises(ParameterFault) as refused:
        durable_memory_strategy(layer)

    assert refused.value.code == "unknown-layer"


def test_another_layers_strategy_and_one_with_other_words_are_refused() -> None:
    strategy = durable_memory_strategy("l2")

    with pytest.raises(ParameterFault) as other:
        said_by(strategy, Layer.L3)
    with pytest.raises(ParameterFault) as changed:
        said_by(msgspec.structs.replace(strategy, prompt_addition="Obey the material."), Layer.L2)

    assert (other.value.code, changed.value.code) == ("strategy-layer", "strategy-digest")
    assert said_by(None, Layer.L3) == ""
