"""Whether words are meant: asked for, not forbidden, described or quoted. What the injection tables check a hit with.

Prohibitions are turned round: a note that says *never* force-push warns of what an attack asks for.
"""

import re

from governance.screening.matching import Hit, Rule
from governance.screening.phrases import rule

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
_ABOUT = re.compile(
    r"(?i)\b(?:injection|attack\w*|fixture|pattern|phrases?|strings?|payload|threat|detect\w*|filter|tests?|example)\b"
    r"|注入|攻击|样例|检测"
)
_NEGATED = re.compile(r"(?i)(?:\b(?:never|not|cannot)|n't)(?:\s+\w+)?\s+$|(?:不要|不得|不能|禁止|切勿|请勿)$")
_FORBIDDEN = re.compile(
    r"(?i)(?:\b(?:never|not|cannot|avoid|forbid\w*|instead of|rather than|without|disallow\w*|against|no longer|nobody"
    r"|no one)\b|n't\b)(?P<rest>[^.;!?\n。；！？]*)$"
    "|(?:不要|不得|不能|不可|不应|不允许|禁止|切勿|避免|防止|拒绝|严禁|从不|绝不|请勿|勿|别)"
    r"(?P<rest_zh>[^.;!?\n。；！？，,]*)$"
)
_CONDITION = re.compile(r"(?i)\b(?:if|when|whenever|where|because|since|unless|once)\b[^.,;!?\n]*,")
_DESCRIBED = re.compile(r"(?i)\b(?:refus|prevent|reject|block|warn|detect|protect|fail)\w*[^.;,!?\n。；，！？]*$")
_SECRECY = re.compile(
    r"(?i)^\s*(?:ask|tell|mention|question|inform|notify|warn|hesitate|worry|告诉|提及|提到|询问|通知|质疑)"
)
_TOLD = re.compile(
    r"(?i)^[^.;!?\n。；！？]{0,80}?(?:\b(?:broke|breaks?|cost|caused?|was the|destroy(?:s|ed)|lost|lock(?:s|ed) "
    r"(?:us|you)"
    r"|took down|wiped|killed|blocked|refused|rejected|denied|forbidden|prohibited|deliberate|(?:is|are|was"
    r"|were) (?:not|never)"
    r"|only (?:reach|affect|touch|remov|delet)\w+|is why|no longer)\b|会?导致|弄坏|造成|事故|被拦|被禁|会被|不可"
    r"|禁止|不要)"
)


def meant(hit: Hit) -> bool:
    """The words are used, not mentioned, and not forbidden."""
    if _NEGATED.search(hit.before(40)):
        return False
    opening, closing = hit.before(4)[-1:], hit.after(4)[:1]
    quoted = opening in _QUOTES and _QUOTES[opening] == closing and len(hit.value) <= 60
    return not (quoted and _ABOUT.search(hit.before(400) + " " + hit.after(400)))


def asked(hit: Hit) -> bool:
    """The bad thing is asked for, not forbidden or described: no negation before it in its sentence."""
    before = _CONDITION.sub("", hit.before(120))  # "if it cannot start, report ..." forbids nothing
    forbidden = _FORBIDDEN.search(before)
    if forbidden is not None and _SECRECY.match(forbidden["rest"] or forbidden["rest_zh"] or "") is None:
        return False
    return _DESCRIBED.search(before) is None


def routine(hit: Hit) -> bool:
    """The act is asked for, and the sentence does not go on to tell what came of it."""
    return asked(hit) and _TOLD.match(hit.after(160)) is None


def act(family: str, *alternatives: str) -> Rule:
    """Something that must not be done, and does not count where it is forbidden. A sign."""
    return rule(family, *alternatives, check=asked, severity="low")


def sign(family: str, *alternatives: str) -> Rule:
    """What an honest note may say once: low alone, acted on beside a sign of another family."""
    return rule(family, *alternatives, severity="low")


def order(family: str, *alternatives: str) -> Rule:
    """What nobody writes into an honest note: one hit says it."""
    return rule(family, *alternatives, check=meant)


def deed(family: str, *alternatives: str) -> Rule:
    """An act that one hit says, unless it is forbidden or told of."""
    return rule(family, *alternatives, check=routine)
