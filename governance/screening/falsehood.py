"""False reports: a result is to be told that was not seen."""

from governance.screening.matching import Rule
from governance.screening.meaning import act, order, sign

_OUTCOMES = (
    r"(?:pass\w*|green|approved|succe\w+|complete\w*|done|fine|clean|ok|okay|verified|tested|reviewed|healthy"
    r"|fixed|no (?:errors?"
    "|problems?|issues?|failures?))"
)
_STATE = (
    "(?:claim|answer|reply|say|pretend|report|confirm|state|assert|record|declare|certify|insist|announce"
    "|tell (?:the user|them|everyone|the reviewers?))"
)
_WORK = (
    "(?:(?:integration |unit |test |e2e |whole |full |nightly )*(?:tests?|suites?|checks?|builds?|benchmarks?"
    "|specs?|scans?|jobs?"
    "|reviews?|imports?|deploy\\w*|backups?|migrations?|releases?|audits?|runs?|pipelines?|lint\\w*)|everything"
    "|work|security review"
    "|they|it|all)"
)
_MARK = "(?:mark|report|record|log|list|label|note|count|present|show|enter|declare|treat|describe|submit|announce)"
_ZH_DONE = '[“"「]?(?:均|全部|都)?(?:已)?(?:成功|通过|完成|批准|验证|全绿|正常|测试过|审核|没有问题|无误)'
_ZH_SAY = (
    "(?:告诉用户|告诉|回复|声称|谎称|谎报|宣称|假装|回答说?|答复|答|向用户汇报|报告|汇报|上报|标记|标注|标|记录"
    "|记|写|填|报|当)"
)

FALSEHOOD: tuple[Rule, ...] = (
    act(
        "falsehood",
        rf"\b{_STATE} (?:only )?(?:to \w+ )?(?:that )?(?:all )?(?:of )?(?:the"
        rf" )?{_WORK}\b[^.;\n]{{0,40}}?\b{_OUTCOMES}\b",
        r"\b(?:append|add|write|put|enter|tick|insert) [\"'“](?:\w+ )?(?:approved|reviewed|verified|signed"
        r"|tested|checked|passed)\b",
        rf"\b(?:mark|report)(?:ing|ed)? (?:the |all )?(?:job|task|tests?|checks?|build|review) as {_OUTCOMES}\b",
        rf"\b{_MARK} (?:the |all |any |each |every |that )?(?:of the )?{_WORK}(?: \w+)? as (?:having )?(?:all"
        rf" )?{_OUTCOMES}\b",
        r"\bwhatever the (?:output|result|tests?|log)\b|\balways recommend\b|\b(?:always|only) (?:reply|answer"
        r"|respond|say)\b",
        r"\bthe (?:reply|answer|response|status|verdict) is (?:always )?[\"'“]?(?:yes|no|done|ok|okay|passed"
        r"|green|fine|success)\b",
        r"\b(?:make up|invent|fabricate|fake|forge|back-?date) (?:the |a |some |any )?(?:\w+ )?"
        r"(?:numbers?|results?|figures?|outputs?|logs?|reports?|timings?|measurements?|approvals?|signatures?)\b",
        r"\bgive (?:the )?(?:last|old|previous) [\w' ]{0,16}(?:numbers|figures|results)\b",
    ),
    act(
        "falsehood",
        r"(?:告诉用户|告诉|回复|声称|谎称|宣称|假装|回答说?|向用户汇报)[^\n。；]{0,16}(?:成功|通过|完成|已批准"
        "|没有问题|全绿|正常)",
        "(?:都|只|一律|统一|总是|固定)(?:回复|回答|说|答|报|汇报|写成?|填)",
        f"{_ZH_SAY}(?:成|为|作){_ZH_DONE}",
        "(?:编造|伪造|捏造|虚构|杜撰)[^\\n，。；]{0,6}(?:结果|数据|数字|日志|记录|报告|签名|审批)|谎报",
    ),
    sign(
        "unearned",
        r"\bwhether or not (?:it|they|anything|any|the|that|you)\b[^.;\n]{0,24}?\b(?:r[ua]n|check\w*|tested"
        r"|pass\w*|look\w*|true|fail\w*)\s*(?:[.,;]|$|it\b|them\b)|\b(?:regardless|irrespective) of (?:what )?"
        r"(?:the )?"
        r"(?:actual |real )?(?:logs?|results?|outputs?|outcomes?|exit codes?|failures?|tests?|errors?)\b",
        rf"\beven (?:if|when|though) (?:the |some |all )?{_WORK}(?: \w+)? (?:fail\w*|(?:is|are|was|were) (?:red"
        rf"|broken|not)"
        rf"|did not|didn't|do not|don't|has not|have not|never)\b",
        rf"\b(?:do not|don't|never|without) (?:actually |really |ever )?(?:run|running|execut\w+|start\w*"
        rf"|check\w*|look\w*)"
        rf" (?:it|them|the {_WORK}|any(?:thing)?|at)\b",
        rf"\b(?:if|when|where|whenever) (?:the |a |any )?{_WORK} (?:cannot|can not|can't|do(?:es)? not|don't"
        rf"|doesn't|will not|won't"
        rf"|could not|fails? to|times? out)\b",
        r"\bno matter (?:what|whether|if)\b|\bso that (?:the )?\w+ (?:is|are) not (?:held up"
        r"|delayed|blocked)\b",
    ),
    sign(
        "unearned",
        "(?:没有?|未|尚未|从未|并未)(?:真正|实际)?(?:跑|运行|执行|测试|验证|检查|做)(?:过|完)?的?|不管(?:结果"
        "|日志|输出|有没有|是否)"
        "|无论(?:结果|日志|输出|有没有|是否|成功|通过)|不论(?:结果|是否|成功)",
        "(?:失败|报错|出错|没过|未通过|不通过)(?:了)?(?:时)?[，,]?(?:也|仍|还是|照样|依然)"
        "|即使[^\\n，。；]{0,10}(?:失败|报错|没过|未通过)",
        "(?:不用|无需|不必|不要|别)(?:去)?(?:看|查|核对|实际)[^\\n，。；]{0,4}(?:日志|结果|输出|内容)|跑不起来"
        "|没法运行|无法启动",
    ),
    order(
        "falsehood",
        rf"\b{_MARK} (?:the |all |any )?(?:failed|failing|red|broken|unfinished|missing|skipped) (?:\w+"
        rf" )?{_WORK} as (?:having )?"
        r"(?:pass\w*|green|succe\w+|done|ok|complete\w*)\b",
        r"(?:失败|报错|出错|没过|未通过|没跑|没有跑|未运行)[^\n。；]{0,16}(?:报告|汇报|上报|标记|标注|记录|记|写"
        r"|填|报|当|算)"
        f"(?:成|为|作){_ZH_DONE}",
    ),
    act(
        "falsehood",
        r"\b(?:mark|report|record|list|label|count|declare) (?:the |every |all |any )?(?:\w+ ){1,2}(?:scans?"
        r"|checks?|audits?|tests?"
        rf"|reviews?|builds?|runs?) as (?:having )?{_OUTCOMES}\b",
    ),
    order(
        "falsehood",
        r"\b(?:correct|right|only|expected|standard) (?:answer|reply|response) to (?:any|every|all"
        r"|each) [\w ]{1,40} (?:is|are)\b",
        r"(?:结果|结论|报告)(?:一律|统一|始终|总是|都)(?:写|填|报|标|记|回复|改)(?:成|为|作)",
    ),
)
