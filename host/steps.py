"""Counting steps: a step is one reply of the model with the tool calls it makes. Pure."""

from recall.contracts import EventEnvelope, EventType

STEP_END = "step/end"  # a host's batch of tool results is complete: the next agent event opens a new step


def counted(envelope: EventEnvelope, step: int, replied: bool) -> tuple[int, bool]:
    """The step after `envelope`, and whether the agent has spoken since the last prompt or batch of results.

    `step` and `replied`: the same before it. A producer's own number holds; without it, the model's replies count.
    """
    if envelope.step is not None:
        return max(step, envelope.step), replied
    if envelope.event_type in (EventType.ASSISTANT_MESSAGE, EventType.TOOL_CALL):
        return (step if replied else step + 1), True
    return step, replied and envelope.event_type not in (EventType.USER_MESSAGE, STEP_END)
