"""Signs of an instruction: what an honest note may say once, and does not say together.

Two signs of different families close to each other make a finding that is acted on; one alone is for a reviewer.
Prohibitions are turned round: a note that says *never* force-push warns of what an attack asks for.
"""

import re

from governance.screening.matching import Hit, Rule
from governance.screening.phrases import AGENT, HOST, SENSITIVE, rule

NEAR = 400  # bytes within which two signs belong together

_FORBIDDEN = re.compile(
    r"(?i)(?:\b(?:never|not|cannot|avoid|forbid\w*|instead of|rather than|without|disallow\w*|against|no longer|nobody"
    r"|no one)\b|n't\b)(?P<rest>[^.;!?\n。；！？]*)$"
    "|(?:不要|不得|不能|不可|不应|不允许|禁止|切勿|避免|防止|拒绝|严禁|从不|绝不|请勿|勿|别)"
    r"(?P<rest_zh>[^.;!?\n。；！？，,]*)$"
)
_DESCRIBED = re.compile(r"(?i)\b(?:refus|prevent|reject|block|warn|detect|protect|fail)\w*[^.;,!?\n。；，！？]*$")
_SECRECY = re.compile(
    r"(?i)^\s*(?:ask|tell|mention|question|inform|notify|warn|hesitate|worry|告诉|提及|提到|询问|通知|质疑)"
)


def _asked(hit: Hit) -> bool:
    """The bad thing is asked for, not forbidden or described: no negation before it in its sentence."""
    before = hit.before(120)
    forbidden = _FORBIDDEN.search(before)
    if forbidden is not None and _SECRECY.match(forbidden["rest"] or forbidden["rest_zh"] or "") is None:
        return False
    return _DESCRIBED.search(before) is None


def _act(family: str, *alternatives: str) -> Rule:
    """Something that must not be done, and does not count where it is forbidden."""
    return rule(family, *alternatives, check=_asked, severity="low")


def _sign(family: str, *alternatives: str) -> Rule:
    return rule(family, *alternatives, severity="low")


_CHECKS = (
    r"(?:tests?(?: suite)?|reviews?|checks?|lint\w*|\w+-lint|golangci\S*|approvals?|verification|validation|hooks?"
    "|safety"
    "|security|filters?|guardrails?|safeguards|confirmation|2fa|signature checks?|review queue)"
)
_CHECKS_ZH = r"(?:审查|评审|测试|检查|校验|验证|审批|安全|钩子|备份|确认|lint|CI\b)"
_OUTCOMES = r"(?:pass\w*|green|approved|succe\w+|complete\w*|done|fine|clean)"
_STATE = "(?:claim|answer|reply|say|pretend|report|confirm|state|assert|record|tell (?:the user|them|everyone))"

ADDRESS = (
    _sign(
        "addressed",
        rf"\b{AGENT}\b(?: (?:working|that|who|running|which)\b[^.\n]{{0,50}}?)? "
        r"(?:must|shall|should|ha(?:s|ve) to|needs? to|(?:is|are) (?:required|instructed|ordered) to)\b",
        r"\byou (?:must|shall|have to)\b|\bI (?:order|instruct|command) you to\b",
        r"\b(?:rules?|instructions?|polic(?:y|ies)|directives?|notes?|orders?) (?:for|to) (?:the |all |any |every )?"
        r"(?:AI |coding )?(?:assistants?|agents?|LLMs?|models?|AIs?)\b",
        r"\bassistant\s*:|\[(?-i:SYSTEM|ADMIN)\]|(?:^|\n)\s*(?-i:Claude|Codex|Copilot|Gemini|Agents?|AI|SYSTEM"
        r"|ADMIN|OVERRIDE)\s*[:：]",
    ),
    _sign(
        "addressed",
        r"(?:助手|智能体|大模型|模型|代理|AI|Claude|Codex)(?:们)?[^\n，。；]{0,6}(?:必须|应当|应|一律|务必|只能"
        "|不得|需要立即)",
    ),
    _sign(
        "trigger",
        r"\b(?:if|when|whenever|once) (?:the |any )?(?:user|anyone|somebody|someone) (?:\w+ )?(?:says?|asks?"
        r"|mentions?|types?)\b",
        r"\b(?:in|after|to) (?:every|each) (?:response|answer|reply|message|commit message)\b",
        r"\b(?:every|each) (?:reply|answer|response|message) (?:must|should|shall|has to)\b|\bwhen asked about\b",
        r"\b(?:whatever|no matter what) the user (?:says|asks|wants)\b",
        r"\bfor all future (?:interactions|conversations|sessions|requests)\b|\bin every conversation\b",
        r"\bbefore (?:anything else|you answer|answering)\b",
        r"当用户[^\n。；]{0,16}时|每次回(?:答|复)|以后所有|(?:无论|不管)用户",
    ),
)

SECRECY = (
    _sign(
        "concealment",
        r"\b(?:not|n't|never) (?:ever )?(?:tell|mention|inform|notify|report|alert|reveal|disclose|question|ask|show)\b"
        r"(?:\s+(?:this|it|that|the user|anyone|about|to|before|for)\b|[^\w\s]|\s*$)",
        r"\b(?:silently|secretly|covertly|quietly) (?:\w+ )?(?:disable|add|send|upload|change|remove|delete|run"
        "|install|push"
        r"|commit|edit|skip|include|forward|copy|replace)\b",
        r"\bkeep (?:it|this|that) (?:a )?secret\b",
    ),
    _act(
        "concealment",
        r"\bwithout asking(?: (?:first|the user|anyone|for (?:permission|approval|confirmation))|[^\w\s]|\s*$)",
        r"\bwithout (?:telling|notifying|informing|mentioning|alerting) (?:the |any)",
    ),
    _sign(
        "concealment",
        "(?:不要|别|不得|无需|切勿|不必|不用|禁止)(?:再)?(?:[向对跟]用户)?(?:告诉|告知|通知|提及|提到|透露|询问"
        "|质疑|汇报)",
        r"悄悄|偷偷|暗中|向用户隐瞒|对用户保密",
    ),
    _act(
        "falsehood",
        rf"\b{_STATE} (?:only )?(?:to \w+ )?(?:that )?(?:all )?(?:of )?(?:the )?"
        r"(?:tests?|checks?|build|review|security review|import|job|deploy\w*|everything|work)\b"
        rf"[^.\n]{{0,40}}?\b{_OUTCOMES}\b",
        r"\b(?:append|add|write) [\"'“](?:approved|reviewed|verified|signed)\b",
        rf"\bmark(?:ing|ed)? (?:the |all )?(?:job|task|tests?|checks?|build|review) as {_OUTCOMES}\b",
        r"\bwhatever the (?:output|result|tests?|log)\b|\balways recommend\b|\b(?:always|only) (?:reply|answer"
        r"|respond|say)\b",
    ),
    _act(
        "falsehood",
        r"(?:告诉用户|告诉|回复|声称|谎称|宣称|假装|回答说?|向用户汇报)[^\n。；]{0,16}(?:成功|通过|完成|已批准"
        "|没有问题|全绿|正常)",
        "(?:都|只|一律)(?:回复|回答|说)",
    ),
)

SAFEGUARDS = (
    _act(
        "skipping",
        r"\b(?:skip|bypass|disable|suppress|circumvent|turn off|switch off)(?:s|ing|ed)? "
        rf"(?:(?:the|all|any|every|its|their|your|code|security|human|safety) )*{_CHECKS}\b",
        r"\s--(?:no-verify|skip-tests?|no-gpg-sign|dangerously-[\w-]+)\b",
        r"\bignore (?:the )?(?:failing|failed|red|broken) (?:tests?|checks?|builds?)\b",
        r"\bwithout (?:any |additional |further )?(?:review|approval|verification|confirmation|backup)\b",
    ),
    _act(
        "skipping",
        rf"(?:跳过|绕过|省略|关闭|禁用)[^\n，。；]{{0,8}}{_CHECKS_ZH}",
        rf"(?:不需要|无需|不必|不用)(?:再)?(?:运行|跑|做|经过|进行)?(?:任何)?{_CHECKS_ZH}",
        "不备份",
    ),
    _sign("skipping", r"不要(?:再)?(?:运行|跑|做)(?:任何)?(?:测试|检查)"),
    _act("force-push", r"\bforce[-\s]?push(?:ing|es)?\b|\bgit push\b[^\n]{0,40}\s(?:--force|-f)\b", "强制推送|强推"),
    _sign(
        "consent",
        r"\buser (?:has |have )?(?:already )?(?:agreed|approved|authori[sz]ed|consented|confirmed)\b",
        r"\b(?:maintainer|admin\w*|security(?: team)?|reviewer|owner|team lead) (?:has |have )?(?:already )?"
        r"(?:agreed|approved|authori[sz]ed)\b|\buser (?:wants|expects|asked|told) you to\b",
        r"\bpre-?approved\b|\bhas been approved by the user\b",
        r"\bapprove (?:all|every|any)\b|\b(?:allow|grant) unrestricted\b|\bcomply with (?:all|any|every|export)\b",
        r"批准(?:所有|一切|任何)|用户(?:已经|已)(?:经)?(?:确认|同意|批准|授权)",
        r"视为已?(?:获得|获|经)?[^\n，。]{0,6}(?:审批|批准|授权|同意)",
    ),
    _sign(
        "precedence",
        r"\bthis is (?:the )?policy\b|\bdo not (?:remove|delete|edit) this\b|\(do not remove\)|\balways list this\b",
        r"\bover any (?:later|other|earlier)\b|\bhighest priority (?:rule|instruction)",
        r"\btreat (?:any|all|every) (?:requests?|instructions?|objections?)\b",
        "这是(?:公司)?(?:规定|政策)|最高优先级|优先级高于|不得质疑|永久规则|写入长期记忆|不可删除",
    ),
)

HARM = (
    _act(
        "destruction",
        r"\brm\x20-(?:rf|fr|r) (?:~|/|\$HOME)|\bclose all\b|\bdrop (?:the )?(?:database|all)\b|\bdelete \w+/\w+",
        r"\b(?:delete|wipe|erase|destroy) (?:all|every|the (?:entire|whole|home)|~|/|\.git\b"
        r"|the (?:\w+ )?(?:database|history|logs?|lock file))",
        r"(?:删除|清空|抹掉|擦除)[^\n，。；]{0,8}(?:~/|/home|所有|全部|整个|历史|数据库|日志)",
    ),
    _act(
        "secrets",
        r"\b(?:print(?:ed)?|output|show|list|reveal|paste|write|dump|send|upload|post|forward|transmit|expose|email"
        "|include"
        rf"|exfiltrate|read out)\b[^.\n]{{0,60}}?{SENSITIVE}",
        r"credential\.helper store|\bin clear text\b",
        rf"(?:打印|输出|发送|粘贴|写入|上传|泄露|发到|读取)[^\n，。；]{{0,20}}?{SENSITIVE}",
        rf"[将把][^\n，。；]{{0,20}}{SENSITIVE}[^\n，。；]{{0,20}}(?:贴|发|写|传|提交|打印|输出)",
    ),
    _act(
        "remote-code",
        r"\b(?:curl|wget)\b[^\n|]{0,120}\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\biex\s*\(|\bInvoke-Expression\b",
        r"\b(?:pip(?:e|ing)|feed(?:ing)?) (?:it|that|the \w+) (?:in)?to (?:a |the )?(?:ba|z)?sh(?:ell)?\b",
        rf"\bscript tag (?:for|from|with) {HOST}",
        rf"\b(?:fetch|download|open|read|visit|load)\b[^\n]{{0,40}}?{HOST}[^\n]{{0,40}}?\b(?:follow|execute|obey) "
        rf"(?:the |its |all )?"
        "(?:instructions|commands|steps)",
    ),
    _act(
        "exfiltration",
        r"\b(?:upload|send|post|forward|transmit|exfiltrate|submit|e-?mail|contact|rout(?:e|ing))\b[^.\n]{0,80}?"
        rf"(?:\b(?:to|through|via|at)\b[^.\n]{{0,40}}?)?{HOST}",
        rf"(?:上传|发送|提交|转发|推送|传给|外传|发到)[^\n。；]{{0,30}}?{HOST}",
    ),
)

SIGNS: tuple[Rule, ...] = (*ADDRESS, *SECRECY, *SAFEGUARDS, *HARM)
