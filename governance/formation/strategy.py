"""What a run of scenes, persona or doctrine is told beside its prompt, where a caller wants it (formation.md 3). Pure.

A strategy belongs to one layer: handed to another one it is refused, and so is one whose words are not those that its
digest was made of.
"""

from governance.formation.contracts import Layer, Strategy
from governance.formation.errors import ParameterFault
from recall.canonical import digest

VERSION = 1
_LASTING = {
    Layer.L2: (
        "Prefer what will still hold in half a year: how something is done here, why it was decided so, what went wrong"
        " and what to do instead. Leave out what belongs to one task, one branch or one day. Where two memories differ,"
        " keep the newer one and say since when it holds."
    ),
    Layer.L3: (
        "Keep only what holds for every task of this kind. What one scene alone says belongs into that scene. Prefer"
        " the rule that explains several scenes to a list of them, and leave a line as it is when nothing in the scenes"
        " speaks against it."
    ),
}


def durable_memory_strategy(layer: str | None = None) -> Strategy:
    """The strategy for memories that last, for `l2` or `l3`. Raises ParameterFault `unknown-layer` for any other."""
    known = {str(one): one for one in _LASTING}
    if layer is None or str(layer) not in known:
        problem = f"There is a durable memory strategy for {' and '.join(known)}, not for {layer!r}."
        raise ParameterFault("unknown-layer", problem, "Name the layer that the strategy is for.")
    at = known[str(layer)]
    return Strategy(
        id="durable-memory", layer=at, version=VERSION, prompt_addition=_LASTING[at], digest=_digest(at, _LASTING[at])
    )


def said_by(strategy: Strategy | None, layer: Layer) -> str:
    """What a strategy adds to the prompt of a layer; nothing without one. Raises ParameterFault `strategy-layer` for
    another layer's, `strategy-digest` for one whose words were changed."""
    if strategy is None:
        return ""
    if strategy.layer is not layer:
        problem = f"The strategy {strategy.id} is for {strategy.layer}, and this run is {layer}."
        raise ParameterFault("strategy-layer", problem, "Take the strategy of this layer.")
    if strategy.digest != _digest(strategy.layer, strategy.prompt_addition):
        problem = f"The strategy {strategy.id} says something else than its digest was made of."
        raise ParameterFault("strategy-digest", problem, "Take it anew from durable_memory_strategy.")
    return strategy.prompt_addition


def _digest(layer: Layer, addition: str) -> str:
    return digest({"layer": layer, "version": VERSION, "promptAddition": addition})
