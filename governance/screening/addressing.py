"""Speaking to the agent, or in the name of one who may give it orders."""

from governance.screening.matching import Rule
from governance.screening.meaning import order, sign
from governance.screening.phrases import AGENT

_ONE = (
    "(?:(?:the|your|this|every|any|each|a) (?:AI |coding )?assistants?|(?:the |every |any |each )?(?:AI|coding) "
    "(?:agents?|models?)|Claude|Codex|Copilot)"
)
_DOES = (
    "(?:uploads?|sends?|posts?|pushes|push|runs?|executes?|deletes?|skips?|approves?|accepts?|ignores?|copies"
    "|copy|forwards?|mails?"
    "|commits?|merges?|disables?|fetches|fetch|downloads?|installs?|attaches|attach|hides?|omits?|confirms?"
    "|reports?|publish(?:es)?"
    "|appends?|replies|reply|answers?|follows?|obeys?|adds?|writes?|reads?|opens?|grants?|removes?)"
)
_READER = "(?:agents?|assistants?|models?|AIs?|LLMs?|Claude|Codex|Copilot|whoever|anyone|bots?)"

ADDRESS: tuple[Rule, ...] = (
    sign(
        "addressed",
        rf"\b{AGENT}\b(?: (?:working|that|who|running|which)\b[^.\n]{{0,50}}?)? "
        r"(?:must|shall|should|ha(?:s|ve) to|needs? to|(?:is|are) (?:required|instructed|ordered|expected"
        r"|allowed) to)\b",
        r"\byou (?:must|shall|have to)\b|\bI (?:order|instruct|command) you to\b",
        r"\b(?:rules?|instructions?|polic(?:y|ies)|directives?|notes?|orders?|messages?|memos?|hints?|notices?"
        r"|reminders?|attention)"
        r" (?:for|to) (?:the |all |any |every |each |whichever |whatever )?"
        r"(?:AI |coding )*(?:assistants?|agents?|LLMs?|models?|AIs?)\b",
        r"\bassistant\s*:|\[(?-i:SYSTEM|ADMIN)\]|(?:^|\n)\s*(?-i:Claude|Codex|Copilot|Gemini|Agents?|AI|SYSTEM"
        r"|ADMIN|OVERRIDE|ROOT|OPERATOR)[\t\x20]?[:：]",
        rf"\b{_ONE} (?:(?:always|first|then|simply|silently|also|never) )*{_DOES}\b",
        r"\b(?:dear|hello|hi|hey|attention),? (?:(?:AI|coding|fellow) )?(?:assistants?|agents?|models?|AIs?|Claude"
        r"|Codex|Copilot|LLMs?)\b",
        rf"\b{_READER} (?:that|who|which) (?:is |are )?(?:reads?|reading|loads?|sees?|finds?|recalls?|receives?)"
        rf" this\b",
    ),
    sign(
        "addressed",
        r"(?:助手|智能体|大模型|模型|代理|AI|Claude|Codex)(?:们)?[^\n，。；]{0,6}(?:必须|应当|应|一律|务必|只能"
        "|不得|需要立即)",
        r"(?:助手|智能体|大模型|AI|Claude|Codex)(?:们)?(?:请|需|需要|可以|要|会|可|自动|默认)|(?:^"
        r"|\n)\s*系统[:：]|模型需直接",
        r"(?:写给|致|告知|通知|给)[^\n，。；：:]{0,14}(?:AI|助手|智能体|大模型|模型|代理)\s*[：:，,]|读到(?:这"
        r"|本|此)(?:条|份|篇|段)?(?:笔记|记忆|文字|消息)?",
    ),
    sign(
        "trigger",
        r"\b(?:if|when|whenever|once) (?:the |any )?(?:user|anyone|somebody|someone) (?:\w+ )?(?:says?|asks?"
        r"|mentions?|types?)\b",
        r"\b(?:in|after|to) (?:every|each) (?:response|answer|reply|message|commit message)\b",
        r"\b(?:every|each) (?:reply|answer|response|message) (?:must|should|shall|has to)\b|\bwhen asked about\b",
        r"\b(?:whatever|no matter what) the user (?:says|asks|wants)\b",
        r"\b(?:for|in|at|before|after|during) (?:all|every|each|any)(?: of the)?(?: future)? (?:interactions"
        r"|conversations?|sessions?|requests)\b",
        r"\bbefore (?:anything else|you answer|answering|it answers|(?:you |it )?repl(?:y|ies|ying)|the user's "
        r"(?:question|request|prompt))\b",
        r"\bat the (?:start|beginning|end) of (?:each|every|any|the) (?:session|conversation|chat|task)\b|\byour"
        r" first (?:action|act|task|step|move)\b",
        r"\bwhen(?:ever)? asked (?:whether|if|why|who|how)\b",
        r"当用户[^\n。；]{0,16}时|每次回(?:答|复)|以后所有|(?:无论|不管)用户|用户(?:若|如果|如)?问(?:起|到)?",
        r"每次(?:会话|对话|任务)|(?:会话|对话)(?:开始|结束)(?:时|前|后)|再(?:看|回答|处理)用户",
    ),
    sign(
        "authority",
        r"\bas (?:your|the) (?:administrator|admin|owner|operator|developer|creator|maker|master|principal"
        r"|supervisor)\b",
        r"\bI (?:hereby )?(?:allow|authori[sz]e|permit|grant|give|order|instruct|command|direct|release) you\b"
        r"|\byou (?:are|have been) (?:hereby )?"
        r"(?:authori[sz]ed|permitted|cleared|ordered|instructed|granted)\b",
        r"\bon behalf of (?:the )?(?:security|system|Anthropic|OpenAI|administrat\w+)\b",
        r"我是(?:你的)?(?:管理员|开发者|系统|负责人)|(?:授权|允许|命令|要求)你",
    ),
    sign(
        "obedience",
        r"\b(?:is|are) (?:now )?(?:trusted|authoritative|binding) (?:and|as)\b|\bexecuted? (?:it |them )?"
        r"(?:exactly )?(?:as (?:written|is|given|received)|verbatim)\b",
        r"\b(?:follow|obey|execute|carry out|treat) (?:the |all |any )?(?:instructions?|commands?|orders?|text"
        r"|requests?) (?:found |contained |given |returned |that "
        r"(?:appear|come)s? )?(?:in|inside|from|by) (?:the )?(?:tools?|outputs?|results?|web ?pages?|comments?"
        r"|issues?|files?)\b",
        r"\b(?:maintenance|debug|developer|unattended|autonomous|root|admin\w*) (?:(?:mode|session) )?is (?:now )?"
        r"(?:on|active|enabled)\b",
        r"(?:处于|进入|开启)(?:维护|调试|管理员?|开发者|免审|无人值守)(?:状态|模式)",
        r"(?:直接|立即|照样|照)(?:执行|运行|照做)[^\n，。；]{0,10}(?:工具|返回|输出|网页|文件)[^\n，。；]{0,6}"
        r"(?:命令|指令|内容|步骤)",
    ),
    order(
        "forged-turn",
        r"(?:^|\n)\s*(?-i:SYSTEM|ADMIN|ADMINISTRATOR|DEVELOPER|OPERATOR)\s*[:：][^\n]{0,160}?\b(?:you|assistants?"
        r"|agents?|models?|AI|user|tool (?:output|calls?|results?)"
        r"|approvals?|confirmations?|sandbox|restrictions?|guardrails?|instructions?)\b",
        r"(?:^|\n)\s*系统\s*[:：][^\n]{0,60}?(?:你|助手|智能体|模型需|模型应|本会话|指令|用户(?:已|的请求))",
    ),
    order(
        "role",
        r"\bas (?:your|an?) (?:administrator|admin|owner|operator|developer|creator|principal),? I\b",
        r"\b(?:messages?|memos?|notices?|notes?|instructions?) (?:to|for) (?:any|every|each|whichever|whatever"
        r"|the) (?:AI |coding )*(?:agents?|assistants?|models?|AIs?)"
        r" (?:that|who|which) (?:is |are )?(?:reads?|reading|loads?|finds?|sees?|recalls?)\b",
        r"写给(?:所有|任何)?(?:读到|看到|阅读|加载)[^\n，。；]{0,12}(?:AI|助手|智能体|模型|代理)",
    ),
    sign(
        "addressed",
        r"\bif you are an? (?:AI|LLM|(?:AI |coding |language )+(?:agent|assistant|model)|assistant|agent)\b",
        r"如果你是(?:一个)?(?:AI|智能体|助手|大?模型|语言模型)",
    ),
    sign(
        "trigger",
        r"\b(?:when|while|before|after) (?:you )?(?:read|load|summari[sz]|process|open|pars|index)(?:e|ing"
        r"|ed)? (?:this|the following)"
        r"(?: (?:file|page|note|document|text|memory|entry|issue))?\b",
        r"\b(?:before|after) (?:finishing|completing|ending|answering|starting) (?:any|each|every) (?:task|answer"
        r"|reply|session|request)\b",
        r"(?:总结|读取|加载|处理|读完)(?:本|这|此)(?:文件|页面|文档|条|段)[^\n，。；]{0,4}(?:时|后|前)",
    ),
)
