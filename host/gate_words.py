"""What the need gate knows of language. Pure.

Of a user: acknowledgements, requests to recall, corrections. Of an output: error classes. Of an agent: what it is about
to do, what it has done, its doubts, and which commands are hard to take back.

English and Chinese; short Japanese and Korean acknowledgements. A change here changes decisions, so it takes a new
id of the gate's policy.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from recall.analyzer import STOP_WORDS, distinct

LONGEST_ACKNOWLEDGEMENT = 120  # characters

_ACK_WORDS = """
agreed ah ahh aight all alright amazing and awesome aye both brilliant bye cheers choice continue cool correct done
exactly excellent fantastic fine former go good got great ha haha hello hey hi hm hmm hmmm hmmmm huh i k kk latter lets
lgtm lol lovely mhm mm mmm much nah neat next nice no nope noted np nvm oh ohh ok okay okayy okey okie option perfect
please pls proceed right roger splendid stop sure sweet ta thank thanks thx true ty understood very wait wonderful wow
y ya yay yea yeah yep yes yess yo yup
danke gracias ja merci oui si vale
はい ええ うん ううん どうぞ 続けて 続けてください お願いします お願い 了解 了解です 分かりました わかりました
ありがとう ありがとうございます オーケー いいえ いいです いいね
네 넵 넹 예 응 좋아 좋아요 좋습니다 계속 계속해 계속해줘 계속하세요 감사합니다 고마워 고마워요 알겠습니다 알겠어 아니요
"""
_ACK_PHRASES = (
    *("as you like", "as you wish", "carry on", "do it", "do that", "for it", "go ahead", "good job", "good work"),
    *("got it", "great job", "great work", "hold on", "i agree", "i like it", "i see", "keep going", "keep it up"),
    *("let s go", "looks fine", "looks good", "looks good to me", "looks great", "makes sense", "never mind"),
    *("nice work", "no problem", "no thank you", "of course", "once more", "one more time", "ship it"),
    *("so far so good", "sounds fine", "sounds good", "sounds great", "that s fine", "that s good", "that s great"),
    *("that s it", "that s right", "that works", "try again", "well done", "works for me", "you re right"),
    "you re welcome",
)
# A Chinese acknowledgement is any row of these, particles and pronouns included: 好的，那就继续吧.
_ACK_CHINESE = """
继续 接着 下一步 下一个 开始 来吧 好的 好滴 好嘞 好 行 可以 没问题 没事 嗯 恩 哦 噢 喔 是的 是 对的 对 没错 正确 同意
谢谢 多谢 感谢 辛苦 收到 明白 知道 了解 懂 太棒 不错 很好 棒 赞 牛 厉害 完美 当然 随便 都行 不用 不需要 不必 算了 等等
等一下 稍等 再来 再试 试试 重试 一次 你好 您好 嗨 哈 呵 先这样 就这样 就这么办 做吧 去吧 干吧 执行吧 那就 请 你 您 我
很 太 非常 了 吧 啊 呀 呢 嘛 啦 的 哟 哇
"""


def _any(patterns: Iterable[str]) -> str:
    return "|".join(patterns)


_KNOWN = frozenset(_ACK_WORDS.split())
# Possessive: some words are made of others, and to try every division of a long text would take for ever.
_CHINESE_RUN = re.compile(f"(?:{_any(sorted(_ACK_CHINESE.split(), key=len, reverse=True))})++")
_PHRASE = re.compile(rf"\b(?:{_any(sorted(_ACK_PHRASES, key=len, reverse=True))})\b")
_WORD = re.compile(r"[^\W_]+")
_CHOICE = re.compile(r"\d{1,2}|[a-z]")
_IMAGE = re.compile(r"\[(?:image|img|screenshot|pasted image|图片|截图|画像)[^\[\]]{0,200}\]", re.IGNORECASE)

_ACTS = """
agree agreed call called choose chose chosen conclude concluded decide decided did discuss discussed do done find fix
fixed found handle handled learn learned mean meet met name named need pick picked plan planned said say see seen set
settle settled solve solved talk talked tried try use used want write wrote
"""
_ACT = _any(_ACTS.split())
_RECALLS = (
    rf"\b(?:what|which|how|why|when|where|who)(?: \w+)? (?:did|have|had) (?:we|i|you|they)(?: \w+)? (?:{_ACT})\b",
    rf"\b(?:did|have|had|haven't|didn't) (?:we|i|you)(?: \w+)? (?:{_ACT})\b",
    r"\b(?:do|can|don't) you (?:still )?(?:remember|recall)\b",
    r"\bremember (?:when|how|what|why|where|which|the time|our)\b",
    r"\bremind me\b|\blast time\b|\bpreviously\b|\bearlier (?:we|you|i)\b",
    r"\b(?:as|like|what) (?:we|i|you) (?:discussed|decided|agreed|said|did|had)\b",
    r"\bas (?:before|discussed|agreed|decided)\b",
    r"\bwe (?:already )?(?:decided|agreed|settled on|discussed|talked about)\b",
    r"\b(?:previous|past|earlier|last|other) (?:session|conversation|chat)s?\b",
    r"\bwhat(?:'s| is| was| were| are) (?:our|the) (?:\w+ ){0,2}(?:decision|convention|conclusion|agreement)s?\b",
    r"\bwhat(?:'s| is| was| were| are) our (?:\w+ ){0,2}(?:rule|policy|reason|preference)s?\b",
    r"\b(?:check|search|look in) (?:your|the|our) (?:memory|memories|notes)\b|\b(?:from|in) (?:your|our) memory\b",
    r"上次|上回|上一次|先前|以前(?:是|怎么|如何|为什么|我们|说|讨论|决定|遇)",
    r"之前(?:是|怎么|如何|为什么|为啥|我们|你|说|定|讨论|决定|用|做|讲|提|遇|修|解决|商量)",
    r"我们(?:之前|已经|当时)?(?:决定|约定|说好|商量好|商定|讨论过|定下|定的|选定|说过)",
    r"[你您]还?记得|还记得|记不记得|记得吗|提醒我一下|当时(?:怎么|为什么|是|我们|决定)|回忆一下",
    r"(?:前面|刚才|早先)(?:说|提|讲|讨论)过|有没有(?:遇到|碰到|讨论|做|修|试)过|(?:遇到|碰到|讨论|做|试)过(?:吗|没有)",
    r"前回|覚えてい?(?:る|ます)|지난번|기억나",
)
_RECALL = re.compile(_any(_RECALLS), re.IGNORECASE)
_CORRECTIONS = (
    r"\A(?:no|nope|nah|wrong)\b\s{0,3}[,.!:;—–-]{1,3}\s{0,3}(?!problem|worries|thank|need\b|idea)\w",
    r"\A(?:no|nope|nah|wait|stop) (?:use|it|that|the|you|we|i|this|these|don't|not|do|instead|just|leave|keep)\b",
    r"\b(?:that|this|it)(?:'s| is| was)(?: \w+)? (?:wrong|incorrect|not right|not correct|not true|a mistake)\b",
    r"\b(?:that|this)(?:'s| is| was) not what\b|\bnot what i (?:asked|meant|want|wanted|said)\b",
    r"\byou(?:'re| are)(?: still)? (?:wrong|mistaken|doing it wrong)\b",
    r"\bi (?:already )?(?:said|told you|asked you|asked for)\b|\bi didn't (?:ask|mean|say|want)\b",
    r"\b(?:you|we) (?:forgot|missed|misread|misunderstood|should have|should not have|were supposed)\b",
    r"\b(?:use|do|try|run|make|write|call|put|keep|prefer|take|choose)\b.{1,120}?\b(?:instead(?! of)|rather than)\b",
    r"^(?:please )?(?:don't|do not|never|stop) (?:us|do|add|touch|edit|run|chang|creat|writ|commit|mak)\w{0,6}\b",
    r"\bactually,? (?:it|we|i|you|use|no|the|that)\b|\b(?:undo|revert) (?:that|this|it|your)\b",
    r"\bwrong (?:file|branch|folder|directory|command|version|approach|place|one|way|path|test|port|name)\b",
    r"不对|不是(?:这样|这个|那个|那样|的?[,，。])|错了|搞错|弄错|写错|用错|说错|误会|不正确",
    r"不是.{1,40}?(?:而是|是用|应该)|(?:应该|应当|要)(?:用|改用|改成|换成|使用)|改成|换成|改用",
    r"(?:不要|别)(?:用|再|这样|改|动|加|写|删|跑)|你(?:忘|漏|误解|理解错|没按)|撤销|撤回|回退|恢复原样",
    r"我(?:说过|说的是|的意思是|不是说|让你|要的是)",
)
_CORRECTION = re.compile(_any(_CORRECTIONS), re.IGNORECASE | re.MULTILINE)

_ERROR_CLASS = re.compile(
    r"\b(?:[A-Z]\w{0,60}(?:Error|Exception|Warning|Panic|Fault|Failure)|E[A-Z]{3,20}|[A-Z]{1,6}\d{3,5})\b"
)
_ERROR_PHRASES = (
    "command not found|no such file or directory|permission denied|connection refused|timed? ?out|out of memory",
    "segmentation fault|address already in use|merge conflict|no module named|cannot find module",
    "undefined reference|unrecognized arguments?|not a git repository|already exists|lock file|rate limit",
)
_ERROR_PHRASE = re.compile(_any(_ERROR_PHRASES), re.IGNORECASE)
# Classes and codes that one project gives its errors: the ones below say only what sort of error it is.
_ERROR_NAME = re.compile(
    r"\b(?:[A-Z]\w{0,60}(?:Error|Exception|Warning|Panic|Fault|Failure)|E(?:RR)?_[A-Z][A-Z0-9_]{2,60}"
    r"|(?!(?:SHA|MD|AES|RSA|RFC|ISO|PEP|UTF|HTTP|CVE|PR)\d)[A-Z]{1,6}\d{3,5})\b",
    re.ASCII,
)
_OF_LANGUAGES = """
Aggregate Arithmetic Assertion Attribute BlockingIO BrokenPipe Buffer CalledProcess Cast Child ChildProcess ClassCast
ClassNotFound ConcurrentModification Connection ConnectionAborted ConnectionRefused ConnectionReset Deprecation EOF
Encoding Environment Eval Exec Fatal FileExists FileNotFound FloatingPoint Future General HTTP IO IllegalArgument
IllegalState Import Indentation Index IndexOutOfBounds Internal Interrupted InvalidOperation IsADirectory JSONDecode
Json Key Load Lookup Memory ModuleNotFound Name Network NoMethod NoSuchElement NoSuchMethod NotADirectory NotFound
NotImplemented NullPointer NumberFormat OS OutOfMemory Overflow Parse PendingDeprecation Permission ProcessLookup
Python Range Recursion Reference Request Resource Runtime SSL Security Socket StackOverflow Standard Syntax System Tab
Test Timeout Type URI UnboundLocal Unicode UnicodeDecode UnicodeEncode Unknown UnsupportedOperation User Validation
Value Zero ZeroDivision
"""
_SORTS = frozenset(
    f"{name.lower()}{kind}" for name in _OF_LANGUAGES.split() for kind in ("error", "exception", "warning", "failure")
)

# An agent's own words. `_SAID`: where a sentence or a line begins.
_SAID = r"(?:\A|[.!?:;。！？：；\n])[\s*#>-]{0,4}(?:(?:ok|okay|great|good|perfect|right|excellent)[,.!] )?"
_DOING = """
add address apply ask bring build bump change check clean clone commit configure continue copy create debug delete
deploy disable do document edit enable examine execute explore extract figure find fix follow format generate get
give go handle implement improve inspect install instrument investigate list look make mark merge migrate modify
move open patch publish push put read rebase rebuild recreate refactor release remove rename replace rerun reset
restart restore retry revert review rewrite run save search see set show split stage start stop summarize switch
synthesize take tell test trace try turn undo update upgrade use validate verify wire work write
"""
_DO = _any(_DOING.split())
_INTENTIONS = (
    r"\b(?:i'll|i will|i shall|we'll|i(?:'m| am) (?:now |just )?(?:going|about) to)\b",
    r"\b(?:let me|let's)\b(?! know\b)",
    r"\bi(?:'m| am) (?:now |just |also )?(?!having|seeing|getting|missing|wondering|assuming|hoping)[a-z]{2,12}ing\b",
    r"\b(?:i|we) (?:now |still |also )?(?:need|want|plan|intend|have) to\b|\bmy (?:next step|plan)\b",
    rf"{_SAID}(?:now|next|then|first|finally|also),? (?:i |we |let |to )?(?:now |also )?(?:{_DO})\b",
    rf"{_SAID}(?:need to|going to|time to) (?:{_DO})\b|{_SAID}(?:the )?next steps?\b",
    r"接下来|下一步|我来|我先|我将|我会|我要|我准备|我打算|让我(?!知道)|先来|先让我|需要先|准备(?:开始|先)",
    r"现在(?:我)?(?:来|去|开始|需要|要)",
    rf"{_SAID}(?:首先|然后|最后|现在|先)[，,]?(?:检查|运行|修改|修复|添加|创建|更新|查看|读取|写|改|跑|测试|提交|推送|部署)",
)
_INTENTION = re.compile(_any(_INTENTIONS), re.IGNORECASE)
_DID = """
added applied built bumped changed cleaned committed completed configured copied created deleted deployed disabled
documented enabled extracted fixed implemented installed merged migrated moved opened published pushed rebuilt
refactored released removed renamed replaced restarted restored reverted rewritten set staged switched updated upgraded
verified written
"""
_DONE = _any(_DID.split())
_REPORTS = (
    rf"{_SAID}(?:all )?(?:done|finished|complete[d]?|success(?:ful|fully)?|works|passed|fixed|committed|pushed)\b",
    rf"\b(?:i've|i have|we've|i) (?:now |also |just |successfully )*(?:{_DONE})\b",
    rf"\b(?:is|are|was|were|has been|have been) (?:now |all |successfully |already )*(?:{_DONE}|done)\b",
    r"\b(?:tests?|checks?|suite|build|lint(?:er)?|it|everything|compilation|code) (?:now |all )*"
    r"(?:pass(?:es|ed)?|works?|succeed(?:s|ed)?|compiles?|is clean|is green|(?:is|are) passing)\b",
    r"\ball (?:green|passing|good|set)\b|\b(?:now works|works now|works correctly)\b",
    rf"{_SAID}(?:here(?:'s| is) (?:a |the )?summary|summary\b|changes made)",
    r"已(?:经)?(?:完成|修复|修好|添加|更新|提交|推送|创建|删除|部署|解决|改好|写好)",
    r"(?:完成|修好|搞定|解决|通过|成功|改好|写好)了|(?:全部|都|测试)(?:已)?通过|运行(?:正常|成功)|没有问题了",
)
_REPORT = re.compile(_any(_REPORTS), re.IGNORECASE)
_DOUBTS = (
    r"\bi(?:'m| am) (?:not |un)(?:quite |entirely |really |completely |so )?(?:sure|certain)\b|\bnot (?:quite )?sure\b",
    r"\bi(?:'m| am) (?:a bit |still )?(?:confused|puzzled|stuck|lost)\b",
    r"\bi (?:don't|do not) (?:understand|see why|know why)\b|\bhm{2,}\b",
    rf"{_SAID}(?:oh,? |but |hold on,? )?wait\b(?=\s*[—–,.!…-]|\s+(?:i|the|that|this|it|no)\b|\s*\Z)",
    r"\b(?:let me|let's|i'll|i will|i need to) (?:try|run|do|check|read|look) (?:[\w' ]{0,30} )?again\b",
    r"\b(?:try|trying) (?:it |this |that )?(?:again|(?:an? )?(?:different|another|other|alternative)|something else)\b",
    r"\b(?:let me|let's|i'll|i need to) (?:re-?(?:think|consider|read|check|examine|try|visit)|double[- ]check)\b",
    r"\bstill (?:not|no|fail\w*|doesn't|isn't|aren't|broken|wrong|the same|complain\w*|getting|seeing|an? )",
    r"\b(?:didn't|did not|doesn't|does not|isn't|hasn't) (?:seem|work|help|fix|change|take)",
    r"\b(?:that|this)(?:'s| is) (?:odd|strange|weird|unexpected|surprising)\b|\b(?:oddly|strangely)\b",
    r"\bi apologi[sz]e\b|\bmy mistake\b|\bi (?:misread|misunderstood|was wrong|got (?:it|that) wrong)\b",
    r"不(?:太|是很|大)?确定|不清楚(?:为什么|是不是)?|再(?:试|跑|看|检查)(?:一次|一下|一遍|试|看)",
    r"重新(?:试|尝试|检查|考虑|想)|换(?:个|一个|一种|种)(?:方法|办法|方式|思路|做法)",
    r"(?:\A|[。！？，\n])等等|等一下|奇怪|不太对|搞不懂|卡住|还是(?:不行|失败|报错|不对|没|有问题)",
    r"没(?:有)?(?:效果|生效|起作用)|(?:\A|[。！？\n])(?:嗯|唔)[，。…]|我弄错|我搞错",
)
_DOUBT = re.compile(_any(_DOUBTS), re.IGNORECASE)
_RISKS = (
    r"\bgit (?:-\S+ (?:\S+ )?)?(?:push|rebase|filter-branch|filter-repo|clean -\w*f|reset --hard|branch -\w*D|merge\b)",
    r"\bgit (?:-\S+ (?:\S+ )?)?(?:stash (?:drop|clear)|checkout (?:\S+ )?-- |restore\b|commit --amend|reflog expire)",
    r"\bgit (?:-\S+ (?:\S+ )?)?(?:tag (?!-l|--list)\S|update-ref)",
    r"\b(?:npm|pnpm|yarn|bun|cargo|poetry|twine|gem|uv|hatch|flit|mvn|gradle|dotnet|vsce|lerna|changeset) (?:\S+ )?"
    r"(?:publish|release|upload|unpublish|yank|deploy)\b",
    r"\bgh (?:release|workflow run|secret|repo (?:delete|archive|rename|edit)|pr (?:merge|close))\b",
    r"\bgh api\b.{0,200}\b(?:POST|PUT|PATCH|DELETE)\b|\bansible-playbook\b",
    r"\bkubectl (?:\S+ )?(?:apply|delete|rollout|scale|drain|patch|replace)\b",
    r"\bhelm (?:install|upgrade|uninstall|rollback)\b",
    r"\b(?:terraform|tofu|pulumi|cdk|sls|serverless|fly|flyctl|vercel|netlify|heroku|gcloud|aws|az)\b.{0,80}"
    r"\b(?:apply|destroy|up|deploy|promote|delete|rm|import)\b",
    r"\bdocker(?:-compose| compose)? (?:push|system prune|(?:volume|image|network) (?:rm|prune)|down -v|rmi)\b",
    r"\b(?:alembic|flyway|liquibase|goose|dbmate|sqlx|prisma|knex|sequelize|diesel|ecto|manage\.py|artisan|rails|rake)\b"
    r".{0,80}\b(?:upgrade|downgrade|migrate|migration|rollback|reset|drop|flush|undo|push)\b",
    r"\b(?:drop (?:table|database|schema|index|column)|truncate (?:table )?\w|delete from|alter table)\b",
    r"(?:^|[\s;&|(])(?:shred|dd if=|mkfs\S*|chown -R|chmod -R|sudo|killall|pkill)\s",
    r"(?:^|[\s;&|(])-{2}(?:force(?:-with-lease)?|no-verify|hard|purge|overwrite|prune)\b",
    r"(?:^|[;&|(]\s{0,3}|\b(?:bash|sh|zsh|make|run|task|just|yarn|pnpm|npx|invoke|poe|nox|tox)\s+(?:-\S+\s+)?)"
    r"(?:[\w./:_-]{0,60}[/:_-])?(?:deploy|publish|release|migrate|rollback)(?:[:_-]\w+|\.\w{2,3})?(?=$|[\s;&|)])",
    r"(?:\b|_)(?:merge_pull_request|delete_\w+|create_release|push_files|deploy_\w+|publish_\w+)\b",
)
_RISK = re.compile(_any(_RISKS), re.IGNORECASE | re.MULTILINE)
_REMOVAL = re.compile(r"(?:^|[\s;&|(])(?:rm\s+(?:-\S+\s+)*-\w*[rRf]|rmdir\s)", re.MULTILINE)
_SCRATCH = re.compile(r"(?:\bcd |\s)(?:/private)?/(?:tmp|var/tmp)\b|\$\{?TMPDIR|mktemp")
# What is quoted, or a document in place, is a message or a pattern, unless a shell or a database is handed it.
_QUOTED = re.compile(
    r"<<-?\s*['\"]?(\w+)['\"]?.*?(?:^\s*\1\s*$|\Z)|(?<!-c )(?<!-e )(?:'[^'\n]{0,400}'|\"[^\"\n]{0,400}\")",
    re.DOTALL | re.MULTILINE,
)
LONGEST_READ = 1_200  # characters of a segment
KNOWN = 256  # texts: those of a window are asked about pass after pass
BEGINNING, END = 400, 200  # of a reply: what an agent doubts it says at once, or last


def is_acknowledgement(text: str) -> bool:
    """Whether a text only agrees, thanks, greets, chooses ("2", "b") or says go on, emoji and stop-words included; or
    has no word at all: punctuation, emoji, a pasted image, nothing."""
    plain = _plain(text)
    if len(plain) > LONGEST_ACKNOWLEDGEMENT:
        return False
    said = " ".join(_WORD.findall(plain))
    words = _WORD.findall(_PHRASE.sub(" ok ", said))
    others = [word for word in words if not _acknowledges(word)]
    return not words or (len(others) < len(words) and all(word in STOP_WORDS for word in others))


def is_empty(text: str) -> bool:
    """Whether a text carries no signal: an acknowledgement, or nothing but stop-words and punctuation. A request to
    remember and a correction are signals whatever their words are."""
    if is_acknowledgement(text):
        return True
    plain = _plain(text)
    if distinct(plain[:LONGEST_ACKNOWLEDGEMENT]) or distinct(plain):  # the beginning alone mostly says it
        return False
    return not asks_to_recall(text) and not corrects(text)


def asks_to_recall(text: str) -> bool:
    """Whether a person asks what was said, decided or done before."""
    return _RECALL.search(_folded(text)) is not None


def corrects(text: str) -> bool:
    """Whether a person says that something is wrong, or wants something else instead."""
    return _CORRECTION.search(_folded(text)) is not None


@lru_cache(maxsize=KNOWN)
def intends(text: str) -> bool:
    """Whether an agent says what it will do next: "I'll …", "let me …", "now run …", 接下来, 我来."""
    return _INTENTION.search(_folded(text[:LONGEST_READ])) is not None


@lru_cache(maxsize=KNOWN)
def reports(text: str) -> bool:
    """Whether an agent says that something is done or works: "fixed", "all tests pass", 已完成. It may go on to say
    what comes next."""
    return _REPORT.search(_folded(text[:LONGEST_READ])) is not None


@lru_cache(maxsize=KNOWN)
def hesitates(text: str) -> bool:
    """Whether an agent doubts in its own words: "I'm not sure", "wait", "let me try again", 不确定, 再试一次."""
    said = text if len(text) <= BEGINNING + END else f"{text[:BEGINNING]}\n{text[-END:]}"
    return _DOUBT.search(_folded(said)) is not None


@lru_cache(maxsize=KNOWN)
def risky(call: str) -> bool:
    """Whether a call, by what it runs, is hard to take back: push, publish, release, deploy, migrate, delete, force.
    Give it the arguments of a shell call, or a tool's own name."""
    run = _QUOTED.sub(" ", call[:LONGEST_READ])
    if _RISK.search(run) is not None:
        return True
    return _REMOVAL.search(run) is not None and _SCRATCH.search(run) is None


def error_classes(text: str) -> tuple[str, ...]:
    """Names of errors in an output, lower case: classes and codes in their order, then the most common phrases."""
    found = [*_ERROR_CLASS.findall(text), *_ERROR_PHRASE.findall(text)]
    return tuple(dict.fromkeys(name.lower() for name in found))


def error_names(text: str) -> tuple[str, ...]:
    """Classes and codes of errors in an output, as they are written, that name more than a sort of error: not
    `TypeError`, which every project has, but `SealBrokenError`, `TS2307`, `E_TARIFF_LOCK`."""
    return tuple(dict.fromkeys(name for name in _ERROR_NAME.findall(text) if name.lower() not in _SORTS))


def _acknowledges(word: str) -> bool:
    return word in _KNOWN or _CHOICE.fullmatch(word) is not None or _CHINESE_RUN.fullmatch(word) is not None


def _plain(text: str) -> str:
    """The text under NFKC, case folded, without image placeholders."""
    return _IMAGE.sub(" ", _folded(text)).casefold().strip()


def _folded(text: str) -> str:
    """NFKC, with plain apostrophes: what the patterns are written for."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")
