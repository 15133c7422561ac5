"""Does a value look like a secret, or like a word, a name, a reference or a digest? Judgements on short strings."""

import re
from collections import Counter
from math import log2

PLACEHOLDERS = frozenset(
    {
        *("password", "passwd", "pass", "pwd", "secret", "token", "key", "apikey", "api_key", "api-key"),
        *("changeme", "change-me", "change_me", "changeit", "example", "sample", "dummy", "placeholder"),
        *(
            "none",
            "null",
            "nil",
            "true",
            "false",
            "undefined",
            "unset",
            "empty",
            "default",
            "redacted",
            "masked",
            "hidden",
            "required",
            "optional",
        ),
        *(
            "string",
            "str",
            "text",
            "value",
            "varchar",
            "postgres",
            "mysql",
            "root",
            "admin",
            "administrator",
            "user",
            "username",
            "guest",
        ),
        *(
            "test",
            "testing",
            "tests",
            "tester",
            "dev",
            "develop",
            "development",
            "prod",
            "production",
            "staging",
            "local",
            "localhost",
        ),
        *("private", "public", "bearer", "basic", "xxx", "todo", "tbd"),
    }
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:your|my|the|some|any|insert|enter|put|replace|paste)[-_ ]|example|placeholder|changeme|redacted"
    r"|^[*x.#•-]+$|\.\.\.|…|\*{3}|x{4,}"
)
_REFERENCE = re.compile(
    r"^[$%@&*!<{\[]|^(?:\.{0,2}|~)/|^[a-z][a-z0-9+.-]*://|\$\{|\{\{|^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+$"
    r"|^(?:process\.env|os\.environ|env\.|secrets\.|vars\.|vault:|op://|ENC\[)|->|=>"
)
_WORDS_ONLY = re.compile(r"^[A-Za-z]+(?:[-_./:][A-Za-z]+)*$")
_TECHNICAL = re.compile(
    r"(?i)^(?:sha-?\d+|md5|argon2\w*|base(?:32|58|64)\w*|pbkdf2|bcrypt|[rehp]s\d{3}|ed25519|x?utf-?\d+|x\.?509|oauth\d"
    r"|http[23s]?|s3|k8s|ipv[46]|p\d{3}|aes-?\d*|rsa-?\d*|tls\d*|2fa|mp[34]|v\d[\w.]*|\d+(?:st|nd|rd|th|x|k|m|g|b"
    r"|s|ms|h|d|kb|mb|gb)?)$"
)
_UNIT = re.compile(
    r"(?i)^\d+[-_ ]?(?:bytes?|bits?|char\w*|digits?|hours?|days?|min\w*|sec\w*|weeks?|months?|years?|words?|tokens?)$"
)
_UUID = re.compile(r"(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_DIGEST = re.compile(r"(?i)^(?:sha(?:1|224|256|384|512)[-:]|h1:|md5[-:]|w/)")
_OUR_ID = re.compile(r"^(?:memory:)?(?:mem|seg|pkt|packet|ev|evd|aud|ws|idx|idx_pre|claim|clm|req)_[0-9a-f]{16,64}$")
_SAME_CASE = re.compile(r"[a-z]+|[A-Z]+")
_LOWER_RUN = re.compile(r"[a-z]+")
_EDGES = "\"'`“”‘’.,;:!?)]}>\\"


def trimmed(value: str) -> str:
    """The value without the punctuation that ends a sentence or a quotation around it."""
    return value.rstrip(_EDGES).lstrip("\"'`“”‘’(")


def is_placeholder(value: str) -> bool:
    """`changeme`, `<your-key>`, `****`: it stands where a secret would stand."""
    return value.lower() in PLACEHOLDERS or _PLACEHOLDER.search(value) is not None


def is_reference(value: str) -> bool:
    """`${DB_PASSWORD}`, `settings.SECRET_KEY`, `/run/secrets/db`: it says where the secret is."""
    return _REFERENCE.search(value) is not None


def is_uuid(value: str) -> bool:
    """Sixteen bytes in the usual groups: an id, unless something says that it is a key."""
    return _UUID.search(value) is not None


def is_identity(value: str) -> bool:
    """A UUID, a labelled digest or one of our own ids: random, and no secret."""
    return any(shape.search(value) for shape in (_UUID, _DIGEST, _OUR_ID))


def is_words(value: str) -> bool:
    """Words joined as people and programs join them: `access_token`, `userProfileCache`, `sha256-hashed`, `32-byte`."""
    if _UNIT.match(value):
        return True
    parts = [part for part in re.split(r"[-_./:]+", value) if part]
    if not all(part.isalpha() or _TECHNICAL.match(part) for part in parts):
        return False
    numbers = sum(not part.isalpha() for part in parts)
    return not (numbers and len(parts) >= 4) and not any(is_jumbled(part) for part in parts)


def is_jumbled(word: str) -> bool:
    """Letters whose case changes more often than in any camelCase name: `LLihQWEZucTEo`."""
    if word.islower() or word.isupper() or len(word) < 8:
        return False
    runs = _LOWER_RUN.findall(word)
    humps = len(re.findall(r"[a-z][A-Z]", word))
    return (len(runs) >= 2 and sum(map(len, runs)) / len(runs) < 2.5) or humps > len(word) / 4


def entropy(value: str) -> float:
    """Shannon entropy of the value's own characters, in bits a character."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values())


def looks_secret(value: str, least: int = 6) -> bool:
    """Whether a value that stands behind the word `password` or `token` is a secret, and no word about one."""
    value = trimmed(value)
    if len(value) < least or is_placeholder(value) or is_reference(value) or is_identity(value):
        return False
    if value.isdigit():
        return False
    return not is_words(value)


def looks_random(value: str) -> bool:
    """Whether a bare string is random enough to be a key: three kinds of characters, high entropy, no long word."""
    if value.islower() or value.isupper() or not any(c.isdigit() for c in value):
        return False
    longest = max(map(len, _SAME_CASE.findall(value)), default=0)
    if longest > 7 or entropy(value) < 4.2:
        return False
    return not (is_identity(value) or is_placeholder(value) or is_words(value))
