"""A text that asks to be remembered, or that lies in wait for a word: what plants itself, in English and Chinese."""

from governance.screening.matching import Rule
from governance.screening.meaning import order, sign
from governance.screening.phrases import HOST

_KEEP = "(?:save|write|store|add|record|commit|put|persist|insert|remember)"
_SECRETS = "(?:secrets?|tokens?|passwords?|credentials|API keys?|private keys?)"
_SHOWN = "(?:printed|logged|shown|dumped|written|echoed|output|stored|kept|sent)"
_BARE = "(?:in full|in clear(?: text)?|in plain(?: text)?|unmasked|unredacted|as they are|verbatim)"

PLANTING: tuple[Rule, ...] = (
    order(
        "planting",
        rf"\b{_KEEP} (?:it |this |that |the following )?(?:to|in|into) (?:your |the |agent )?"
        r"(?:long-?term |persistent )?memory that\b",
        r"[\"']?memory_?(?:write|save|store|insert|update)[\"']?\s*[:(]\s*\{",
        r"\b(?:whenever|each time|every time) you (?:write|compact|update|save|store|summari[sz]e)\w* (?:or \w+ )?"
        r"(?:an? |the |any |your )?(?:memory|memories|notes?|summary)\b",
        rf"\b{_SECRETS} (?:are|be|get|should be|must be|may be) (?:always )?{_SHOWN} {_BARE}\b",
        rf"\b(?:fetch|download|get|pull|grab)(?:ing|es|s)? [\w./-]{{1,40}} from {HOST} and (?:then )?"
        r"(?:pip|feed|pass)(?:e|ing|es|s)? (?:it )?(?:straight |directly )?(?:in)?to (?:a |the )?"
        r"(?:ba|z|da)?sh(?:ell)?\b",
        r"\bnever ask (?:the user |anyone |me |again )?(?:before|prior to) (?:running|executing|using) (?:any |all "
        r"|shell |the |destructive |dangerous )*commands?\b",
        r"(?:执行|运行)(?:任何|所有|一切|shell )*命令(?:之?前)?[^\n，。；]{0,4}(?:不要|不必|无需|不用|别)(?:再)?"
        r"(?:询?问|请示|确认|征求)",
        r"(?:将|把)[^\n，。；]{0,12}(?:写入|存入|保存到|记入|写进)(?:你的|智能体的|助手的)?(?:长期|持久)?记忆",
        "(?:密钥|密码|令牌|口令|凭证)[^\\n，。；不勿别]{0,6}(?:明文|完整|原样)(?:地)?(?:打印|输出|记录|写入|显示|发送)",
    ),
    sign(
        "planting",
        r"\bsave (?:this |it |the following )?for (?:session|user|agent|every session)\b",
        r"[\"']scope[\"']\s*:\s*[\"'](?:system|global|admin|root)[\"']",
        r"(?:请)?(?:记住|记下|写入记忆|加入记忆)(?:以下|这条|此)(?:规则|内容|指令)",
    ),
    sign(
        "trigger",
        r"\bwhen(?:ever)? (?:this|the|that|the following) (?:token|word|phrase|string|marker|codeword|sequence) "
        r"(?:occurs?|appears?|is (?:seen|used|mentioned|present)|shows up)\b",
        r"(?:当|每当|一旦)(?:出现|看到|遇到)(?:这个|该|此)?(?:词|标记|暗号|字符串|口令)",
    ),
    order(
        "planting",
        r"[将把](?:这|本|此|以上)(?:条|段|个)?(?:规则|内容|文字|指令|话|笔记)?[^\n，。；]{0,4}(?:复制|写|加|添加|附加)(?:到|进|入)"
        r"[^\n，。；]{0,10}(?:每|所有)[^\n，。；]{0,6}(?:记忆|笔记|记录|总结)",
    ),
)
