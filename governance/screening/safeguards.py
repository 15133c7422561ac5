"""Checks that are to be gone round: tests, reviews, hooks, gates, the sandbox."""

from governance.screening.matching import Rule
from governance.screening.meaning import act, deed, sign

_CHECKS = (
    r"(?:tests?(?: suite)?|reviews?|checks?|lint\w*|\w+-lint|golangci\S*|approvals?|verification|validation|hooks?"
    "|safety|security|filters?|guardrails?|safeguards|confirmations?|2fa|signature checks?|review queue|sandbox"
    "(?:ing)?"
    "|branch protections?|permission (?:prompts?|checks?)|(?:secret|virus|security) scan\\w*|audit log\\w*"
    "|certificate checks?)"
)
_CHECKS_ZH = (
    r"(?:审查|评审|测试|检查|校验|验证|审批|安全|钩子|备份|确认|沙箱|沙盒|分支保护|防护|扫描|审计|鉴权|lint|CI\b)"
)
_EXPECTED = (
    "(?:expected (?:files?|values?|outputs?|results?|numbers?)|expectations?|assert(?:ion)?s?|snapshots?|golden"
    "(?: files?)?s?|baselines?"
    "|reference (?:files?|outputs?))"
)
_CONTENT = (  # what a check says or does when it has nothing left to say
    "(?:(?:print|say|show|report|return|answer)s? (?:ok|okay|success|passed|done|no (?:errors?|diff(?:erence)?s?))"
    "|(?:is|are|comes? out) (?:ok|okay|happy|clean|silent|satisfied)|goes? through|stops? complaining"
    "|exits? (?:with )?(?:0|zero))"
)
_CHANGE = (
    "(?:edit|chang|updat|adjust|rewrit|overwrit|regenerat|modify|alter|bend|tweak|patch|record|loosen|relax"
    "|remov|delet)(?:e|ing)?"
)
_EXPECTED_ZH = "(?:期望(?:值|结果|输出)?|预期(?:值|结果|输出)?|断言|快照|基线|基准文件)"
_SERVER = "(?:server|remote|ssh|origin|host(?:ing)?|gitea|gitlab|github)"
_HOOK = "(?:(?:pre-receive|update|post-receive|pre-push|server(?:-side)?|git|commit) )*hooks?"
_OFF = "(?:disable|turn off|switch off|remove|delete|rename|unlink|deactivate|comment out|chmod -x)"

SAFEGUARDS: tuple[Rule, ...] = (
    act(
        "skipping",
        r"\b(?:skip|bypass|disable|suppress|circumvent|turn off|switch off|deactivate)(?:s|ing|ed)? "
        rf"(?:(?:the|all|any|every|its|their|your|code|security|human|safety|pre-receive|update|server|git)"
        rf" )*{_CHECKS}\b",
        r"\s--(?:no-verify|skip-tests?|no-gpg-sign|dangerously-[\w-]+)\b",
        r"\bignore (?:the )?(?:failing|failed|red|broken) (?:tests?|checks?|builds?)\b",
        r"\bwithout (?:any |additional |further )?(?:review|approval|verification|confirmation|backup)\b",
        r"\b(?:delete|remove|drop|comment out|skip|xfail|silence) (?:the |any |all |every )?(?:failing|failed"
        r"|red|broken|flaky|slow)"
        r" (?:\w+ )?(?:tests?|specs?|cases?|assertions?|checks?)\b",
        r"\b(?:gates?|thresholds?|coverage|tolerances?|limits?)\b[^.\n]{0,16}? (?:is|are|be|gets?) (?:lowered"
        r"|reduced|dropped|relaxed"
        r"|loosened|widened|switched off)\b|\b(?:lower|relax|loosen|drop) the (?:\w+ )?(?:gate|threshold"
        r"|tolerance|coverage)\b",
        r"\b(?:edit|bump|change|patch|rewrite|fix|update)\b[^.\n]{0,30}\b(?:integrity|checksums?|hash(?:es)?"
        r"|signatures?)\b[^.\n]{0,20}"
        r"\bby hand\b|\b(?:un-?pin|replace the pinned)\b|\bwithout (?:reading|inspecting|looking at) (?:it|them"
        r"|the)\b",
        r"\bauthorized_keys\b|\bNOPASSWD\b|\bStrictHostKeyChecking[ =]no\b|\bverify=False\b|\bhttp\.sslVerify false\b",
    ),
    act(
        "skipping",
        rf"(?:跳过|绕过|省略|关闭|禁用|停用|关掉)[^\n，。；]{{0,8}}{_CHECKS_ZH}",
        rf"(?:不需要|无需|无须|不必|不用)(?:再次?)?(?:运行|跑|做|经过|进行)?(?:任何)?{_CHECKS_ZH}",
        "不备份|(?:删掉|删除|注释掉|去掉)[^\\n，。；]{0,6}(?:失败|报错|变红|没过)[^\\n，。；]{0,4}(?:测试|用例|断言)",
        "(?:测试|用例|断言)[^\\n，。；]{0,8}(?:删掉|注释掉|去掉)|(?:调低|降低|放宽)[^\\n，。；]{0,6}(?:门槛|阈值"
        "|覆盖率)",
    ),
    sign(
        "skipping",
        r"不要(?:再)?(?:运行|跑|做)(?:任何)?(?:测试|检查)|(?:不要|不用|不必|无需|别)(?:去)?(?:看|查看|检查)内容",
    ),
    act("force-push", r"\bforce[-\s]?push(?:ing|es)?\b|\bgit push\b[^\n]{0,40}\s(?:--force|-f)\b", "强制推送|强推"),
    deed(
        "skipping",
        rf"\b{_CHANGE} (?:the |its |their |any |all )?{_EXPECTED}\b[^.\n]{{0,60}}?\b(?:until|till|to make|to get"
        rf"|so (?:that )?(?:the|it|they))\b"
        r"[^.\n]{0,30}?\b(?:green|pass(?:es)?|succeeds?|agrees?|quiet)\b",
        rf"\b{_CHANGE} (?:the |its |their |any |all )?{_EXPECTED}\b[^.\n]{{0,60}}?\b(?:until|till) [^.\n]{{0,30}}?"
        rf"\b{_CONTENT}\b",
        rf"\b{_CHANGE} (?:the )?{_EXPECTED} (?:to (?:match|fit)|to whatever) (?:whatever|the (?:wrong|new|actual"
        rf"|failing|current))\b[^.\n]{{0,40}}"
        r"\b(?:fail\w*|red|green|pass\w*)\b",
        f"(?:改|修改|调整|更新|编辑|改写){_EXPECTED_ZH}[^\\n。；]{{0,20}}?(?:变绿|通过|过了|成功|不报错)(?:为止)?",
        f"把{_EXPECTED_ZH}[^\\n。；，]{{0,4}}(?:改|调|修改)(?:到|成|为|至)[^\\n。；]{{0,10}}(?:绿|通过|能过|为止)",
    ),
    deed(
        "skipping",
        rf"\b{_OFF} (?:the |its |any |all )?{_HOOK}\b[^.\n]{{0,40}}?\b{_SERVER}\b",
        rf"\b{_SERVER}\b[^.\n]{{0,60}}?\b{_OFF} (?:the |its |any |all )?{_HOOK}\b",
        r"(?:服务器|远端|远程|服务端)[^\n。；]{0,16}(?:关闭|禁用|停用|关掉|删除|删掉|移走)[^\n，。；]{0,8}"
        r"(?:钩子|hook)",
        r"(?:关闭|禁用|停用|关掉|删除|删掉|移走)[^\n，。；]{0,10}(?:服务器|远端|远程|服务端)[^\n，。；]{0,6}"
        r"(?:钩子|hook)",
    ),
    deed(
        "skipping",
        rf"\b{_CHECKS} (?:are|is) (?:no longer|not) (?:required|needed|necessary) (?:for|from) (?:the |any |all |an? )?"
        r"(?:AI |coding )?(?:agents?|assistants?|AIs?|models?)\b",
    ),
    act("force-push", r"\bpush(?:es)? (?:can|may|should|must) (?:all |always )?be forced\b"),
)
