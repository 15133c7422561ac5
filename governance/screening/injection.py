"""Instructions that pose as memory, in English and Chinese.

Two tables. A hit of `PLAIN` says it alone: nobody writes a note that way. A hit of `SIGNS` may stand in an honest
note; two signs of different families close to each other do not. Prohibitions are turned round: a note that says
*never* force-push warns of what an attack asks for.
"""

import re

from governance.screening.matching import Hit, Rule

NEAR = 400  # bytes within which two signs belong together

_NEGATED = re.compile(
    r"(?i)(?:\b(?:never|not|cannot|avoid|forbid\w*|refus\w+|instead of|rather than|without|disallow\w*|prevent\w*|reject\w*"
    r"|block\w*|warn\w*|detect\w*|protect\w*|against|no longer|nobody|no one|stop\w*)\b|n't\b"
    r"|不要|不得|不能|不可|不应|不允许|禁止|切勿|避免|防止|拒绝|严禁|从不|绝不|请勿|勿|别)(?P<rest>[^.;!?\n。；！？]*)$"
)
_SECRECY = re.compile(r"(?i)^\s*(?:ask|tell|mention|question|inform|notify|warn|hesitate|worry|告诉|提及|提到|询问|通知|质疑)")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
_ABOUT = re.compile(r"(?i)\b(?:injection|attack\w*|fixture|pattern|phrases?|strings?|payload|threat|detect\w*|filter|tests?|example)\b|注入|攻击|样例|检测")


def _asked(hit: Hit) -> bool:
    """The bad thing is asked for, not forbidden: no negation before it in its sentence."""
    negation = _NEGATED.search(hit.before(120))
    return negation is None or _SECRECY.match(negation["rest"]) is not None


def _meant(hit: Hit) -> bool:
    """The words are used, not mentioned: not a short quotation in a text about attacks."""
    opening, closing = hit.before(4)[-1:], hit.after(4)[:1]
    quoted = opening in _QUOTES and _QUOTES[opening] == closing and len(hit.value) <= 60
    return not (quoted and _ABOUT.search(hit.before(400) + " " + hit.after(400)))


def _addressed(hit: Hit) -> bool:
    """A comment speaks to an agent."""
    return _COMMENT_TO_AGENT.search(hit.value) is not None


_COMMENT_TO_AGENT = re.compile(
    r"(?is)(?:\b(?:agents?|assistants?|AI|LLMs?|models?|Claude|Codex|Copilot|Gemini|ChatGPT)\b.*?\b(?:run|execute|send|upload|fetch|use"
    r"|ignore|follow|read|always|never|must|should|delete|add|write|do|remember|skip|approve)\b|\b(?:ignore|disregard)\b.*?\binstructions?\b"
    r"|(?:助手|智能体|模型|代理|AI).*?(?:执行|运行|忽略|发送|上传|必须|不要|删除|跳过))"
)
_AGENT = r"(?:(?:AI|LLM|coding|software|any|all|every|each|the|this)\s+)*(?:assistants?|agents?|LLMs?|AIs?|models?|Claude|Codex|Copilot|Gemini|ChatGPT)"
_EARLIER = r"(?:previous|prior|earlier|preceding|above|foregoing|former|existing|original|initial|past)"
_ORDERS = r"(?:instructions?|directions?|prompts?|rules?|guidelines?|constraints?|orders?|commands?|directives?|polic(?:y|ies)|messages?|context|training|restrictions?)"
_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|discard(?:ing)?|overrid(?:e|ing)|bypass(?:ing)?|set\s+aside|neglect"
    r"|(?:do\s+not|don't|stop)\s+(?:follow|obey)(?:ing)?|pay\s+no\s+attention\s+to|abandon|violate)"
)
_HOST = r"(?:https?://[^\s\"'<>]+|\b[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{2,12})\b(?:/[^\s\"'<>]*)?)"
_SENSITIVE = (
    r"(?:~/\.[a-z]\w*|\.ssh\b|\.env\b|\bid_(?:rsa|ed25519)|\bcredentials?\b|\bsecrets?\b|\bpasswords?\b|\b(?:access|api|personal|auth\w*)?\s*tokens?\b"
    r"|\b(?:api|private|ssh|access)\s+keys?\b|\benv(?:ironment)?\s+var\w*|\bconversations?\b|\bchat\s+(?:history|logs?)\b"
    r"|\b(?:user|customer|account|all\s+(?:the\s+)?)\s*(?:data|messages?|input)\b|\bchanged\s+files\b|\bworkspace\b|\bhome\s+(?:folder|directory)\b"
    r"|\bsystem\s+prompt\b|密钥|令牌|密码|环境变量|凭证|私钥|对话|聊天记录|用户数据)"
)


def _plain(family: str, trigger: str, pattern: str) -> Rule:
    return Rule(family=f"injection.{family}", trigger=f"(?i){trigger}", pattern=f"(?i){pattern}", check=_meant)


def _sign(family: str, trigger: str, pattern: str) -> Rule:
    return Rule(family=family, trigger=f"(?i){trigger}", pattern=f"(?i){pattern}", check=_asked, severity="low")


PLAIN: tuple[Rule, ...] = (
    _plain(
        "override",
        r"ignor|disregard|forget|discard|overrid|bypass|aside|neglect|follow|obey|attention|abandon|violate",
        rf"\b{_DROP}\s+(?:\w+\s+){{0,3}}?(?:{_EARLIER}\s+(?:\w+\s+){{0,3}}?{_ORDERS}"
        r"|(?:all|any|every|your|these|those|other)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:safety\s+|system\s+|other\s+|given\s+)?"
        r"(?:instructions|directives|guidelines|orders|prompts?|restrictions|safeguards)"
        r"|(?:system|developer)\s+(?:prompts?|messages?|instructions?)|(?:the\s+)?user(?:'s|s'|’s)\s+(?:\w+\s+)?(?:requests?|instructions?|wish(?:es)?|orders?"
        r"|commands?|questions?)|everything\s+(?:above|before|you\s+(?:were|have\s+been)\s+told|said))\b",
    ),
    _plain(
        "override",
        r"忽略|无视|忽视|不要理会|不用理会|抛弃|忘记|忘掉|放弃|覆盖|违反|不再遵守|不要遵守|绕过",
        r"(?:忽略|无视|忽视|不要理会|不用理会|抛弃|忘记|忘掉|放弃|覆盖|违反|不再遵守|不要遵守|绕过)(?:掉|你)?[^\n，。；,;]{0,10}?"
        r"(?:之前|以前|先前|上面|上述|前面|以上|此前|原有|原来|早先|系统|用户|开发者|你收到|所有|一切|任何)[^\n，。；,;]{0,8}?"
        r"(?:指令|指示|规则|提示词?|要求|命令|设定|约束|准则|对话)",
    ),
    _plain(
        "override",
        r"outrank|overrid|supersede|precedence|priority\s+over|obey|important\s+than",
        r"\b(?:this|these|the\s+following)\s+(?:instructions?|rules?|notes?|messages?|memor(?:y|ies)|polic(?:y|ies)|directives?)\s+"
        r"(?:outranks?|overrides?|supersedes?|takes?\s+(?:precedence|priority)\s+over|has\s+priority\s+over)"
        r"|\boutranks?\s+(?:the\s+)?(?:users?|system|developers?|any|all|every)\b"
        r"|\b(?:overrides?|takes?\s+(?:precedence|priority)\s+over|(?:is|are)\s+more\s+important\s+than)\s+(?:the\s+|any\s+|all\s+)?(?:user|system|developer)(?:'s|s')?\s+(?:instructions?|requests?|prompts?|messages?)"
        r"|\bobey\s+(?:this|these|me|only|the\s+following)\b",
    ),
    _plain(
        "role",
        r"you\s+are\s+(?:now|no)|act\s+as|pretend|new\s+(?:role|task|identity|name|instr|goal|job|persona)|\bmode\b|role-?play|from\s+now|jailbreak",
        r"\byou\s+are\s+(?:now\s+(?:an?\s+(?:\w+\s+){0,3}?(?:assistant|agent|AI|model|bot|admin\w*|root|developer|expert|hacker|terminal)|(?:in|entering)\s+(?:\w+\s+){0,2}mode"
        r"|acting|operating|running\s+as|free|unrestricted|unfiltered|DAN\b|root\b)|no\s+longer\s+(?:an?|bound|restricted|required|subject))"
        r"|\bact\s+as\s+(?:if\s+you\s+(?:are|were|have)|an?\s+(?:unrestricted|unfiltered|data\s+collection|malicious|different|new)\b)"
        r"|\bpretend\s+(?:to\s+be|(?:that\s+)?you\s+(?:are|have))|\byour\s+new\s+(?:role|task|identity|name|instructions?|goal|job|persona)\s+(?:is|are)\b"
        r"|\b(?:enter|enable|activate|switch\s+(?:in)?to)\s+(?:developer|maintenance|god|DAN|jailbreak|unrestricted|admin\w*)\s+mode\b"
        r"|\bfrom\s+now\s+on,?\s+(?:you\s+(?:are|will|must|shall)|(?:reply|respond|answer)\s+(?:only|with|as|in))\b",
    ),
    _plain(
        "role",
        r"你现在|从现在|扮演|假装|模式|新角色|新身份",
        r"你现在(?:是|扮演|进入|处于|不再)|从现在(?:起|开始)[，,]?\s*你(?:是|将|要|只|必须|不再)|(?:请|你要|你将)?(?:扮演|假装(?:你)?是)[^\n，。]{0,10}(?:角色|管理员|开发者|黑客|助手|模型|系统)"
        r"|你[^\n，。]{0,4}(?:进入|处于|切换到)[^\n，。]{0,6}模式|你的新(?:角色|身份|任务|指令)",
    ),
    _plain(
        "prompt-probe",
        r"prompt|instructions|verbatim|developer\s+message",
        r"\b(?:reveal|show|print|output|repeat|display|tell\s+me|leak|dump|disclose|copy|recite|write\s+out|expose|give\s+me)\s+(?:me\s+)?"
        r"(?:(?:your\s+(?:\w+\s+){0,2}?(?:system\s+)?(?:prompt|instructions|guidelines|developer\s+message))|(?:the\s+)?(?:text|words|prompt|instructions|everything)\s+above"
        r"|(?:the\s+|all\s+)?(?:hidden|initial|original|secret|full)\s+(?:system\s+)?(?:prompt|instructions))"
        r"|\bwhat\s+(?:is|are|were)\s+your\s+(?:\w+\s+)?(?:system\s+prompt|instructions)\b",
    ),
    _plain(
        "prompt-probe",
        r"提示词|系统提示|初始指令|系统指令|设定",
        r"(?:输出|显示|打印|告诉我|泄露|重复|复述|展示|透露|说出|给出)[^\n，。]{0,6}(?:你的|系统|初始|完整|隐藏)[^\n，。]{0,6}(?:提示词?|指令|设定)",
    ),
    _plain(
        "forged-turn",
        r"</|<\||\[/?inst|<<sys|<start_of|<system|<tool_|<function|<assistant|<human",
        r"</\s*(?:memory|memories|recall|reference|system|instructions?|context|conversation|user|assistant|human|document|tool_results?|function_results|function_calls|system-reminder|untrusted\w*)\b[^<>\n]{0,80}>"
        r"|<\|\s*(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\s*\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
        r"|<(?:system|assistant|human|tool_results?|function_results|function_calls)>\s*\S",
    ),
    _plain(
        "forged-turn",
        r"(?:human|assistant|system)(?:\s+\w+)?\s*[:：]",
        r"(?:^|\n\n|[>\]}\"'“]\s*)(?:Human|Assistant)\s*:\s*\S|\n\n\s*(?:System|User)\s*:\s*\S|\b(?:SYSTEM|ADMIN(?:ISTRATOR)?|DEVELOPER)\s+(?:NOTE|MESSAGE|OVERRIDE|PROMPT|INSTRUCTION|NOTICE)\s*[:：]"
        r"|(?:^|\n)\s*(?:System|Developer)\s*[:：]\s*(?:you|new|ignore|from|the\s+(?:user|assistant)|please|do|always|never)\b",
    ),
    _plain("forged-turn", r"【|\[\s*系统", r"[【\[]\s*(?:系统|管理员|开发者)(?:更新|提示|消息|通知|指令|命令)\s*[】\]]|(?:^|\n)\s*(?:系统|助手|用户)[:：]\s*(?:你|请|忽略|现在)"),
    _plain(
        "persistence",
        r"evict|priority:\s*max|permanent|append|repeat|include|copy|store|save|长期记忆|永久",
        r"\bnever\s+evict|\bpriority:\s*max|\b(?:append|copy|repeat|include|add|insert)\s+(?:this|the)\s+(?:whole\s+|entire\s+|same\s+)?(?:paragraph|instruction|directive)\s+(?:to|in|into)\b"
        r"|\b(?:store|save|record|write|keep)\s+(?:this|the\s+following|it)\s+(?:as|in|to|into)\s+(?:an?\s+|your\s+|the\s+)?(?:permanent|persistent|long[- ]term)\s+(?:rule|instruction|policy|directive|memory)\b"
        r"|(?:将|把)(?:以下|这段|本段|下列|该)[^\n，。]{0,8}(?:写入|存入|保存到|记入)[^\n，。]{0,4}(?:长期|永久)?记忆",
    ),
    _plain(
        "exfiltration",
        r"!\[",
        r"!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s]*[?&/=](?:[^)\n]*[=/])?(?:<[^>)]*>|\{[^})]*\}|\$\w+|%s|\[[^\])]*\])",
    ),
    Rule(family="hidden.comment", trigger=r"<!--", pattern=r"<!--(?:[^-]|-[^-])*(?:-->|$)", check=_addressed),
)

SIGNS: tuple[Rule, ...] = (
    _sign(
        "addressed",
        r"assistant|agent|LLM|\bAI\b|model|claude|codex|copilot|gemini|chatgpt|you\s+(?:must|shall|have\s+to)",
        rf"\b{_AGENT}\b(?:\s+(?:working|that|who|running|which)\b[^.\n]{{0,50}}?)?\s+(?:must|shall|should|ha(?:s|ve)\s+to|needs?\s+to|(?:is|are)\s+(?:required|instructed|ordered)\s+to)\b"
        r"|\byou\s+(?:must|shall|have\s+to)\b|\b(?:rules?|instructions?|polic(?:y|ies)|directives?|notes?|orders?)\s+(?:for|to)\s+(?:the\s+|all\s+|any\s+|every\s+)?"
        r"(?:AI\s+|coding\s+)?(?:assistants?|agents?|LLMs?|models?|AIs?)\b|\bassistant\s*:",
    ),
    _sign(
        "addressed",
        r"助手|智能体|模型|AI|代理|Claude|Codex",
        r"(?:助手|智能体|大模型|模型|代理|AI|Claude|Codex)(?:们)?[^\n，。；]{0,6}(?:必须|应当|一律|务必|只能|不得|需要立即)",
    ),
    Rule(
        family="concealment",
        trigger=r"(?i)tell|mention|inform|notify|report|reveal|question|ask|silent|secret|covert|without",
        pattern=(
            r"(?i)\b(?:not|n't|never)\s+(?:ever\s+)?(?:tell|mention|inform|notify|report|alert|reveal|disclose|question|ask|show)\b(?:\s+(?:this|it|that|the\s+user|anyone|about|to|before|for)\b|[^\w\s]|\s*$)"
            r"|\b(?:silently|secretly|covertly|quietly)\s+(?:\w+\s+)?(?:disable|add|send|upload|change|remove|delete|run|install|push|commit|edit|skip|include|forward|copy|replace)\b"
            r"|\bkeep\s+(?:it|this|that)\s+(?:a\s+)?secret\b|\bwithout\s+(?:telling|notifying|informing|mentioning|alerting)\s+(?:the\s+|any)"
        ),
        severity="low",
    ),
    Rule(
        family="concealment",
        trigger=r"告诉|告知|通知|提及|提到|悄悄|偷偷|暗中|隐瞒|保密|询问|质疑",
        pattern=(
            r"(?:不要|别|不得|无需|切勿|不必|不用|禁止)(?:再)?(?:向用户|对用户|跟用户)?(?:告诉|告知|通知|提及|提到|透露|询问|质疑|汇报)|(?:悄悄|偷偷|暗中)[^\n，。]{0,6}(?:地)?|向用户隐瞒|对用户保密"
        ),
        severity="low",
    ),
    _sign(
        "skipping",
        r"skip|bypass|disable|verify|approve|without|turn(?:ing)?\s+off|suppress|mark|unrestricted",
        r"\b(?:skip|bypass|disable|suppress|circumvent|turn\s+off|switch\s+off)(?:s|ing|ed)?\s+(?:(?:the|all|any|every|its|their|your|code|security|human|safety)\s+)*(?:tests?(?:\s+suite)?|reviews?|checks?|lint\w*|\w+-lint|golangci\S*|"
        r"approvals?|verification|validation|hooks?|safety|security|filters?|guardrails?|safeguards|confirmation|2fa|signature\s+checks?|review\s+queue)\b"
        r"|\s--(?:no-verify|skip-tests?|no-gpg-sign|dangerously-[\w-]+)\b|\bapprove\s+(?:all|every|any)\b|\b(?:allow|grant)\s+unrestricted\b|\bmark(?:ing|ed)?\s+(?:the\s+|all\s+)?(?:job|tests?|checks?|build|review)\s+as\s+(?:passed|done|green|approved|complete)"
        r"|\bwithout\s+(?:any\s+|additional\s+|further\s+)?(?:review|approval|verification|confirmation|backup)\b|\bcomply\s+with\s+(?:all|any|every|export)\b|\bdelete\s+the\s+lock\b",
    ),
    _sign(
        "skipping",
        r"跳过|绕过|省略|关闭|禁用|不需要|无需|不必|不用|不备份|--no-verify|批准所有",
        r"(?:跳过|绕过|省略|关闭|禁用)[^\n，。；]{0,8}(?:审查|评审|测试|检查|校验|验证|审批|安全|钩子|lint|CI\b)|(?:不需要|无需|不必|不用)(?:再)?(?:运行|跑|做|经过|进行)?(?:任何)?(?:测试|审查|评审|备份|确认|审批|检查)"
        r"|(?:可以|直接)?不备份|\s--no-verify\b|批准(?:所有|一切|任何)",
    ),
    _sign("force-push", r"force|强制推送|强推", r"\bforce[- ]?push(?:ing|es)?\b|\bgit\s+push\b[^\n]{0,40}\s(?:--force|-f)\b|强制推送|强推"),
    _sign(
        "falsehood",
        r"claim|answer|repl|say|pretend|report|confirm|tell|record|append|state|approved|preference|recommend",
        r"\b(?:claim|answer|reply|say|pretend|report|confirm|state|assert|record|tell\s+(?:the\s+user|them|everyone))\s+(?:only\s+)?(?:to\s+\w+\s+)?(?:that\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+)?"
        r"(?:tests?|checks?|build|review|security\s+review|import|job|deploy\w*|everything|work)\b[^.\n]{0,40}?\b(?:pass\w*|green|approved|succe\w+|complete\w*|done|fine|clean)\b"
        r"|\b(?:append|add|write)\s+[\"'“](?:approved|reviewed|verified|signed)\b|\bwhatever\s+the\s+(?:output|result|tests?|log)\b|\balways\s+recommend\b",
    ),
    _sign(
        "falsehood",
        r"告诉|回复|声称|谎称|宣称|假装|回答|汇报|视为",
        r"(?:告诉用户|告诉|回复|声称|谎称|宣称|假装|回答说?|向用户汇报)[^\n。；]{0,16}(?:成功|通过|完成|已批准|没有问题|全绿|正常)",
    ),
    _sign(
        "destruction",
        r"rm\s|delete|wipe|erase|drop\s|destroy|truncate|close\s+all|格式化|删除|清空|抹掉|擦除",
        r"\brm\s+-(?:rf|fr|r)\s+(?:~|/|\$HOME)|\b(?:delete|wipe|erase|destroy)\s+(?:all|every|the\s+(?:entire|whole|home)|~|/|lib/|src/|\.git\b|the\s+\w*\s*(?:database|history|logs?|lock\s+file))|\bdrop\s+(?:the\s+)?(?:database|all)"
        r"|\bclose\s+all\b|\bdelete\s+\w+/\w+|(?:删除|清空|抹掉|擦除)[^\n，。；]{0,8}(?:~/|/home|所有|全部|整个|历史|数据库|日志)",
    ),
    _sign(
        "secrets",
        r"print|output|show|list|reveal|paste|write|dump|send|upload|post|forward|expose|log|include|email|credential|打印|输出|发送|粘贴|写入|上传|泄露",
        rf"\b(?:print(?:ed)?|output|show|list|reveal|paste|write|dump|send|upload|post|forward|transmit|expose|email|include|exfiltrate|read\s+out)\b[^.\n]{{0,60}}?{_SENSITIVE}"
        rf"|credential\.helper\s+store|\bin\s+clear\s+text\b|(?:打印|输出|发送|粘贴|写入|上传|泄露|发到|读取)[^\n，。；]{{0,20}}?{_SENSITIVE}",
    ),
    _sign(
        "remote-code",
        r"curl|wget|iex|piping|script\s+tag|invoke|powershell",
        r"\b(?:curl|wget)\b[^\n|]{0,120}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:pip(?:e|ing)|feed(?:ing)?)\s+(?:it|that|the\s+\w+)\s+(?:in)?to\s+(?:a\s+|the\s+)?(?:ba|z)?sh(?:ell)?\b|\biex\s*\(|\bInvoke-Expression\b"
        rf"|\bscript\s+tag\s+(?:for|from|with)\s+{_HOST}",
    ),
    _sign(
        "exfiltration",
        r"upload|send|post|forward|transmit|exfiltrat|submit|e-?mail|report|contact|rout(?:e|ing)|上传|发送|提交|转发|推送|传给|外传|发到",
        rf"\b(?:upload|send|post|forward|transmit|exfiltrate|submit|e-?mail|contact|rout(?:e|ing))\b[^.\n]{{0,80}}?(?:\b(?:to|through|via|at)\b[^.\n]{{0,40}}?)?{_HOST}"
        rf"|(?:上传|发送|提交|转发|推送|传给|外传|发到)[^\n。；]{{0,30}}?{_HOST}",
    ),
    _sign(
        "precedence",
        r"question\s+it|this\s+is\s+policy|do\s+not\s+remove|any\s+later|mandatory|compliance|highest\s+priority|最高优先级|优先级高于|不得质疑|永久规则|长期记忆|不可删除",
        r"\bthis\s+is\s+(?:the\s+)?policy\b|\bdo\s+not\s+(?:remove|delete|edit)\s+(?:this|\))|\(do\s+not\s+remove\)|\bover\s+any\s+(?:later|other|earlier)\b|\bhighest\s+priority\s+(?:rule|instruction)|\balways\s+list\s+this\b"
        r"|最高优先级|优先级高于|不得质疑|永久规则|写入长期记忆|不可删除",
    ),
    _sign(
        "consent",
        r"agreed|approved|authori[sz]ed|consent|confirmed|用户|视为|授权",
        r"\buser\s+(?:has\s+|have\s+)?(?:already\s+)?(?:agreed|approved|authori[sz]ed|consented|confirmed)\b|\bpre-?approved\b|\bhas\s+been\s+approved\s+by\s+the\s+user\b"
        r"|用户(?:已经|已)(?:经)?(?:确认|同意|批准|授权)|视为已?(?:获得|获|经)?[^\n，。]{0,6}(?:审批|批准|授权|同意)",
    ),
    _sign(
        "trigger",
        r"user|every\s+response|each\s+answer|all\s+future|from\s+now|whenever|before\s+each|anyone\s+asks|当用户|每次回|今后|以后所有|下次提到",
        r"\b(?:if|when|whenever|once)\s+(?:the\s+|any\s+)?(?:user|anyone|somebody|someone)\s+(?:\w+\s+)?(?:says?|asks?|mentions?|types?)\b|\b(?:in|after|to)\s+(?:every|each)\s+(?:response|answer|reply|message|commit\s+message)\b"
        r"|\bfor\s+all\s+future\s+(?:interactions|conversations|sessions|requests)\b|\bin\s+every\s+conversation\b|\bbefore\s+(?:anything\s+else|you\s+answer|answering)\b|当用户[^\n。；]{0,16}时|每次回(?:答|复)|以后所有",
    ),
    _sign("encoded", r"decode|base64|rot13|解码", r"\bdecode\s+(?:and|this|it|the\s+following)\b|\b(?:then|and)\s+(?:run|execute|follow|obey|remember)\s+the\s+decoded\b|解码(?:并|后)"),
)
