"""The words by which claims are judged: negations, times, numbers and units, English and Chinese. Data.

Chinese lists are written in simplified characters; a text is read with its traditional ones exchanged (`SIMPLIFIED`,
one character for one, so that no place moves).
"""

# -- characters

SIMPLIFIED = str.maketrans(
    dict(
        zip(
            "別沒無過僅斷級類區識個論從並嚴絕須這們來幾兩萬億點號後週禮擇條頁種項禦拒廢棄當轉邊圍長歲關係錯說聲證請對應該會給準備聯單雙號職組離國稱減緒節見",
            "别没无过仅断级类区识个论从并严绝须这们来几两万亿点号后周礼择条页种项御拒废弃当转边围长岁关系错说声证请对应该会给准备联单双号职组离国称减绪节见",
            strict=True,
        )
    )
)

# -- negations, and the commonest ones of a few other languages
# A space stands for any white space, the curly apostrophe for every apostrophe.

# What denies wherever it stands in a clause.
DENIALS = (
    r"(?<![\w/-])(?:no|not|never|cannot|without|neither|nor|nothing|nobody|nowhere)(?![\w/]|-\w)",
    r"(?<![\w/=-])(?-i:none|None(?= of))(?![\w/-])",
    r"\b[a-z]{2,6}n’t\b",
    r"\b(?:do|does|did|is|are|was|were|wo|ca|could|should|would|must|might|need|have|has|had|ai)nt\b",
    r"\b(?:forbidden|prohibited|disallowed|banned|no-go)\b|\bagainst (?:the |our )?(?:policy|rules)\b",
    r"\b(?:nicht|kein|keine|keinen|keinem|keiner|keines|nie|niemals|ohne)\b",
    r"\b(?:nunca|jamás|jamais|não|aucune?)\b|(?:\bne |\bn’)\w+ (?:pas|plus)\b|\b(?:не|нет|нельзя|никогда)\b",
    "禁止|严禁|禁用|不|没|别|勿|毋|未|并非|绝非|决非|切莫|莫要|甭|切忌|杜绝",
    "无需|无须|无法|无权|无从|毫无|并无|绝无|尚无|暂无|均无",
    "ません|ないで|(?<![少危])ない|てはいけない|てはならない|않|없|못|금지|지마세|지\\s?말|지 마(?=[세십라요])",
)
# What denies that which follows.
DENIALS_AHEAD = (
    r"\b(?:avoid|forbid|prohibit|disallow)(?:s|ed|ing)?\b",
    r"\brefrain(?:s|ed|ing)?(?: from)?\b",
    r"\b(?:hardly|barely|scarcely|rarely|seldom|unlikely)\b|(?<!try[\s/])\bexcept(?:ing)?\b",
    r"\bdoubt (?:that|if|whether)\b|\b(?:am|is|are|was|were|i’m|we’re) against\b",
    r"\b(?:drop(?:s|ped|ping)?|remov(?:e|es|ed|ing)|end(?:s|ed)?|abandon(?:s|ed)?) support\b",
    r"\b(?:stop|stops|stopped|quit|quits|cease|ceases|ceased) (?=\w+ing\b)",
    r"\b(?:instead of|rather than|unable to|anything but)\b",
    r"\b(?:fail|fails|failed|refuse|refuses|refused|declined?) to\b",
    r"\b(?:decid|advis|recommend|vot|argu)\w* against\b",
    "避免|防止|以免|免得|拒绝|停止使用|停用|弃用|废弃(?!物)|而非|反对(?![党派])|放弃(?!权)|[很极甚]少(?![量数])|鲜少",
)
# What holds a word of denial and denies nothing.
NO_DENIALS = (
    r"\bnot (?:only|just|merely|to mention)\b",
    r"\bno (?:matter|doubt|problem|worries|wonder|question|exceptions?)\b|\bno (?:choice|option) but\b",
    r"\bwithout (?:exceptions?|fail|(?:a )?doubt|question)\b|\bdon’t you (?:think|agree)\b",
    r"\b(?:can’t|cannot) (?:stress|emphasi[sz]e|overstate|overemphasi[sz]e|go wrong)\b|\bnicht (?:nur|vergessen)\b",
    r"\b(?:no|not) (?:more|less|fewer|later|earlier|sooner|longer ago) than\b",
    r"\bno(?:\.\s?#?|\s?#)(?=\d)",
    r"\bnot null\b",
    r"\b(?:no|nope|nah)\s?(?:[–—:]|\s-\s)",
    r"\bwhether or not\b",
    r"\blast but not least\b",
    r"\bnothing (?:but|else than|other than)\b|\bnone other than\b",
    r"\b(?:do not|don’t|dont|never) (?:forget|hesitate|fail)(?: to)?\b",
    r"\b(?:can’t|cannot) wait(?: to)?\b",
    "不同(?![意步时])|不过(?![滤期度关分审去来])|不[仅但愧妨]|不只(?!读)|不光(?!滑)|不单(?![独元步])|不断(?![开电网线连供])",
    "不少(?!见)|不久|不错(?!过)|不管(?![理控])|不论|不得不|不能不|不可不|不禁(?![用止])|不如(?!实)|不然|不止(?!损)|不外乎",
    "不由得|不可避免|不可或缺|不好意思|不客气|不用谢|不等[式于]|不变[量式]|不定期|不时(?!效)|不言而喻|差不多|了不起",
    "(?<![但于可不])是不是|(?<![功性可才不])能不能|(?<![机社不])会不会|(?<![只主必重需不])要不要|可不可[以能]?|有没有",
    "(?<![运执])行不行|好不好|对不对(?!称)|该不该|需不需要|应不应该|想不想|知不知道",
    "(?:别|不要|不能|不可|不得|切勿|勿|莫)忘[了记掉]?|(?:没有?|不然|不行)的话|毫无疑[问义]|对不[起住]|要不(?=[就我咱])",
    "没问题|没关系|没事|没准|没错(?!过)|没收|没想到|没得说|[淹沉埋出吞覆]没",
    "不可变(?![更动成得])|不透明|不规则|不对称|不锈|不料|不幸|不乏|不惜|不免|不得已|不知不觉|不约而同|不停地|兹别克|不出所料",
    "なければ?なら(?:ない|ません)|なければいけ(?:ない|ません)|なくては(?:なら|いけ)(?:ない|ません)",
    "ないといけ(?:ない|ません)|かもしれ(?:ない|ません)|に違いない|に違いありません",
    "特别|级别|区别|差别|辨别|判别|鉴别|甄别|国别|派别|有别于|(?<![知常认])识别|(?<![部十百成])分别|(?<![次能用])性别",
    r"(?<![这那此各])类别|(?<![这那哪一两二三四五六七八九十几某每整各多\d])个别|(?<![警报公])告别",
    "别名|别号|别国|别人(?![工为])|别的|别处(?![理置罚])|别称|别样|别致|别扭|别具|别墅|币别",
    "未来(?!得)|未婚|未免|未尝不|未定义|未知|未读|未命名|未成年",
)
# In front of the quoted part of a word: `supported` was never said by who wrote `unsupported`.
DENYING_PREFIXES = frozenset(("a", "ab", "anti", "de", "dis", "il", "im", "in", "ir", "mis", "non", "un"))

# -- what tells two claims apart

# Two texts that have different ones of a pair say two things.
_OPPOSITES = (
    "before/after on/off with/without over/under above/below up/down in/out enable/disable enabled/disabled"
    " allow/forbid allowed/forbidden always/never true/false yes/no min/max minimum/maximum first/last left/right"
    " public/private open/closed start/stop add/remove include/exclude internal/external required/optional sync/async"
    " more/less most/least all/none all/some every/some to/from"
    " local/remote read/write input/output upload/download import/export"
    " encrypt/decrypt can/must may/must should/may"
    " 之前/之后 前/后 上/下 左/右 开/关 启用/禁用 开启/关闭 允许/禁止 允许/不允许 有/无 增加/减少 增加/删除 包含/排除"
    " 最大/最小 大于/小于 公开/私有"
    " 同步/异步 本地/远程 必须/可以 全部/部分 输入/输出 导入/导出"
)
OPPOSITES = tuple((pair.partition("/")[0], pair.partition("/")[2]) for pair in _OPPOSITES.split())
# A text that has one of these where the other has none says something narrower.
QUALIFIERS = (
    r"\b(?:only|solely|exclusively|except(?:ing)?|excluding|unless|until|till|if|when(?:ever)?|while)\b",
    r"\b(?:during|at least|at most)\b",
    "只(?!读)|仅|除非|除了|除外|如果|假如|若|直到|当|至少|至多|最多|最少",
)
# Around these the order of the words is the statement.
ORDERED = (
    r"\b(?:before|after|from|to|into|over|instead of|rather than|not|no|never|without|than|replaces?|supersedes?)\b",
    r"\b(?:above|below|then|only)\b|->|→|=>",
    "先|再|然后|之前|之后|从|到|改为|换成|代替|替代|取代|而不是|而非|比|优于|高于|低于|转|迁移",
)
# What a claim gains nothing by.
_FILLERS = (
    "alway simpli general basic actual realli still current make sure project repo repositori need want like must"
)
FILLERS = frozenset(_FILLERS.split())
# Characters that a Chinese claim gains nothing by.
PARTICLES = frozenset("的了吗呢吧啊呀嘛么是在和与及都就也还很把被让给这那请要需会应该务总一直现目着地得在")
# Behind these a number is a name: step 1 and step 2 are two things; beside those it is a value.
REFERRED = (
    r"adr|rfc|pr|issue|ticket|bug|step|phase|chapter|section|page|figure|table|case|part|item|option|node(?=\s?#?\d(?!\d))|worker|shard"
    "|server|team|sprint|task|line|job|milestone|步骤|第|节点|章节|任务|工单"
)
COPULAS = "is|are|was|were|has|have|runs?|lives?|是|在|有|负责"
QUANTITIES = (
    "limit|timeout|port|version|size|count|max|min|maximum|minimum|budget|ttl|interval|retries|retry|threshold|depth"
    "|level|quota|length|width|height|age|price|rate|delay|capacity|number|percent"
    "|限|时|数|量|值|端口|版本|大小|次|上限|下限|阈"
)
