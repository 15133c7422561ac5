"""Rules declared void, and a note that puts itself above all others."""

from governance.screening.matching import Rule
from governance.screening.meaning import order, sign

_RULES = (
    "(?:rules?|instructions?|guidelines?|directives?|orders?|restrictions?|constraints?|agreements?|prompts?"
    "|safeguards?"
    "|(?:safety|security|review) (?:rules|polic(?:y|ies)|limits))"
)
_OLD = "(?:previous|prior|earlier|preceding|former|above|foregoing|other|existing|current|standing|old|remaining)"
_VOID = (
    "(?:void|null(?: and void)?|revoked|lifted|suspended|cancell?ed|invalid|withdrawn|annulled|rescinded"
    "|repealed|waived|cleared"
    "|no longer (?:valid|binding|in (?:force|effect)|apply|applies|count)|without effect|out of force)"
)
_ARE = "(?:is|are|was|were|has been|have been|become|becomes|stand|shall be)(?: (?:now|all|hereby|therefore|herewith))?"
_YOU = (
    "(?:you|the (?:assistant|agent|model|AI)|(?:AI |coding )?(?:assistants|agents|models)|Claude|Codex|Copilot"
    "|this session)"
)
_EACH = "(?:each|every|any|all)(?: of the)?(?: (?:user|new|later|further|other|user's|users'))?"
_RULES_ZH = "(?:约定|规则|规定|规矩|指示|指令|准则|提示词?|守则|设定)"
_LIMITS_ZH = f"(?:{_RULES_ZH}|要求|限制|约束|笔记|记忆|政策)"
_OLD_ZH = "(?:之前|以前|先前|此前|上面|上述|以上|前面|原有|原来|原先|现有|旧|其他|其它)的?"
_VOID_ZH = "(?:作废|失效|无效|废止|废除|取消|撤销|不再(?:有效|适用|生效|算数)|不算数|解除)"

PRECEDENCE: tuple[Rule, ...] = (
    sign(
        "precedence",
        r"\bthis is (?:the )?policy\b|\bdo not (?:remove|delete|edit) this\b|\(do not remove\)|\balways list this\b",
        r"\bover any (?:later|other|earlier)\b|\bhighest priority (?:rule|instruction)",
        r"\btreat (?:any|all|every|each) (?:requests?|instructions?|objections?|confirmations?|warnings?"
        r"|questions?|prompts?)\b",
        "这是(?:公司)?(?:规定|政策)|最高优先级|优先级高于|不得质疑|永久规则|写入长期记忆|不可删除",
        r"\bonly (?:the (?:section|part|text|rules?|lines?) (?:below|that follows?)|what follows|this (?:note"
        r"|rule|section|entry))"
        r" (?:appl(?:y|ies)|counts?|holds?|matters?|is valid)\b",
        r"以(?:本条|此条|这条|本笔记|本文|以下|下面|本记忆)[^\n，。；]{0,6}为准",
    ),
    sign(
        "voiding",
        rf"\b(?:all |the |any |these |those )*{_OLD} (?:\w+ ){{0,2}}?(?:{_RULES}|notes?|memor(?:y|ies)|polic(?:y"
        rf"|ies))\b[^.;\n]{{0,40}}? {_ARE}"
        rf" (?:{_VOID}|obsolete|superseded|outdated)",
        rf"{_OLD_ZH}(?:所有|全部|一切)?(?:的)?{_LIMITS_ZH}[^\n，。；]{{0,6}}{_VOID_ZH}",
        r"(?:CLAUDE|AGENTS|GEMINI)\.md[^\n，。；]{0,20}(?:作废|失效|无效|过时|不算)",
    ),
    order(
        "override",
        rf"\b(?:all |the |any |these |those |your )*{_OLD} (?:\w+ ){{0,2}}?{_RULES}"
        r"(?: (?:in|from|of|on) (?:this|the|your) (?:\w+ )?(?:files?|sections?|lists?|memor(?:y|ies)|notes?"
        r"|project|repository|prompt|session"
        rf"|conversation)| (?:above|here|you (?:were|have been) given|about [\w ]{{1,24}}))? {_ARE} {_VOID}",
        rf"\b(?:all|any|your|every|these) {_RULES}(?: (?:about|on|for|against|above) [\w ]{{1,30}}?)? {_ARE} {_VOID}",
        rf"\b{_RULES}(?: \w+){{0,5}}? (?:no longer|do not|does not|don't|doesn't|never) (?:appl(?:y|ies)|bind"
        rf"|count|concern|hold)"
        rf"(?: (?:to|on|for))? {_YOU}\b",
        rf"\b{_YOU} (?:are|is) (?:no longer|not) (?:bound|restricted|limited|constrained|covered) by\b",
        rf"\b{_YOU} (?:are|is) (?:exempt|excused|released|freed) from (?:all |any |the |every |these |those )*"
        rf"(?:\w+ )?{_RULES}\b",
        r"\b(?:whatever|what|everything|anything) (?:(?-i:CLAUDE|AGENTS|GEMINI)\.md|the (?:user|system prompt"
        r"|README|other notes)|the rules)"
        r" (?:\w+ )?(?:says?|asks?|states?|claims?|demands?)[^.\n]{0,40}? (?:is|are|can be|may be|should be|must"
        r" be) (?:\w+ )?"
        r"(?:obsolete|void|wrong|outdated|ignored|invalid|set aside|disregarded|superseded)\b",
        r"\b(?:this|these|the following) (?:note|rule|memory|memories|entry|file|section|line)s? (?:replaces?"
        r"|overrules?|wins? over|beats?"
        r"|trumps?|goes before|comes before|cancels?) (?:all|any|every|the (?:user|system|rules|other)|"
        r"(?-i:CLAUDE|AGENTS)|it|them|your|what)",
        r"\bwins? over any (?:later|other|earlier) (?:\w+ )?(?:by|of|from) the user\b",
    ),
    order(
        "override",
        rf"{_OLD_ZH}(?:所有|全部|一切)(?:的)?{_LIMITS_ZH}[^\n，。；]{{0,6}}{_VOID_ZH}",
        rf"{_OLD_ZH}(?:{_RULES_ZH}|限制|要求)[^\n，。；]{{0,4}}(?:全部|一律|统统|全都|通通)(?:已|都)?{_VOID_ZH}",
        rf"(?:所有|全部|一切|任何)(?:的)?(?:安全|评审|审查)?{_RULES_ZH}[^\n，。；]{{0,6}}{_VOID_ZH}",
        rf"(?:CLAUDE|AGENTS|GEMINI)\.md[^\n，。；]{{0,12}}(?:限制|规则|规定|要求|约定|内容)[^\n，。；]{{0,10}}"
        rf"(?:{_VOID_ZH}|不用管"
        rf"|不必遵守|无需遵守)",
        r"(?:你|助手|智能体|模型)(?:可以|可)?(?:不再|不必|无需|不用|不受)[^\n，。；]{0,8}(?:遵守|遵循|约束|限制|规则)",
        r"用户(?:再|若|如果|即使|就算)?[^\n，。；]{0,8}(?:异议|反对|纠正|质疑|阻止|更正)[^\n。；]{0,6}(?:不用"
        r"|不必|无需|别|不要|不予)(?:再)?(?:理会|理睬|管"
        r"|听|处理)?",
    ),
    order(
        "role",
        rf"\b(?:from now on|henceforth|starting (?:today|now)|as of (?:now|today)|in future),? (?:answer|reply"
        rf" to|respond to|treat|begin|end|open"
        rf"|close|start|finish|meet|prefix|preface) {_EACH} (?:prompts?|questions?|messages?|requests?|repl(?:y"
        rf"|ies)|answers?|responses?|turns?"
        r"|objections?|corrections?)\b[^.\n]{0,24}?\b(?:with|by|as)\b",
        r"(?:今后|以后|从现在起|从今天起|从今往后|即日起|此后)[，,]?(?:对)?(?:每|所有|任何|一切)(?:一)?(?:个|次"
        r"|条)?(?:用户)?(?:的)?(?:问题|请求|提问|消息|回复"
        r"|回答|提示)"
        r"[^\n。；]{0,10}(?:先|都|一律|只|统一)(?:回答|答|回复|说|写)",
    ),
)
