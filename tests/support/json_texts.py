"""Made-up JSON texts as people write them: comments, trailing commas, white space of all kinds, repeated keys."""

import json

from hypothesis import strategies as st

SPACE = st.sampled_from(
    [
        *("", " ", "\n", "\r\n", "\n  ", "\t", "\n\n    ", " // note\n", '\n  // a "b", {x}\n', " /* c */ "),
        *("/* many\n, } lines */", "\r\n// z\r\n"),
    ]
)
KEYS = st.sampled_from(
    ["a", "//c", "/*", "k,}", 'q"', "hooks", "mcpServers", "mcp", "plugin", "Stop", "stop", "AfterTool"]
)
SCALARS = st.sampled_from(["1", "true", "null", '"x"', '"//y"', '"a,]"', '"\\\\"', '"\\""', "-1.5e3"])
DEPTH = 3


@st.composite
def _value(draw: st.DrawFn, depth: int = 0) -> str:
    opened = draw(st.sampled_from(["", "{", "["])) if 0 < depth < DEPTH else "{" if not depth else ""
    if not opened:
        return draw(SCALARS)
    parts = list[str]()
    for _ in range(draw(st.integers(0, 3))):
        key = json.dumps(draw(KEYS)) + draw(SPACE) + ":" + draw(SPACE) if opened == "{" else ""
        parts.append(draw(SPACE) + key + draw(_value(depth + 1)) + draw(SPACE))
    trailing = "," if parts and draw(st.booleans()) else ""
    return opened + ",".join(parts) + trailing + draw(SPACE) + ("}" if opened == "{" else "]")


@st.composite
def _text(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(["", "\ufeff"])) + draw(SPACE) + draw(_value()) + draw(SPACE)


TEXTS: st.SearchStrategy[str] = _text()
