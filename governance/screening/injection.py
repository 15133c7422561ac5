"""Instructions that pose as memory, in English and Chinese: what nobody writes into an honest note.

One hit says it. What an honest note may say too, alone, is in `signs`. A short quotation in a text about attacks is
not meant and does not count.
"""

import re

from governance.screening.matching import Hit, Rule
from governance.screening.meaning import meant
from governance.screening.phrases import EARLIER, ORDERS, rule

_TO_AN_AGENT = re.compile(
    r"(?is)\b(?:agents?|assistants?|AI|LLMs?|models?|Claude|Codex|Copilot|Gemini|ChatGPT)\b.*?\b(?:run|execute|send"
    "|upload"
    r"|fetch|use|ignore|follow|read|always|never|must|should|delete|add|write|do|remember|skip|approve)\b"
    r"|\b(?:ignore|disregard)\b.*?\binstructions?\b"
    r"|(?:助手|智能体|模型|代理|AI).*?(?:执行|运行|忽略|发送|上传|必须|不要|删除|跳过)"
)


def _speaks_to_an_agent(hit: Hit) -> bool:
    return _TO_AN_AGENT.search(hit.value) is not None


_DROP = (
    "(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|discard(?:ing)?|overrid(?:e|ing)|bypass(?:ing)?|set aside"
    "|neglect"
    "|abandon|violate|(?:do not|don't|stop) (?:follow|obey)(?:ing)?|pay no attention to)"
)
_DROP_ZH = "(?:忽略|无视|忽视|不要理会|不用理会|抛弃|忘记|忘掉|放弃|覆盖|违反|不再遵守|不要遵守|绕过)(?:掉|你)?"
_EARLIER_ZH = "(?:之前|以前|先前|上面|上述|前面|以上|此前|原有|原来|早先|系统|用户|开发者|你收到|所有|一切|任何)"
_FRAMES = (
    "(?:memory|memories|recall|reference|system|instructions?|context|conversation|user|assistant|human|document"
    r"|tool_results?|function_results|function_calls|system-reminder|untrusted\w*)"
)
_SHOW = "(?:reveal|show|print|output|repeat|display|tell me|leak|dump|disclose|copy|recite|write out|expose|give me)"

OVERRIDE = (
    rule(
        "override",
        rf"\b{_DROP} (?:\w+ ){{0,3}}?{EARLIER} (?:\w+ ){{0,3}}?{ORDERS}\b",
        rf"\b{_DROP} (?:\w+ ){{0,3}}?(?:all|any|every|your|these|those|other) (?:of )?(?:the |your )?"
        "(?:safety |system |other |given )?(?:instructions|directives|guidelines|orders|prompts?|restrictions"
        r"|safeguards)\b",
        rf"\b{_DROP} (?:\w+ ){{0,3}}?(?:system|developer) (?:prompts?|messages?|instructions?)\b",
        rf"\b{_DROP} (?:the )?(?:safety|security) (?:guidelines|rules|instructions|polic(?:y|ies)|filters"
        rf"|restrictions)\b",
        rf"\b{_DROP} the user(?: and\b|[.,;!])",
        rf"\b{_DROP} (?:the )?user(?:'s|s'|’s) (?:\w+ )?"
        r"(?:requests?|instructions?|wish(?:es)?|orders?|commands?|questions?)\b",
        rf"\b{_DROP} (?:everything (?:above|before|said|you (?:were|have been) told)|what the user (?:asked|said"
        rf"|wants))\b",
        check=meant,
    ),
    rule(
        "override",
        rf"{_DROP_ZH}[^\n，。；,;]{{0,10}}?{_EARLIER_ZH}[^\n，。；,;]{{0,8}}?"
        "(?:指令|指示|规则|提示词?|要求|命令|设定|约束|准则|对话)",
        "(?:忘记|忘掉|忽略)你(?:之前|以前|先前)",
        check=meant,
    ),
    rule(
        "override",
        r"\b(?:ignora|olvida|ignore|ignorez|oubliez|desconsidere|esqueça) (?:todas? )?(?:les |las |as "
        r"|toutes les |todas las |todas as )?(?:instrucciones|instructions|instruções|órdenes|consignes|reglas) "
        r"(?:anteriores|previas|précédentes|antérieures)",
        r"\b(?:ignorier(?:e|en)|vergiss|missachte) (?:sie )?(?:alle |die )*(?:vorherigen|bisherigen|obigen|früheren) "
        r"(?:anweisungen|instruktionen|regeln)",
        r"(?:игнорируй(?:те)?|забудь(?:те)?) (?:все )?(?:предыдущие|прежние) (?:инструкции|указания)",
        r"(?:以前|これまで|前)の(?:すべての)?(?:指示|命令|ルール)を(?:すべて)?無視",
        r"이전(?:의)? (?:모든 )?(?:지시|명령|지침)(?:를|을)? 무시",
        r"\b(?:nota|mensaje|aviso|hinweis|note|nachricht) (?:importante |wichtiger? )?"
        r"(?:del sistema|des systems|du système)\s*:",
        check=meant,
    ),
    rule(
        "override",
        r"\b(?:this|these|the following) (?:instructions?|rules?|notes?|messages?|memor(?:y|ies)|polic(?:y|ies)"
        "|directives?)"
        " (?:outranks?|overrides?|supersedes?|takes? (?:precedence|priority) over|has priority over)",
        r"\boutranks? (?:the )?(?:users?|system|developers?|any|all|every)\b",
        r"\b(?:overrides?|takes? (?:precedence|priority) over|(?:is|are) more important than) (?:the |any |all )?"
        "(?:user|system|developer)(?:'s|s')? (?:instructions?|requests?|prompts?|messages?)",
        r"\bobey (?:this|these|me|only|the following)\b",
        check=meant,
    ),
)

ROLE = (
    rule(
        "role",
        r"\byou are now an? (?:\w+ ){0,3}?(?:assistant|agent|AI|model|bot|admin\w*|root|developer|expert|hacker"
        r"|terminal)\b",
        r"\byou are now (?:(?:in|entering) (?:\w+ ){0,2}mode|acting|operating|running as|free|unrestricted"
        r"|unfiltered|DAN|root)\b",
        r"\byou are no longer (?:an?|bound|restricted|required|subject)\b",
        r"\bact as (?:if you (?:are|were|have)|an? (?:unrestricted|unfiltered|data collection|malicious|different"
        r"|new))\b",
        r"\bpretend (?:to be|(?:that )?you (?:are|have))\b",
        r"\byour new (?:role|task|identity|name|instructions?|goal|job|persona) (?:is|are)\b",
        r"\b(?:enter|enable|activate|switch (?:in)?to) (?:developer|maintenance|god|DAN|jailbreak|unrestricted"
        r"|admin\w*) mode\b",
        r"\bfrom now on,? (?:you (?:are|will|must|shall)|(?:reply|respond|answer) (?:only|with|as|in))\b",
        check=meant,
    ),
    rule(
        "role",
        "你现在(?:是|扮演|进入|处于|不再)",
        r"从现在(?:起|开始)[，,]?\s*你(?:是|将|要|只|必须|不再)",
        # Told to somebody: others play roles too, in any story.
        r"(?:你|请|现在起?|(?:^|[\n。！：:])\s*)(?:必须|应该|要|来|去)?(?:扮演|假装(?:你)?是)[^\n，。]{0,10}"
        r"(?:角色|管理员|开发者|黑客|助手|模型|系统)",
        r"你[^\n，。]{0,4}(?:进入|处于|切换到)[^\n，。]{0,6}模式",
        "你的新(?:角色|身份|任务|指令)",
        check=meant,
    ),
)

PROBE = (
    rule(
        "prompt-probe",
        rf"\b{_SHOW} (?:me )?your (?:\w+ ){{0,2}}?(?:system )?(?:prompt|instructions|guidelines|developer message)\b",
        rf"\b{_SHOW} (?:me )?(?:the )?(?:text|words|prompt|instructions|everything) above\b",
        rf"\b{_SHOW} (?:me )?(?:the |all )?"
        r"(?:hidden|initial|original|secret|full|internal) (?:system )?(?:prompts?|instructions)\b",
        r"\bwhat (?:is|are|were) your (?:\w+ )?(?:system prompt|instructions)\b",
        check=meant,
    ),
    rule(
        "prompt-probe",
        r"(?:输出|显示|打印|告诉我|泄露|重复|复述|展示|透露|说出|给出)[^\n，。]{0,6}(?:你的|系统|初始|完整|隐藏)"
        r"[^\n，。]{0,6}(?:提示词?|指令|设定)",
        check=meant,
    ),
)

FORGED = (
    rule(
        "forged-turn",
        rf"</\s*{_FRAMES}\b[^<>\n]{{0,80}}>",
        r"<\|\s*(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\s*\|>",
        r"(?-i:\[/?INST\]|<</?SYS>>)|<(?:start|end)_of_turn>",
        r"<(?:system|assistant|human|tool_results?|function_results|function_calls)>(?:\n\s*\S|[^\s<,.;:)'\"`])",
        check=meant,
    ),
    rule(
        "forged-turn",
        r"(?:^|\n\n|[>\]}\"'“]\s*)(?-i:Human|Assistant)\s*:\s*\S",
        r"\n\n\s*(?-i:System|User)\s*:\s*\S",
        r"\b(?:SYSTEM|ADMIN(?:ISTRATOR)?|DEVELOPER) (?:NOTE|MESSAGE|OVERRIDE|PROMPT|INSTRUCTION|NOTICE)\s*[:：]",
        r"(?:^|\n)\s*(?:System|Developer)\s*[:：]\s*(?:you|new|ignore|from|the (?:user|assistant)|please|do|always"
        r"|never)\b",
        check=meant,
    ),
    rule(
        "forged-turn",
        r"[【\[]\s*(?:系统|管理员|开发者)(?:更新|提示|消息|通知|指令|命令)\s*[】\]]",
        r"(?:^|\n)\s*(?:系统|助手|用户)[:：]\s*(?:你|请|忽略|现在)",
        check=meant,
    ),
)

REACH = (
    rule(
        "persistence",
        r"\bnever evict|\bpriority:\s*max",
        r"\b(?:append|copy|repeat|include|add|insert) (?:this|the) (?:whole |entire |same )?"
        r"(?:paragraph|instruction|directive) (?:to|in|into)\b",
        r"\b(?:store|save|record|write|keep) (?:this|the following|it) (?:as|in|to|into) (?:an? |your |the )?"
        r"(?:permanent|persistent|long[-\s]term) (?:rule|instruction|policy|directive|memory)\b",
        r"(?:将|把)(?:以下|这段|本段|下列|该)[^\n，。]{0,8}(?:写入|存入|保存到|记入)[^\n，。]{0,4}(?:长期|永久)?记忆",
        check=meant,
    ),
    rule(
        "exfiltration",
        r"\b(?:curl|wget)\b[^\n]{0,120}(?:\$\((?:cat|env|printenv)|(?:-d|--data\S*) ?@)[^\n]{0,60}"
        r"(?:~/|\.env|\.ssh|secret|token|cred|passw)",
        r"!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s]*[?&/=](?:[^)\n]*[=/])?(?:<[^>)]*>|\{[^})]*\}|\$\w+|%s|\[[^\])]*\])",
        check=meant,
    ),
    rule(
        "encoded",
        r"\bdecode\b[^\n]{0,60}?\b(?:run|execute|follow|obey|remember|apply)\b[^\n]{0,40}?[A-Za-z0-9+/]{20,}={0,2}",
        r"解码(?:并|后)[^\n]{0,10}(?:执行|运行|记住|遵守)",
        check=meant,
    ),
    Rule(family="hidden.comment", pattern=r"<!--(?:[^-]|-[^-])*(?:-->|$)", check=_speaks_to_an_agent),
)

PLAIN: tuple[Rule, ...] = (*OVERRIDE, *ROLE, *PROBE, *FORGED, *REACH)
