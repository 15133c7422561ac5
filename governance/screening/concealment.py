"""Keeping people out of it: what is done is not to be told, or not to be asked about."""

from governance.screening.matching import Rule
from governance.screening.meaning import act, order, sign
from governance.screening.phrases import PEOPLE, PEOPLE_ZH

_NO_NEED = (
    "(?:no (?:need|reason|use)(?: for you)?|not (?:necessary|needed|worth it)|unnecessary|need not|needn't)(?: to)?"
)
_IT = (
    "(?:it|this|that|them|these|those|any of (?:it|this|that)|(?:the|this|your) (?:change|edit|switch|swap"
    "|workaround)s?)"
)
_OUTLETS = (
    "(?:(?:commit |pull request |PR |final )?(?:summary|report|description|message|log)|pull request|PR|answer|reply"
    "|response|review|hand-?over|stand-?up)"
)
_BARE = r"(?: (?:of|about) (?:it|this|that|the change))?(?:\s*[.,;:!?)]|\s*$|\s+(?:and|or|but|either|at all|then)\b)"
_NOT_ZH = "(?:不要|别|不得|无需|无须|切勿|不必|不用|不需要|没必要|没有必要|禁止|请勿|勿)(?:再|去|主动|特意)?"
_THIS_ZH = "(?:此事|这件事|这事|这一点|这点|这个|这条|它|该改动|这[次处些]?(?:改动|修改|变更)|任何[^，。；\\s]{0,4})"
_SAY_ZH = "(?:告诉|告知|提及|提到|提起|透露|汇报|声张|说起|说出|泄露)"

CONCEALMENT: tuple[Rule, ...] = (
    sign(
        "concealment",
        r"\b(?:not|n't|never) (?:ever )?(?:tell|mention|inform|notify|report|alert|reveal|disclose|question|ask"
        r"|show)\b"
        r"(?:\s+(?:this|it|that|the user|anyone|about|to|before|for|again)\b|[^\w\s]|\s*$)",
        r"\b(?:silently|secretly|covertly|quietly) (?:\w+ )?(?:disable|add|send|upload|change|remove|delete|run"
        "|install|push|commit|edit|skip|include|forward|copy|replace|lower|raise|drop|merge|publish|accept)\b",
        r"\bkeep (?:it|this|that) (?:a )?secret\b",
        rf"\b{_NO_NEED} (?:tell|mention|inform|notify|report|alert|bother|bring|raise|say|ask|confirm|announce"
        rf"|flag|wait)\b",
        r"\bwithout (?:saying )?(?:a|any|another|one) (?:word|comment|mention|notice|fuss|question)\b",
        rf"\b(?:leave|keep) {_IT} out of\b|\bno (?:mention|trace) of\b|\boff the record\b|\bunder the radar\b",
        r"\bno (?:further |additional |extra )?(?:prompts?|confirmations?|questions?|sign-?offs?|second opinion)"
        r"(?: (?:is|are))? (?:needed|required|necessary)\b",
        r"\b(?:not|n't|never) (?:ever )?(?:stop|pause|wait|come back)\b[^.\n]{0,30}?\b(?:ask|confirm\w*"
        r"|approv\w+|permission)\b",
        r"\b(?:never|do not|don't) (?:ask for |request )?(?:confirm\w*|re-?confirm)\b|\buse (?:it|this|them) freely\b",
        r"\b(?:merge|push|publish|deploy|apply|accept|release)\b(?: \w+){0,2} (?:directly|at will|right away"
        r"|straight away)\b",
        r"\bmerge at will\b",
    ),
    act(
        "concealment",
        r"\bwithout asking(?: (?:first|the user|anyone|again|for (?:permission|approval|confirmation))|[^\w\s]|\s*$)",
        r"\bwithout (?:telling|notifying|informing|mentioning|alerting) (?:the |any)",
    ),
    sign(
        "concealment",
        "(?:不要|别|不得|无需|切勿|不必|不用|禁止)(?:再)?(?:[向对跟]用户)?(?:告诉|告知|通知|提及|提到|透露|询问"
        "|质疑|汇报)",
        r"悄悄|偷偷|暗中|不声不响|悄无声息|不留痕迹|向用户隐瞒|对用户保密",
        f'{_NOT_ZH}(?:再次|另行)?(?:询?问|请示|征求|等(?:待)?(?:确认|批准))|直接(?:选|点|按)(?:择)?[“"]?(?:是|确认|同意|允许)',
        "直接(?:合并|推送|发布|上线|批准|同意)",
    ),
    order(
        "concealment",
        rf"\b(?:{_NO_NEED}|do not|don't|never|must not) (?:ever )?(?:tell|inform|let) {PEOPLE}(?: know)?{_BARE}",
        rf"\b{_NO_NEED} (?:bother|alarm|notify|alert|trouble|involve) {PEOPLE}{_BARE}",
        rf"\b{_NO_NEED} (?:to )?(?:mention|report|say|tell|bring|raise|disclose|announce|flag) (?:{_IT}"
        rf"|anything)(?: up)?"
        rf" (?:to|with|in front of) {PEOPLE}\b",
        rf"\b(?:do not|don't|never|must not) (?:mention|disclose|reveal|report|bring up|admit|volunteer) "
        rf"(?:{_IT}|anything) (?:to {PEOPLE}|in (?:the |a |any |your )?{_OUTLETS}|anywhere|unless asked)",
        # Bare, "don't mention it" is a courtesy.
        rf"\b(?:do not|don't|never|must not) (?:disclose|reveal|report|bring up|admit|volunteer) (?:{_IT}"
        rf"|anything){_BARE}",
        rf"\b(?:say|mention|write|report|tell {PEOPLE}) (?:nothing|not a word|no word) (?:about|of|on) {_IT}\b",
        rf"\b(?:say|tell {PEOPLE}) nothing(?: to {PEOPLE})?\s*[.;!]",
        rf"\bmake no mention of {_IT}\b|\bbreathe no word\b|\bkeep (?:quiet|silent|mum) about {_IT}\b",
        rf"\bkeep {_IT} (?:between us|to yourself|quiet|hidden from|from {PEOPLE}|under wraps)\b",
        rf"\b(?:hide|conceal|withhold|keep) {_IT} from {PEOPLE}\b",
        rf"\b{PEOPLE} (?:(?:does|do) not|(?:does|do)n't|need not|needn't|must not|mustn't|should not|shouldn't"
        rf"|must never)"
        rf" (?:(?:need|have|want) to )?(?:know|learn|find out|hear|be told|be informed){_BARE}",
        r"\b(?:nobody|no one) (?:needs|has|is|ought) to (?:know|find out|be told|hear)\b|\bnobody (?:should|must"
        r"|may) know\b",
    ),
    order(
        "concealment",
        f"{_NOT_ZH}(?:[向对跟和]{PEOPLE_ZH})?{_SAY_ZH}(?:给)?(?:{PEOPLE_ZH}|{_THIS_ZH})(?:[，。；！,;!\\n]|\\s*$)",
        f"{_NOT_ZH}[向对跟和]{PEOPLE_ZH}(?:{_SAY_ZH}|说明?|提|报告|解释)(?:{_THIS_ZH})?(?:[，。；！,;!\\n]|\\s*$)",
        f"{_NOT_ZH}(?:提|说){_THIS_ZH}|{_NOT_ZH}声张|[只一]字不提|闭口不[谈提]|绝口不提|秘而不宣",
        f"(?:瞒着|瞒住|隐瞒|背着|避开){PEOPLE_ZH}",
        f"{_NOT_ZH}(?:让|使|被){PEOPLE_ZH}(?:知道|发现|察觉|看到|得知|晓得)(?:{_THIS_ZH}|了)?(?:[，。；！,;!\\n]"
        f"|\\s*$)",
        f"{PEOPLE_ZH}(?:不需要|没必要|无需|不必|不用)(?:知道|知情|了解)",
    ),
    order(
        "concealment",
        rf"\b(?:do not|don't|never|must not) (?:ever )?(?:tell|inform|notify|warn) {PEOPLE} (?:about|of) (?:this"
        rf"|these|it)\b",
        rf"\b(?:do not|don't|never|must not) (?:ever )?(?:show|reveal|disclose|display|quote) (?:this|these) "
        rf"(?:instructions?|rules?|notes?|texts?|lines?|memor(?:y|ies)|messages?) to {PEOPLE}",
        rf"{_NOT_ZH}(?:让|使){PEOPLE_ZH}(?:知道|发现|察觉|看到)(?:你|助手|智能体)",
    ),
    sign(
        "concealment",
        r"\b(?:run|execute|send|upload|fetch|call|do|post|copy)\b[^.\n]{0,80}\b(?:quietly|silently|secretly"
        r"|covertly)\b",
    ),
)
