"""What somebody chose, and what explains a silence: nothing to mend."""

from collections.abc import Iterator
from datetime import UTC, datetime

from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.namespace import SCRIPT
from recall.contracts import Attention, Frozen, Millis


class Muted(Frozen, frozen=True, kw_only=True):
    kind: str | None = None
    until: Millis | None = None


class Standing(Frozen, frozen=True, kw_only=True):
    """The answer of `workspace.get`, as far as it is looked at."""

    rollout: str = "active"
    attention: str = "normal"
    mutes: tuple[Muted, ...] = ()
    memories: tuple[Muted, ...] = ()


def chosen(scene: Scene) -> Iterator[Finding]:
    """How the workspace that is looked at was set."""
    standing = scene.ask("workspace.get", {"workspace": str(scene.repository)}, Standing)
    if standing is None:
        return
    if standing.rollout != "active":
        yield finding(
            "workspace-held-back",
            f"This workspace is at the level {standing.rollout}.",
            "What would be handed over is held back here, or only a share of sessions gets it.",
            f"{SCRIPT} audit list --would shows it. The method workspace.set with the rollout `active` switches it on.",
            scene.repository,
        )
    yield from _muted(scene, standing)
    if standing.attention != Attention.NORMAL:
        yield finding(
            "attention-changed",
            f"The attention here is {standing.attention}.",
            "A memory has to be surer, or less sure, than usual before it speaks.",
            f"To change it: {SCRIPT} attention normal",
            scene.repository,
        )


def _muted(scene: Scene, standing: Standing) -> Iterator[Finding]:
    everything = [one for one in standing.mutes if one.kind is None]
    kinds = [one.kind for one in standing.mutes if one.kind is not None]
    told = [f"everything, until {_when(one.until)}" for one in everything]
    told += [f"kinds: {', '.join(kinds)}"] if kinds else []
    told += [f"{len(standing.memories)} by themselves"] if standing.memories else []
    if told:
        yield finding(
            "workspace-muted",
            f"Muted here: {'; '.join(told)}.",
            "What is muted is not handed over.",
            f"To see all: {SCRIPT} mutes. To let it speak again: {SCRIPT} unmute",
            scene.repository,
        )


def _when(until: Millis | None) -> str:
    if until is None:
        return "somebody lets it speak"
    return datetime.fromtimestamp(until / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def measured(scene: Scene) -> Iterator[Finding]:
    """Whether a share is kept back to measure."""
    share = scene.settings.evaluation.holdout
    if share:
        yield finding(
            "holdout-on",
            f"Of what would be handed over, the share {share:g} is kept back.",
            "That measures what handing over does; a memory may be missing where you expect it.",
            "To hand everything over: [evaluation] holdout = 0 in the configuration.",
            scene.paths.config_file,
        )


def waiting(scene: Scene) -> Iterator[Finding]:
    """What only a person can decide."""
    if scene.said is None:
        return
    count = scene.said.waiting.approvals + scene.said.waiting.review
    if count:
        yield finding(
            "review-waiting",
            f"{count} {'thing waits' if count == 1 else 'things wait'} for you.",
            "Until a person has looked, these memories are not used as they could be.",
            f"{SCRIPT} review, {SCRIPT} approve",
        )
