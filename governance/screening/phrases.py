"""How the injection tables write their patterns: phrases, one alternative a string; a space is any white space."""

from governance.screening.matching import Check, Rule, anything

EARLIER = "(?:previous|prior|earlier|preceding|above|foregoing|former|existing|original|initial|past)"
ORDERS = (
    "(?:instructions?|directions?|prompts?|rules?|guidelines?|constraints?|orders?|commands?|directives?|polic"
    "(?:y|ies)"
    "|messages?|context|training|restrictions?)"
)
AGENT = (
    "(?:(?:AI|LLM|coding|software|any|all|every|each|the|this) )*"
    "(?:assistants?|agents?|LLMs?|models?|Claude|Codex|Copilot|Gemini|ChatGPT)"
)
_ENDINGS = (
    "(?:com|net|org|io|dev|ai|app|xyz|co|cn|ru|info|biz|me|site|online|cloud|tech|top|store|link|live|page|tv|uk"
    "|de|fr|eu|us"
    "|example|test|invalid|internal)"
)
HOST = rf"(?:https?://[^\s\"'<>]+|\b[\w-]+(?:\.[\w-]+)*\.{_ENDINGS}\b)"
IP = r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?\b"
PEOPLE = (
    "(?:(?:the |a |any |your |their )?(?:user|human|reviewers?|maintainers?|owner|(?:team )?lead|team|manager"
    "|author|administrator|admin|person"
    "(?: at the keyboard)?|people|customer|client|security team)|anyone|anybody|them|him|her|others|somebody|someone)"
)
PEOPLE_ZH = (
    "(?:用户|任何人|别人|他人|其他人|评审人?|审阅者?|同事|负责人|主管|团队|管理员|老板|领导|维护者|对方|大家"
    "|他们|他|她)"
)
SENSITIVE = (
    r"(?:~/\.[a-z]\w*|\.ssh\b|\.env\b|\bid_(?:rsa|ed25519)|\b(?:credentials?|secrets?|passwords?|tokens?"
    r"|conversations?)\b"
    r"|\b(?:api|private|ssh|access) keys?\b|\benv(?:ironment)? var\w*|\bchat (?:history|logs?)\b|\bsystem prompt\b"
    r"|\bprintenv\b|\boutput of env\b"
    r"|\b(?:user|customer|account|all|all the) (?:data|messages?|input)\b|\bchanged files\b|\bworkspace\b"
    r"|\bhome (?:folder|directory)\b|密钥|令牌|密码|环境变量|凭证|私钥|对话|聊天记录|用户数据)"
)


def either(*alternatives: str) -> str:
    """One pattern of all alternatives, whatever the case of the letters; each space stands for any white space."""
    return "(?i)" + "|".join(alternatives).replace(" ", r"\s+")


def rule(family: str, *alternatives: str, check: Check = anything, severity: str = "high") -> Rule:
    """A rule of the family `injection.<family>`."""
    return Rule(family=f"injection.{family}", pattern=either(*alternatives), check=check, severity=severity, far=False)
