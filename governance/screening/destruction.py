"""Destroying as a routine: homes, disks, histories, everything that runs."""

from governance.screening.matching import Rule
from governance.screening.meaning import act, deed

_ROOT = (
    r"[\"'`]?(?:~|/|\$HOME|\$\{HOME\}|/home|/root|/etc|/usr)(?:/?\*|/)?[\"'`]?(?:\.(?:\s|$)"
    r"|[\s,;:!?)，。；、）—]|$|[\x{4e00}-\x{9fff}])"
)

DESTRUCTION: tuple[Rule, ...] = (
    act(
        "destruction",
        r"\brm\x20-(?:rf|fr|r) (?:~|/|\$HOME)|\bclose all\b|\bdrop (?:the )?(?:database|all)\b|\bdelete \w+/\w+",
        r"\b(?:delete|wipe|erase|destroy) (?:all|every|the (?:entire|whole|home)|~|/|\.git\b"
        r"|the (?:\w+ )?(?:database|history|logs?|lock file))",
        r"(?:删除|清空|抹掉|擦除)[^\n，。；]{0,8}(?:~/|/home|所有|全部|整个|历史|数据库|日志)",
        r"\bdropping (?:the )?(?:tables?|databases?|schemas?|collections?)\b|\b(?:mkfs|shred|wipefs)\b|\bdd"
        r" [^\n]{0,40}of=/dev/",
        r"\b(?:terraform|pulumi) destroy\b|\bkubectl delete (?:ns|namespace|--all)|\bgit (?:reset --hard|clean"
        r" -[a-z]*f)",
        r"删除[^\n，。；]{0,4}(?:卷|数据卷|磁盘|生产|备份)|(?:推送|发布|部署)到生产",
    ),
    deed(
        "destruction",
        rf"\bchmod (?:-\w+ |--recursive )*(?:-\w+ )?(?:0?777|a\+rwx|ugo\+rwx)(?: -\w+)? {_ROOT}",
        rf"\bchown (?:-\w+ |--recursive )+[\w:$]+ {_ROOT}",
        rf"\brm (?:-\w+ |--[\w-]+ )*-\w*[rR]\w* (?:-\w+ |--[\w-]+ )*{_ROOT}",
        rf"\bfind {_ROOT}[^\n]{{0,40}}-(?:delete\b|exec rm\b)",
        r"\bkill (?:-9|-KILL|-SIGKILL|-s (?:SIG)?KILL|-TERM|-15) -1(?:[^\w.-]|[.]?$|\.\s)|\bkillall5\b|\bpkill"
        r" -9 -u\b",
        r":\(\)\s*\{\s*:\|:\s*&\s*\}\s*;\s*:",
        r"\b(?:DROP|drop) DATABASE \w+[^\n]{0,30}\b(?:before|after|at) (?:each|every)\b",
    ),
)
