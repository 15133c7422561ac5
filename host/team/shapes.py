"""What is asked of the team workflow on the wire. Documents come as they were written; answers are documents."""

from typing import Annotated, Literal

import msgspec

from governance.review import Principal
from governance.team.contracts.promoting import CandidateKind
from recall.contracts import Frozen

NULL = msgspec.Raw(b"null")
Name = Annotated[str, msgspec.Meta(max_length=256)]


class TeamParams(Frozen, frozen=True, kw_only=True):
    """`workspace`: a folder of the repository. `principal`: who asks, as they say. `holder`: what keeps their leases
    apart from those of others: of a command the terminal's shell, of an agent its process. `agent`: the product."""

    workspace: str
    principal: Principal = Principal.AGENT
    holder: Name = ""
    agent: Name = ""


class TeamStatusParams(TeamParams, frozen=True, kw_only=True):
    """`all`: candidates of earlier bindings of this repository, too."""

    all: bool = False


class RecallParams(TeamParams, frozen=True, kw_only=True):
    """`request`: an extraction request. `limit`: how many tasks at most."""

    request: msgspec.Raw
    limit: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1


class SynthesizeParams(TeamParams, frozen=True, kw_only=True):
    mode: Literal["incremental", "if-due", "full"] = "incremental"


class DocumentParams(TeamParams, frozen=True, kw_only=True):
    """`document`: the answer to a task, or a share; of `prepare`, the prepare request of a review."""

    document: msgspec.Raw


class TeamReviewParams(TeamParams, frozen=True, kw_only=True):
    """`candidate_ids`: only these; empty: all that are staged."""

    kind: CandidateKind
    candidate_ids: tuple[Name, ...] = ()


class PromoteParams(TeamParams, frozen=True, kw_only=True):
    """`plan_digest`: of a plan that was prepared without an approval."""

    plan_id: Name
    plan_digest: Name | None = None


class AssembleParams(TeamParams, frozen=True, kw_only=True):
    """`dry_run`: show what would change, and change nothing."""

    provider: Name
    dry_run: bool = False


class DiscardParams(TeamParams, frozen=True, kw_only=True):
    """One of candidate (with its revision), task or plan. `keep_files`: close a plan that cannot be rolled back, and
    leave the files as they are."""

    candidate_id: Name | None = None
    revision: int | None = None
    task_id: Name | None = None
    plan_id: Name | None = None
    keep_files: bool = False
    reason: Annotated[str, msgspec.Meta(max_length=2000)] = ""


class InitParams(TeamParams, frozen=True, kw_only=True):
    """`trusted`: what a person answers when asked whether they trust this repository's memory; null: nobody was."""

    trusted: bool | None = None


class TeamRunParams(TeamParams, frozen=True, kw_only=True):
    """`request`: an extraction request; null with `consolidate`. `driver`: as in `extract.run`."""

    request: msgspec.Raw = NULL
    consolidate: bool = False
    driver: Annotated[str, msgspec.Meta(max_length=4096)] = ""
