"""Texts of any kind, for properties: every script and sign that there is, and what people and machines mix."""

from hypothesis import strategies as st

_WORDS = (
    *(
        "the",
        "getUserById",
        "get",
        "user",
        "foo-bar",
        "C++",
        "C#",
        ".NET",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "title:x",
        "e0277",
    ),
    *("src/a/b.py", "std::io::Error", "1.2.3", "v2", "*", "^", '"', "'", "(", ")", "`x`", "\\", "/", "--", "__init__"),
    *("部署", "申请", "的", "数据库", "完了", "テスト", "データ", "백업", "서버를", "ﬁ", "ｇｅｔ", "①", "㎡", "İ", "ß"),
    *(
        "हिन्दी",
        "ไทย",
        "مَرْحَبًا",
        "שלום",
        "\u0301",
        "\u200b",
        "\u202e",
        "\ufeff",
        "\x00",
        "\ud800",
        "\udfff",
        "👩‍👧",
        "\U000e0041",
    ),
)
_SEPARATORS = st.sampled_from(["", "", " ", "\t", "\n", "\u00a0", "\u3000", "-", "/", ".", "_", ":"])
_CHARACTERS = st.characters(codec=None, exclude_categories=())  # lone surrogates too


def any_text(most: int = 300) -> st.SearchStrategy[str]:
    """Random Unicode, or words of many scripts and signs of query languages glued together at random."""
    pieces = st.lists(st.tuples(st.sampled_from(_WORDS), _SEPARATORS), max_size=max(1, most // 8))
    mixed = pieces.map(lambda found: "".join(word + gap for word, gap in found))
    return st.one_of(
        st.text(_CHARACTERS, max_size=most), mixed, st.tuples(mixed, st.text(_CHARACTERS, max_size=20)).map("".join)
    )
