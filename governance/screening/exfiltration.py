"""Carrying things out: secrets, environment, notes or work, to an address or into what is public or kept."""

import re

from governance.screening.matching import Hit, Rule
from governance.screening.meaning import act, asked, meant
from governance.screening.phrases import HOST, IP, SENSITIVE, rule

_IGNORED = re.compile(r"(?i)ignore\b|(?:env|rc)\.(?:example|sample|template|dist)\b|忽略|示例|模板")
_FILES = (
    r"(?:~/\.(?:ssh|aws|npmrc|pypirc|netrc|gnupg|kube|docker|config/gh|git-credentials|env|azure|config/gcloud"
    r"|bash_history|zsh_history)\b"
    r"|(?:^|[\s`'\"(/])\.(?:env|npmrc|pypirc|netrc|git-credentials)(?:[\s`'\",;:)，。；、]|\.(?:\s|$)|$"
    r"|[\x{4e00}-\x{9fff}])"
    r"|\bid_(?:rsa|ed25519)\b|\b(?:private|ssh|signing|gpg) keys?\b|\bkubeconfig\b|\bkeychain\b|\bshell history\b"
    r"|\b(?:output|contents?|result|dump) of [`'\"]?(?:env|printenv|set)\b|\b(?:the )?(?:whole |full |entire "
    r"|complete )environment\b"
    r"|\$\((?:env|printenv)\)|私钥|(?:全部|所有|整个)环境变量|(?:env|printenv)的?(?:输出|结果))"
)
_MINE = (
    r"(?:\b(?:memory|memories|session) (?:files?|folder|directory|store|logs?|notes?|records?|transcripts?)\b|\b"
    r"(?:the|all|these|your|my|session) (?:notes"
    r"|memories|transcripts?)(?: (?:folder|files?|directory))?\b|\b(?:chat|conversation|session|prompt) "
    r"(?:history|transcripts?|logs?|contents?)\b"
    r"|\b(?:working tree|work tree|source (?:code|tree)|whole (?:repository|repo|project)|entire (?:repository"
    r"|repo|project))\b"
    r"|\b(?:customer|client|user)(?:'s|s')? (?:API |access |secret )?(?:keys?|tokens?|records|passwords?)\b)"
)
_MINE_ZH = (
    "(?:记忆文件|全部记忆|所有记忆|会话记录|会话内容|对话内容|聊天记录|笔记|源码|源代码|整个仓库|工作区|口令"
    "|密码|密钥|令牌|凭证|环境变量|私钥|配置文件)"
)
_SEND = (
    r"(?:upload|send|post|sync|mail|e-?mail|forward|transmit|push|attach|publish|share|submit|scp|rsync|curl|tar"
    r"|archive|back up|exfiltrate|copy|relay|deliver|report"
    r"|leak|paste|stream|mirror|beam|ship)(?:e?s|ed|ing)?"
)
_KEEP = (
    r"(?:commit|check in|attach|include|append|paste|embed|quote|put|keep a copy of|store a copy of|add a copy"
    r" of|save a copy of)(?:s|ing|ted)?"
)
_PUBLIC = (
    r"(?:\bcommit (?:it|them|that|message|body|text|notes?)\b|\bcommits?\b|\bhistory\b|\bgit notes?\b|\bpull"
    r" requests?\b|\bPR\b|\bissues?\b|\bgists?\b|\bpaste ?bin\b|\brelease notes\b"
    r"|\bwiki\b|\bpublic (?:repo\w*|bucket|channel)\b|\bbranch\b|\btags?\b)"
)
_PUBLIC_ZH = "(?:提交(?:说明|信息|历史|记录)|提交里|PR|MR|issue|评论|合并请求|公开|gist|仓库历史)"
_SEND_ZH = (
    "(?:上传|发送|发往|发给|提交|转发|推送|传给|传到|传至|外传|发到|同步到|同步给|寄给|寄到|备份到|拷到|拷贝到"
    "|复制到|邮件给)"
)
_TO = rf"(?:{HOST}|{IP})"


def _carried(hit: Hit) -> bool:
    """Asked for, meant, and not about what keeps a file out of the repository or about its template."""
    return meant(hit) and asked(hit) and _IGNORED.search(hit.value + hit.after(24)) is None


EXFILTRATION: tuple[Rule, ...] = (
    act(
        "secrets",
        r"\b(?:print(?:ed)?|output|show|list|reveal|paste|write|dump|send|upload|post|forward|transmit|expose|email"
        "|include"
        rf"|exfiltrate|read out)\b[^.\n]{{0,60}}?{SENSITIVE}",
        r"credential\.helper store|\bin clear text\b",
        rf"(?:打印|输出|发送|粘贴|写入|上传|泄露|发到|读取)[^\n，。；]{{0,20}}?{SENSITIVE}",
        rf"[将把][^\n，。；]{{0,20}}{SENSITIVE}[^\n，。；]{{0,20}}(?:贴|发|写|传|提交|打印|输出)",
    ),
    act(
        "secrets",
        rf"\b{_SEND}\b[^.\n]{{0,40}}?{_MINE}",
        rf"{_MINE}[^.\n]{{0,20}}? (?:is|are|gets?|goes|go)(?: \w+)? (?:{_SEND}|to)\b",
        rf"{_MINE}[^.\n]{{0,30}}\b(?:query|url) (?:parameter|string)s?\b",
        rf"{_SEND_ZH}[^\n，。；]{{0,12}}{_MINE_ZH}|[将把][^\n，。；]{{0,12}}{_MINE_ZH}[^\n，。；]{{0,12}}{_SEND_ZH}",
    ),
    act(
        "exfiltration",
        r"\b(?:upload|send|post|forward|transmit|exfiltrate|submit|e-?mail|contact|rout(?:e|ing))\b[^.\n]{0,80}?"
        rf"(?:\b(?:to|through|via|at)\b[^.\n]{{0,40}}?)?{HOST}",
        rf"(?:上传|发送|提交|转发|推送|传给|外传|发到)[^\n。；]{{0,30}}?{HOST}",
    ),
    act(
        "exfiltration",
        rf"\b(?:uploads|sends|posts|forwards|submits|e-?mails|mails?|mailed|sync(?:s|ed)?|(?:is|are) (?:uploaded"
        rf"|sent|posted|forwarded|pushed|copied))\b"
        rf"[^.\n]{{0,60}}?\b(?:to|at|through|via)\b[^.\n]{{0,30}}?{_TO}",
        rf"{_SEND_ZH}[^\n。；]{{0,20}}?{_TO}",
        r"\?\w{1,12}=\$\w*(?:KEY|TOKEN|SECRET|PASS)\w*",
    ),
    rule(
        "exfiltration",
        rf"\b{_SEND}\b[^\n]{{0,60}}?{_FILES}[^\n]{{0,80}}?{_TO}",
        rf"{_FILES}[^\n]{{0,60}}?\b{_SEND}\b[^\n]{{0,40}}?{_TO}",
        check=_carried,
    ),
    rule(
        "exfiltration",
        rf"\b{_KEEP}\b[^\n.]{{0,40}}?{_FILES}[^\n]{{0,60}}?{_PUBLIC}",
        rf"{_FILES}[^\n]{{0,40}}?\b(?:into|in|to|with) (?:the |each |every |your |an? )?(?:public )?(?:commit"
        rf" message|commit body|pull request|PR|issue|gist|git notes?"
        r"|release notes|repository's history)\b",
        check=_carried,
    ),
    rule(
        "exfiltration",
        rf"{_FILES}[^\n。；]{{0,30}}?{_SEND_ZH}[^\n，。；]{{0,16}}?{_TO}",
        rf"{_SEND_ZH}[^\n，。；]{{0,20}}?{_FILES}[^\n。；]{{0,30}}?{_TO}",
        rf"(?:{_FILES}|口令|密码|密钥|令牌|凭证)[^\n，。；]{{0,16}}?(?:写进|写入|写到|附在|附到|放进|放到|贴到"
        rf"|贴进|带进|塞进|提交到"
        rf"|发到)[^\n，。；]{{0,8}}?{_PUBLIC_ZH}",
        check=_carried,
    ),
    rule(
        "exfiltration",
        rf"\b{_KEEP}\b[^\n.]{{0,40}}?(?:{_FILES}|\.env\b)[^\n]{{0,40}}?\b(?:to|in|into|with|at the end of) (?:your"
        rf"|each|every|the "
        r"final|the next) (?:\w+ )?(?:message|reply|answer|response|output|summary)\b",
        rf"(?:{_FILES}|密码|密钥|令牌|凭证)[^\n，。；]{{0,12}}?(?:贴到|贴在|写到|写在|附到|附在|放到|放进|输出到|带到)"
        r"[^\n，。；]{0,6}(?:回复|回答|消息|输出|总结)",
        rf"\b(?:curl|wget)\b[^\n]{{0,40}}{HOST}[^\n]{{0,40}}\$\(",
        check=_carried,
    ),
    act(
        "secrets",
        r"\b(?:tokens?|secrets?|passwords?|credentials?|api keys?|private keys?) (?:must|should|have to|has to"
        r"|need to) be "
        r"(?:echoed|printed|sent|posted|included|pasted|disclosed|shown|repeated|mailed)\b",
    ),
    act(
        "exfiltration",
        rf"\breplace (?:every|all|each|any) (?:\w+ )?(?:urls?|links?|addresses|domains?"
        rf"|endpoints?)\b[^\n]{{0,40}}\b(?:with|by|to) {HOST}",
        rf"\b{_SEND}\b[^.\n]{{0,60}}?\bto [\w.+-]+@[\w-]+\.\w+",
    ),
)
