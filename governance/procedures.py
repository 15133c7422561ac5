"""M-04: the life of a procedure, `observed → candidate → validated → active → deprecated`. Pure.

Only what agents did with it moves a procedure, and a person. Evidence makes it a candidate, which is a proposal; a
person validates it; it is active once it is validated and, if it can do harm, approved. A correction takes it back to
where it began. What nobody used for a quarter of a year is deprecated and kept. Nothing here runs anything.
"""

from collections.abc import Mapping
from enum import StrEnum
from itertools import islice

import re2

from governance.contracts import Stage
from governance.standing import Standing
from recall.contracts import Frozen, MemoryKind, Millis, Origin, Risk

DAY: Millis = 86_400_000
MOST_CRITERIA = 64  # that are read out of one text


class Why(StrEnum):
    """Why a procedure moves, or stays where it is."""

    EVIDENCE = "evidence"
    KEPT = "kept"
    APPROVED = "approved"
    CORRECTED = "corrected"
    UNUSED = "unused"
    TOO_FEW_SESSIONS = "too-few-sessions"
    TOO_FEW_SUCCESSES = "too-few-successes"
    TOO_OFTEN_CORRECTED = "too-often-corrected"
    NO_SUCCESS_CRITERIA = "no-success-criteria"
    WAITS_FOR_REVIEW = "waits-for-review"
    WAITS_FOR_APPROVAL = "waits-for-approval"
    SETTLED = "settled"


class LifePolicy(Frozen, frozen=True, kw_only=True):
    """The thresholds (memory.md, M-04). `correction_millionths`: corrections against sessions that used it, × 10⁶."""

    id: str = "life_pre_v1"
    sessions: int = 3
    successes: int = 2
    correction_millionths: int = 300_000
    unused_ms: Millis = 90 * DAY


class Procedure(Frozen, frozen=True, kw_only=True):
    """What is known of one besides its evidence. `by_person`: a person wrote or kept it; `corrected`: somebody said
    that it is wrong, and no person has looked at it since; `used_at`: when it was last used, kept or written.
    `promoted`: a team's own; its people read it when it was promoted, so evidence alone takes it further."""

    stage: Stage
    by_person: bool
    risk: Risk
    criteria: bool
    pinned: bool
    corrected: bool
    approved: bool
    used_at: Millis
    promoted: bool = False


class Move(Frozen, frozen=True, kw_only=True):
    to: Stage
    why: Why


class Hold(Frozen, frozen=True, kw_only=True):
    why: Why


_BEGINS = r"(?im)^[ \t>*+#-]*(?:\d{1,3}[.)、][ \t]*)?(?:\[[ xX]?\][ \t]*)?(?:\*\*|__|`)?"
_SUCCESS = re2.compile(
    _BEGINS + r"(?:success(?: criteri(?:a|on))?|succeeds when|done when|finished when|worked if|works if|passes when"
    r"|expect(?:ed|s)?(?: (?:result|output|outcome))?|acceptance(?: criteri(?:a|on))?|verification|check"
    r"|verif(?:y|ied by)|成功(?:标准|标志|条件)?|完成(?:标准|标志|条件)|验收(?:标准|条件)?"
    r"|(?:预期|期望)(?:结果|输出)?|验证|确认|检查)"
    r"(?:\*\*|__)?[ \t]*[:：](?:\*\*|__)?[ \t]*(\S.*)$"
)
_VERIFIED = re2.compile(
    _BEGINS + r"((?:(?:verify|confirm|make sure|ensure|check)[ \t]+|done when[ \t]+|succeeds when[ \t]+"
    r"|(?:it )?work(?:s|ed) if[ \t]+|expect[ \t]+|(?:验证|确认|检查|确保)[^\n：:])\S?.*)$"
)
_NO_CHECK = ("check out", "check in")
_HARM = re2.compile(
    r"(?i)\brm[ \t]+-\w*[rf]|\bgit[ \t]+push\b[^\n]{0,200}(?:--force|[ \t]-f\b|\b(?:main|master|prod\w*)\b)"
    r"|\bgit[ \t]+(?:reset[ \t]+--hard|clean[ \t]+-\w*f|filter-branch)"
    r"|\bdrop[ \t]+(?:table|database|schema)\b|\btruncate[ \t]+table\b|\b(?:terraform|pulumi)[ \t]+(?:apply|destroy)\b"
    r"|\bkubectl[ \t]+(?:delete|drain|apply)\b|\bhelm[ \t]+(?:upgrade|uninstall)\b|\bmkfs\b|\bdd[ \t]+if="
    r"|\bdocker[ \t]+(?:system|volume)[ \t]+(?:prune|rm)\b|\bch(?:mod|own)[ \t]+-R\b|\bsudo\b|\b(?:shutdown|reboot)\b"
    r"|\bkill(?:all)?[ \t]+-9\b|\bcurl\b[^\n|]{0,300}\|[ \t]*(?:ba|z)?sh\b"
    r"|\b(?:npm|cargo|poetry|twine|gem)[ \t]+(?:publish|upload|push)\b"
    r"|\b(?:deploy|release|roll(?:ing)?[ \t]+out|migrate)\b[^\n]{0,40}\bprod(?:uction)?\b"
    r"|\bprod(?:uction)?\b[^\n]{0,40}\bdeploy|强制推送"
    r"|(?:生产|线上|正式)(?:环境|库|数据库)?[^\n]{0,12}(?:部署|发布|删除|清空|迁移|重启)"
    r"|(?:部署|发布|推送|迁移|删除|清空)[^\n]{0,12}(?:生产|线上|正式)"
)
_DELETION = re2.compile(r"(?i)\bdelete[ \t]+from\b[^\n;]{0,200}")


def criteria(text: str) -> tuple[str, ...]:
    """The success criteria that a text states: lines that begin with `Success:`, `Done when`, `Verify`, `预期：` or
    alike, in their order."""
    found = {match.start(): match.group(1).strip() for match in islice(_VERIFIED.finditer(text), MOST_CRITERIA)}
    found = {at: said for at, said in found.items() if not said.lower().startswith(_NO_CHECK)}
    found |= {match.start(): match.group(1).strip() for match in islice(_SUCCESS.finditer(text), MOST_CRITERIA)}
    return tuple(found[at] for at in sorted(found))


def risk_of(text: str, said: Risk) -> Risk:
    """How much harm following a text could do: as its record says, and never less than its commands tell."""
    if said is Risk.HIGH or _HARM.search(text):
        return Risk.HIGH
    whole_tables = any("where" not in match.group().lower() for match in _DELETION.finditer(text))
    return Risk.HIGH if whole_tables else Risk.LOW


def written_risk(kind: MemoryKind, text: str, said: Risk = Risk.LOW) -> Risk:
    """The risk that a record is written with. Only a procedure is followed, so only its text is looked at."""
    return risk_of(text, said) if kind is MemoryKind.PROCEDURAL else said


def stage_of(stages: Mapping[str, Stage], memory_id: str, origin: Origin, *, promoted: bool = False) -> Stage:
    """Where a procedure stands: as written down, else as its origin says: what a person wrote or kept is active. One
    that a team promoted was read by somebody, and tried by nobody here: it begins as a candidate."""
    known = stages.get(memory_id)
    if known is not None:
        return known
    if not by_person(origin):
        return Stage.OBSERVED
    return Stage.CANDIDATE if promoted else Stage.ACTIVE


def by_person(origin: Origin) -> bool:
    """Whether a person wrote or kept what comes from there."""
    return origin in (Origin.USER, Origin.REVIEWED)


def short_of(standing: Standing, policy: LifePolicy) -> Why | None:
    """What evidence is missing before anything may be promoted; None: nothing."""
    if standing.reuse_sessions < policy.sessions:
        return Why.TOO_FEW_SESSIONS
    if standing.success < policy.successes:
        return Why.TOO_FEW_SUCCESSES
    if standing.correction * 1_000_000 > policy.correction_millionths * standing.reuse_sessions:
        return Why.TOO_OFTEN_CORRECTED
    return None


def judge(procedure: Procedure, standing: Standing, policy: LifePolicy, now: Millis) -> Move | Hold:
    """Where the procedure goes now, one step at most."""
    if procedure.corrected:
        if procedure.stage in (Stage.CANDIDATE, Stage.VALIDATED, Stage.ACTIVE):
            return Move(to=Stage.OBSERVED, why=Why.CORRECTED)
        return Hold(why=Why.CORRECTED)
    lacking = short_of(standing, policy)
    match procedure.stage:
        case Stage.OBSERVED if procedure.by_person:  # a correction that a person settled
            return Move(to=Stage.VALIDATED, why=Why.KEPT)
        case Stage.OBSERVED:
            if lacking is None and not procedure.criteria:
                lacking = Why.NO_SUCCESS_CRITERIA
            return Hold(why=lacking) if lacking is not None else Move(to=Stage.CANDIDATE, why=Why.EVIDENCE)
        case Stage.CANDIDATE if procedure.promoted:
            if lacking is None and not procedure.criteria:
                lacking = Why.NO_SUCCESS_CRITERIA
            return Hold(why=lacking) if lacking is not None else Move(to=Stage.VALIDATED, why=Why.EVIDENCE)
        case Stage.CANDIDATE:
            return Hold(why=Why.WAITS_FOR_REVIEW) if lacking is None else Move(to=Stage.OBSERVED, why=lacking)
        case Stage.VALIDATED:
            if procedure.risk is Risk.HIGH and not procedure.approved:
                return Hold(why=Why.WAITS_FOR_APPROVAL)
            return Move(to=Stage.ACTIVE, why=Why.APPROVED if procedure.risk is Risk.HIGH else Why.KEPT)
        case Stage.ACTIVE:
            if not procedure.pinned and now - procedure.used_at > policy.unused_ms:
                return Move(to=Stage.DEPRECATED, why=Why.UNUSED)
            return Hold(why=Why.SETTLED)
        case Stage.DEPRECATED:
            return Hold(why=Why.UNUSED)
