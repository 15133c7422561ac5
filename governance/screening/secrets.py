"""Secrets: what the tokens of well-known services look like, and where a secret stands that has no shape of its own.

Order matters: of two hits on the same characters the earlier rule names the finding.
"""

import re

from governance.screening.matching import Hit, Rule
from governance.screening.values import is_placeholder, is_reference, is_uuid, looks_random, looks_secret, trimmed

_WORD = re.compile(r"[A-Z]|\d")
_PUBLIC_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*(?:PUBLIC KEY|CERTIFICATE(?: REQUEST)?|SIGNATURE|MESSAGE)-----[^-]*$"
)
_LABEL = re.compile(r"(?i)(?:base64,|h1:|ssh-(?:rsa|ed25519|dss) |nistp\d+ )$")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"
_LONGEST_KEY = 200  # characters; a longer run is a file, not a key
_LOOKBACK = 4096  # bytes before a random string in which a public key block may open


def _mixed(hit: Hit) -> bool:
    """The token has a digit or a capital: `sk-learn-compatible-estimator` is a name, not a key."""
    return _WORD.search(hit.value) is not None and not is_placeholder(hit.value)


def _real(hit: Hit) -> bool:
    return not is_placeholder(hit.value)


def _assigned(hit: Hit) -> bool:
    """The value behind `key =` is literal and looks like a secret; a call or an index behind it is code."""
    value, key = hit.value, hit.group("key")
    quoted = hit.before(1) in ('"', "'")
    if key.lower() == "pass" and not hit.group().removeprefix(key).lstrip("\"' ").startswith("="):
        return False  # what a test runner prints: `PASS: TestOne`
    if " " in value or (not quoted and hit.after(1) in ("(", "[")):
        return False
    if looks_secret(value) or (is_uuid(trimmed(value)) and _KEYED.search(key)):
        return True
    strong = key.isupper() and ("PASS" in key or "PWD" in key or "SECRET" in key)
    return strong and not quoted and len(value) >= 8 and value.isalpha() and not is_placeholder(value)


_KEYED = re.compile(r"(?:API_?KEY|SECRET|ACCESS_KEY|AUTH_TOKEN|ACCESS_TOKEN)$")  # in capitals: of an environment


def _stated(hit: Hit) -> bool:
    return looks_secret(hit.value)


def _login(hit: Hit) -> bool:
    """A password inside a URL or behind `-u user:`; not a tag, a port, a variable, or the user's own name again."""
    if hit.after(8) == "@sha256:" or is_placeholder(hit.value) or is_reference(hit.value):
        return False
    return hit.value.lower() != hit.group("user").lower() and len(hit.value) >= 3 and not hit.value.isdigit()


def _random(hit: Hit) -> bool:
    """A bare random string, unless it is part of a public key, a certificate, a digest or an embedded file."""
    if not looks_random(hit.value):
        return False
    left = hit.data[max(0, hit.start - _LONGEST_KEY) : hit.start]
    right = hit.data[hit.end : hit.end + _LONGEST_KEY]
    head = left.rstrip(_BASE64)
    run = len(left) - len(head) + hit.end - hit.start + len(right) - len(right.lstrip(_BASE64))
    if run > _LONGEST_KEY or _LABEL.search(head.decode("utf-8", "ignore")):
        return False
    block = hit.data.rfind(b"-----BEGIN", max(0, hit.start - _LOOKBACK), hit.start)
    return block < 0 or _PUBLIC_BLOCK.search(hit.before(hit.start - block)) is None


_NAME = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret(?:[_ .-]?(?:key|token))?|token|api[_ .-]?key|apikey|access[_ .-]?key"
    r"|private[_ .-]?key|auth[_ .-]?key|account[_ .-]?key|encryption[_ .-]?key|signing[_ .-]?key|master[_ .-]?key"
    r"|shared[_ .-]?key|service[_ .-]?key|credentials?)"
)
_QUOTE = r"\\{0,2}[\"'`]?"
_LONG = r"[\w+-]{32,100}={0,2}"
_TWILIO = re.compile(rb"(?:SK|AC)[0-9a-f]{32}")
_KEY_LINE = r"(?:\\{1,2}[nr]|[\s>|*#\"',+:\\]|\d{1,6}(?:\t|→|: ?))*"
_BODY = rf"(?:{_KEY_LINE}(?:(?:Proc-Type|DEK-Info|Version|Comment): ?[^\n]*|[A-Za-z0-9+/=]{{16,}}))*"
_BEGIN = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"


def _like_twilio(value: bytes) -> bool:
    return _TWILIO.fullmatch(value) is not None


def _whole(hit: Hit) -> bool:
    return not is_placeholder(hit.value)


def _mixed_kinds(value: bytes) -> bool:
    """Capitals, small letters and digits: a digest in hexadecimal is no key."""
    return not value.islower() and not value.isupper() and any(48 <= byte <= 57 for byte in value)


def _token(name: str, pattern: str) -> Rule:
    return Rule(family=f"secret.{name}", pattern=pattern, check=_real)


SECRETS: tuple[Rule, ...] = (
    Rule(
        family="secret.private-key",
        pattern=(
            rf"{_BEGIN}(?:[^-]|-[^-])*{_END}"
            rf"|(?P<value>{_BEGIN}{_BODY}{_KEY_LINE}[A-Za-z0-9+/]{{1,63}}={{0,2}})[\"',]*(?:\s*\n|\s*\z|\\{{1,2}}[nr])"
            rf"|(?P<value2>{_BEGIN}{_BODY})"
            rf"|(?:[A-Za-z0-9+/=]{{16,}}{_KEY_LINE})+(?:[A-Za-z0-9+/]{{1,63}}={{0,2}}{_KEY_LINE})?{_END}"
            r"|PuTTY-User-Key-File-\d(?:[^\n]*\n)+?Private-MAC: ?[0-9a-f]+"
        ),
    ),
    _token("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,})"),
    _token("gitlab-token", r"\bgl(?:pat|dt|rt|ptt|agent|oas|soat|cbt|imt|ft|ffct)-[\w-]{20,}"),
    _token("aws-key-id", r"\bA(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}\b"),
    _token("gcp-key", r"\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,})"),
    Rule(
        family="secret.azure-key",
        pattern=(
            r"(?i)\b(?:AccountKey|SharedAccessKey)=(?P<value>[A-Za-z0-9+/]{20,}={0,2})"
            r"|[?&]sig=[A-Za-z0-9%/+=]{30,}|\b[\w~.]{3}\dQ~[\w~.-]{31,34}"
        ),
    ),
    _token("aws-signature", r"X-Amz-(?:Signature|Security-Token)=[A-Za-z0-9%/+=_-]{32,}"),
    _token("slack-token", r"\bxox[abce]-[\w-]{10,}|\bxox[oprs]-[\w-]{10,}"),
    _token("slack-token", r"\bxapp-[\w-]{10,}|\bxoxe\.xox[bp]-[\w-]{10,}"),
    _token(
        "webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{20,}"
        r"|open\.(?:feishu|larksuite)\.c(?:n|om)/open-apis/bot/v2/hook/[\w-]{20,}|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key="
        r"[\w-]{20,}|oapi\.dingtalk\.com/robot/send\?access_token=[0-9a-f]{32,}"
        r"|discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{40,}|webhook\.office\.com/webhookb2/[\w@/-]{40,}",
    ),
    _token("stripe-key", r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[\w+/=]{24,})"),
    _token("anthropic-key", r"\bsk-ant-[\w-]{20,}"),
    Rule(family="secret.openai-key", pattern=r"\bsk-(?:[a-z]{2,10}-)?[\w-]{20,}", check=_mixed),
    _token("npm-token", r"\bnpm_[A-Za-z0-9]{30,}|:_authToken=(?P<value>[^\s$\"']{16,})"),
    _token("pypi-token", r"\bpypi-[\w-]{50,}"),
    _token("huggingface-token", r"\b(?:hf|api_org)_[A-Za-z]{30,}"),
    _token("telegram-token", r"\b\d{8,10}:AA[\w-]{30,40}"),
    _token("sendgrid-key", r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}"),
    Rule(family="secret.twilio-key", pattern=_LONG, glance=_like_twilio, check=_whole, simple=True),
    _token("aliyun-key-id", r"\bLTAI[A-Za-z0-9]{12,24}\b"),
    _token("tencent-key-id", r"\bAKID[A-Za-z0-9]{28,40}\b"),
    _token("discord-token", r"\b[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}"),
    _token("baidu-key-id", r"\bALTAK[A-Za-z0-9]{16,32}\b"),
    _token("volcengine-key-id", r"\bAKLT[A-Za-z0-9]{30,60}\b"),
    _token("mailchimp-key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    _token("terraform-token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    _token("jwt", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]{10,})?"),
    _token(
        "service-token",
        r"\b(?:do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|lin_api_\w{32,}|ntn_\w{40,}"
        r"|dp\.(?:pt|st|ct|sa)\.[\w.]{40,}|hv[sbr]\.[\w-]{24,}|gl(?:sa|c)_[\w=+/]{32,}|dckr_pat_[\w-]{24,}"
        r"|pscale_(?:tkn|pw|oauth)_[\w.-]{32,}|sbp_[0-9a-f]{40}|sntry[su]_[\w=+/-]{40,}|rubygems_[0-9a-f]{48}"
        r"|gsk_[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{36,}|xai-[A-Za-z0-9]{60,}|fw_[A-Za-z0-9]{22,}"
        r"|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|NRAK-[A-Z0-9]{27}|ATATT3[\w=-]{100,}|figd_[\w-]{38,}|sq0[a-z]{3}-[\w-]{22,}"
        r"|HRKU-[\w-]{36,}|key-[0-9a-f]{32}|cio[A-Za-z0-9]{32}|pul-[0-9a-f]{40}|rdme_[0-9a-z]{70}|EAA[A-Za-z0-9]{90,}"
        r"|sl\.[\w-]{130,})|AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    ),
    Rule(
        family="secret.authorization",
        pattern=(
            rf"(?i)authorization{_QUOTE}\s*[:=]\s*{_QUOTE}(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)?"
            r"(?P<value>[\w.~+/=-]{16,})|\bbearer\s+(?P<value2>[\w.~+/-]{24,}=*)"
        ),
        check=_stated,
    ),
    Rule(
        family="secret.url-password",
        pattern=r"\b[A-Za-z][A-Za-z0-9+.-]*://(?P<user>[^\s/:@'\"<>`]*):(?P<value>[^\s/'\"<>`]+)@[\w\[$.{-]",
        check=_login,
    ),
    Rule(
        family="secret.login",
        pattern=(
            r"(?i)\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?(?P<user>[^\s:\"']+):(?P<value>[^\s\"']{3,})"
            r"|\bsshpass\s+-p\s*[\"']?(?P<value2>[^\s\"']{3,})"
        ),
        check=_login,
    ),
    Rule(
        family="secret.login",
        pattern=(
            r"\bmysql(?:dump|admin|import)?\b[^\n]*?\s-p(?P<value>[^\s\"']{6,})"
            r"|\b[A-Za-z][\w.-]*:\d{4,5}:[\w-]+:[\w-]+:(?P<value2>[^\s:\"']{6,})"
        ),
        check=_stated,
    ),
    Rule(
        family="secret.labelled",
        pattern=(
            r"(?i)\b(?:access|api|auth|bot|deploy|encryption|master|private|secret|session|signing)[ _-]?"
            r"(?:token|key|secret)\b[\"'`]?[:\s]\s*(?P<value>[0-9a-f]{32,128})\b"
        ),
        check=_stated,
    ),
    Rule(
        family="secret.netrc",
        pattern=r"(?i)\blogin\s+\S+\s+password\s+(?P<value>[^\s\"']{4,})",
        check=lambda hit: not is_placeholder(trimmed(hit.value)) and not is_reference(hit.value),
    ),
    Rule(
        family="secret.assignment",
        pattern=(
            rf"(?i)(?P<key>[\w.-]*{_NAME}(?:_?(?:value|id|prod|dev|staging|live|b64|\d))?|\b(?:[\w.-]*[_.-])?pass){_QUOTE}\]?\s{{0,8}}"
            r"(?:=>|->|:=|==?|:|：)\s{0,8}\\{0,2}"
            r"(?:[bru]?\"(?P<value>(?:[^\"\n\\]|\\[^\"\n]){6,})|[bru]?'(?P<value2>(?:[^'\n\\]|\\[^'\n]){6,})"
            r"|(?P<value3>[^\s\"'`“”,;<>(){}\[\]，。；、）】」]{6,}))"
        ),
        check=_assigned,
    ),
    Rule(
        family="secret.option",
        pattern=r"(?i)\s--(?:password|passwd|passphrase|token|api-?key|secret(?:-key)?|auth-token)[ =][\"']?"
        r"(?P<value>[^\s\"'`]{6,})",
        check=_stated,
    ),
    Rule(
        family="secret.password",
        pattern=(
            r"(?i)\b(?:pass(?:word|phrase|code|wd)|pwd|secret|token|key|credentials?)\b[\"'`]?(?:\s+[\w./-]+){0,5}?\s+"
            r"(?:is|was|are|equals|now|to|should be|will be)\s*:?\s+[\"'`“(]?(?P<value>[!-~]{6,})"
        ),
        check=_stated,
    ),
    Rule(
        family="secret.password",
        pattern=(
            r"(?:密码|口令|密钥|秘钥|令牌|私钥|凭证|暗号)[^\n，。；、！？,;]{0,12}?(?:是|为|成|到|用|[:：=＝\s])\s*[\"'`“「『（(]?"
            r"(?P<value>[!-~]{6,})"
        ),
        check=_stated,
    ),
    Rule(family="secret.random", pattern=_LONG, check=_random, glance=_mixed_kinds, simple=True),
)

_UNSHAPED = (
    "labelled",
    "authorization",
    "url-password",
    "login",
    "netrc",
    "assignment",
    "option",
    "password",
    "random",
)
SHAPED = frozenset(rule.family for rule in SECRETS) - {
    f"secret.{name}" for name in _UNSHAPED
}  # known by their own form
