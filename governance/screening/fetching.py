"""Fetching something from afar and doing what it says."""

import re

from governance.screening.matching import Hit, Rule
from governance.screening.meaning import act, asked, deed, meant
from governance.screening.phrases import HOST, IP, rule

_NEAR_HOME = re.compile(r"(?<![\d.])(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|0\.0\.0\.0)")
_BARE = rf"(?:https?://)?{IP}(?:/[^\s，。；]*)?"
_FETCH = (
    "(?:curl|wget|iwr|invoke-webrequest|download|fetch|load|get|pull|grab|install|retriev|read|open)(?:e|es|s|ed|ing)?"
)
_RUN = (
    r"(?:\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\|\s*python|\bchmod \+x|\bchmod (?:7|u\+x)|\b(?:execute|run|launch"
    r"|source)(?:s|d)?\b(?: it| them)?|\bcarr(?:y|ies) out\b"
    r"|\bfollow\b|\bobey\b|\bpython3? |\bbash |\bsh /|\bdo what\b)"
)
_RUN_ZH = "(?:执行|运行|照做|照办|安装|\\|\\s*(?:ba)?sh)"


def _afar(hit: Hit) -> bool:
    """Asked for, and the bare address is not one of the own network."""
    return meant(hit) and asked(hit) and _NEAR_HOME.search(hit.value) is None


FETCHING: tuple[Rule, ...] = (
    act(
        "remote-code",
        r"\b(?:curl|wget)\b[^\n|]{0,120}\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\biex\s*\(|\bInvoke-Expression\b",
        r"\b(?:pip(?:e|ing)|feed(?:ing)?) (?:it|that|the \w+) (?:in)?to (?:a |the )?(?:ba|z)?sh(?:ell)?\b",
        rf"\bscript tag (?:for|from|with) {HOST}",
        rf"\b(?:fetch|download|open|read|visit|load)\b[^\n]{{0,40}}?{HOST}[^\n]{{0,40}}?\b(?:follow|execute|obey"
        rf"|carry out|perform) "
        rf"(?:the |its |all |every )?"
        "(?:instructions|commands|steps|orders|plan|tasks)",
        rf"{HOST}[^\n]{{0,40}}?\b(?:do (?:what(?:ever)?|as) it (?:says|asks|lists|tells)|(?:follow|execute|obey)"
        rf" (?:it|them|whatever))\b",
        r"--trusted-host\b|--(?:extra-)?index-url[ =]http://|--registry[ =]http://",
    ),
    rule(
        "remote-code",
        rf"\b{_FETCH}\b[^\n]{{0,80}}?{_BARE}[^\n]{{0,100}}?{_RUN}",
        rf"{_BARE}[^\n]{{0,60}}?\b{_FETCH}\b[^\n]{{0,60}}?{_RUN}",
        rf"\b(?:bash|sh|python3?|source|eval)\b[^\n]{{0,12}}(?:<\(|\$\(|-c ['\"`]?\$\()\s*(?:curl"
        rf"|wget)\b[^\n]{{0,60}}?{_BARE}",
        rf"\b(?:pip3?|uv|npm|pnpm|yarn|gem|cargo)\b[^\n]{{0,60}}?(?:--(?:extra-)?index-url|-i|--registry"
        rf"|--source|--find-links)[=\t\x20]{_BARE}",
        rf"\b(?:set|point|switch|change)\b[^\n.]{{0,30}}\b(?:registry|index|mirror|proxy)\b[^\n]{{0,20}}? {_BARE}",
        check=_afar,
    ),
    rule(
        "remote-code",
        rf"(?:curl|wget|下载|拉取|获取|取|打开|读取)[^\n。；]{{0,40}}?{_BARE}[^\n。；]{{0,60}}?{_RUN_ZH}",
        rf"从[^\n。；]{{0,6}}{_BARE}[^\n。；]{{0,20}}?(?:下载|拉取|获取|取)[^\n。；]{{0,40}}?{_RUN_ZH}",
        rf"{_RUN_ZH}[^\n。；]{{0,8}}(?:curl|wget)[^\n。；]{{0,30}}?{_BARE}[^\n。；]{{0,20}}?\|\s*(?:sudo )?(?:ba)?sh",
        check=_afar,
    ),
    deed(
        "remote-code",
        rf"\b(?:pipe|feed|stream)\b {HOST}[^\n]{{0,24}}? (?:in)?to (?:a |the )?(?:ba|z|da)?sh\b",
    ),
)
