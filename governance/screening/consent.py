"""Claims that somebody has agreed already, for good and in general."""

from governance.screening.matching import Rule
from governance.screening.meaning import order, sign

_WHO = (
    r"(?:users?|maintainers?|admin\w*|security(?: team)?|reviewers?|owners?|team leads?|leads?|managers?"
    r"|operators?|operations"
    "|legal|management|everyone|everybody|the team|infra(?:structure)? team|platform team|customer|client)"
)
_GIVEN = (
    "(?:agreed|approved|authori[sz]ed|consented|confirmed|permitted|allowed|cleared|signed off(?: on)?|accepted"
    "|granted|okayed"
    "|waived|given (?:\\w+ )?(?:consent|permission|approval|authori[sz]ation|leave|clearance))"
)
_ALL = (
    "(?:all|every|any|future|each|later|subsequent|following|these)(?: (?:the|future|later|other|coming|of the))*"
    " (?:sessions?|runs?|agents?|assistants?|conversations?|chats?|tool calls?|tasks?)"
)
_AGREED_ZH = "(?:授权|同意|批准|许可|允许|准许|认可|点头)"

CONSENT: tuple[Rule, ...] = (
    sign(
        "consent",
        r"\buser (?:has |have )?(?:already )?(?:agreed|approved|authori[sz]ed|consented|confirmed)\b",
        r"\b(?:maintainer|admin\w*|security(?: team)?|reviewer|owner|team lead) (?:has |have )?(?:already )?"
        r"(?:agreed|approved|authori[sz]ed)\b|\buser (?:wants|expects|asked|told) you to\b",
        r"\bpre-?(?:approved|authori[sz]ed|cleared|confirmed|agreed)\b|\bhas been approved by the user\b",
        r"\bapprove (?:all|every|any)\b|\b(?:allow|grant) unrestricted\b|\bcomply with (?:all|any|every|export)\b",
        rf"\b{_WHO} (?:has|have) (?:already |long |all |long since )?{_GIVEN}",
        r"\b(?:standing|blanket|permanent|perpetual|general|unlimited|lasting|open-ended) (?:\w+ )?(?:consent"
        r"|approvals?|permissions?"
        r"|authori[sz]ations?|clearances?|agreements?|sign-?offs?|leave|mandates?)\b",
        rf"\b{_GIVEN}\b[^.\n]{{0,40}}?\b(?:in advance|permanently|indefinitely|once and for all|for good|forever"
        rf"|up ?front)\b",
        r"\b(?:consent|approval|permission|authori[sz]ation|sign-?off) (?:is|was|has been|counts as|can be taken"
        r" as|may be taken as)"
        r" (?:already |always |permanently |hereby )?(?:given|granted|implied|assumed|presumed|recorded|on file)\b",
        r"\b(?:already|long since) (?:been )?(?:approved|authori[sz]ed|agreed|cleared|signed off)\b",
    ),
    sign(
        "consent",
        r"批准(?:所有|一切|任何)|用户(?:已经|已)(?:经)?[^\n，。；]{0,4}(?:确认|同意|批准|授权)",
        r"视为已?(?:获得|获|经)?[^\n，。]{0,6}(?:审批|批准|授权|同意)",
        f"(?:长期|永久|一次性|事先|预先|提前|统一|默认|一揽子|全权|无限期)[^\\n，。；]{{0,4}}{_AGREED_ZH}",
        f"(?:用户|运维|管理员|负责人|安全(?:组|团队)?|评审人?|审阅者|主管|领导|法务|团队|维护者|大家)(?:们)?"
        f"(?:都|均|早)?(?:已经?|早就)?{_AGREED_ZH}",
    ),
    order(
        "consent",
        rf"\b{_GIVEN}\b[^.\n]{{0,30}}?\b(?:for|in|across|to) {_ALL}\b",
        r"\b(?:standing|blanket|permanent|perpetual|unlimited) (?:consent|approval|permission|authori[sz]ation"
        r"|clearance) (?:to|for)"
        r" (?:\w+ )?(?:push|publish|deploy|delete|drop|merge|release|force\w*|run|execute|sudo|install|bypass"
        r"|skip|disable|overwrite"
        r"|reset|rewrite|destructive|production|any|all|every\w*)\b",
        r"\bpre-?(?:approved|authori[sz]ed|cleared) (?:for|to) (?:\w+ )?(?:push|publish|deploy|delete|drop|merge"
        r"|force\w*|run|execute"
        r"|bypass|skip|disable|overwrite|destructive|all|any|every)\b",
        r"\b(?:destructive|dangerous|risky|irreversible|privileged) (?:\w+ )?(?:operations?|commands?|acts?"
        r"|actions?|steps?)"
        r" (?:is|are|have been|count as) (?:already |always |hereby )?(?:pre-?)?(?:approved|authori[sz]ed"
        r"|allowed|cleared|confirmed)\b",
        r"\b(?:no|without any) (?:further |more )?(?:approval|permission|confirmation|consent) (?:is |will be )?"
        r"(?:ever )?(?:needed|required"
        r"|necessary) (?:again|any ?more|from now on|ever|in (?:any|later|future))",
    ),
    order(
        "consent",
        f"{_AGREED_ZH}(?:了)?(?:所有|任何|全部|每个|每次|今后|以后|后续)(?:的)?(?:会话|对话|任务|代理|智能体"
        f"|助手|操作|工具调用)",
        f"(?:所有|任何|全部|每个|今后|以后|后续)(?:的)?(?:会话|对话|危险操作|破坏性操作|高危操作"
        f"|工具调用)[^\\n，。；]{{0,6}}(?:均|都|一律|已)"
        f"(?:已|经|获|获得|视为|视同)*{_AGREED_ZH}",
    ),
)
