import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.gate_words import (
    asks_to_recall,
    corrects,
    error_classes,
    error_names,
    hesitates,
    intends,
    is_acknowledgement,
    is_empty,
    reports,
    risky,
)

ACKNOWLEDGEMENTS = """
ok|OK!|Ok.|thanks|Thank you so much!|yes|y|Y|👍|👍🏽 ship it|好的|好的，继续吧|继续|はい|네|lgtm|LGTM 🚀|hmm|...
?|！|[image]|[Image #1]|[Image: source: a.png]|yes please do it|sounds good, go ahead!|that's right|谢谢你|2|b
try again|no|no, thanks|no problem|行|嗯嗯好的|可以，开始吧|ｏｋ|是的是的|请继续|keep going|hello
ok and continue|of course|Great — go ahead and continue
"""
SIGNALS = """
yes, use pnpm instead|push|commit and push please|fix it|option 3 is the cache|好的，把它改成异步
ok now add tests|what did we do before?|do you remember?|上次呢？|不对|不对，应该用 pnpm
no, that is the other file|run the tests|why does auth.py fail|部署|[image] what is this error|it worked!
没有生效|thanks, but the build still fails
"""
RECALLS = """
what did we decide about the queue?|What have we agreed on for retries|do you remember the port?
can you recall how we fixed it|last time it was redis|how did we solve this|did we already discuss caching?
remind me why|as we discussed|what is our convention for ids|what's the decision on auth|check your notes
之前怎么部署的|上次是怎么修的|我们决定用哪个库|你还记得端口吗|前面说过的规则|有没有遇到过这个错误|前回の設定は？
지난번 설정
"""
NO_RECALLS = """
remember to run the tests|add a last_time column|what does this do?|fix the failing test
decide which one is better|use the previous button|之前|部署到测试环境|把结果记下来
"""
CORRECTIONS = """
no, use pnpm|No - that's the wrong branch|no use yarn|that's wrong|This is not right|you forgot the migration
use pnpm instead|actually, it is 8080|not what I asked|I said port 3000|don't use mocks|stop adding comments
undo that|wrong file|make it async rather than threaded|不对，应该用 pnpm|不是这样|错了|要用 poetry|改成异步
我说的是测试环境|不要用 npm|你忘了迁移|不是 npm 而是 pnpm|别再改这个文件
"""
NO_CORRECTIONS = """
no problem|no need|add a test for the parser|write the docs instead of me|why is this wrong value printed?
nothing else|should we use redis?|No conversation found to continue|应该可以|对的|不知道为什么
"""

INTENTIONS = """
I'll push it now|Let me run the tests.|I’m checking the branch state|Now update the call site:|I need to read the file
Great! Now run the linter|My plan: migrate first|Next steps: tag it|Need to rebuild the image
接下来修改配置|我来看看日志|让我先跑一下测试|下一步是部署|现在开始迁移|首先，检查依赖
"""
NO_INTENTIONS = """
All tests pass.|Let me know if you want more.|The issue is the import path.|It works now|I'm having trouble with it
所有测试都通过了|让我知道结果|问题在于路径
"""
REPORTS = """
Done.|Fixed. The lock is gone|All tests pass.|I've added the migration|The branch is pushed.|Everything works
The server has been restarted and deployed|Here's a summary|All green.|已修复|测试全部通过|部署完成了|搞定了
"""
NO_REPORTS = """
Let me run the tests|The issue is the import path|I'll fix it|接下来修改配置|测试失败了
"""
DOUBTS = """
I'm not sure why it fails|Hmm, odd|Wait, that's only 16ms?|Let me try again
Let me try a different approach
I'm unsure|Still complaining about the match|The pragma comment didn't work.|I apologize for the confusion
Let me re-read the file|That's strange|I misread the log|不太确定原因|再试一次|换个思路|等等，这不对
还是报错|奇怪|没有生效
"""
NO_DOUBTS = """
Let me run the tests|I'll wait for the build|All tests pass|The wait group is fine
Now commit it|我来看看日志|A、B、C等等都行
"""
RISKS = """
git push origin main|git push --force
npm run deploy|yarn publish|./scripts/deploy.sh|make release|rm -rf node_modules
alembic upgrade head
kubectl delete pod x|terraform apply -auto-approve|git reset --hard HEAD~1|git tag v1.2|docker push x
psql -c 'drop table users'|python manage.py migrate
cargo publish|gh pr merge 12|git commit --no-verify|sudo systemctl stop x
gh api repos/o/r/pulls/1/comments --method POST|git checkout -- src/a.py|mcp__github__merge_pull_request
"""
NO_RISKS = """
pytest -q|git status|git commit -m 'push the release'|cat deploy.sh|git log --grep release|ls release/|git tag -l
rm -rf /tmp/scratch|cd /tmp && rm -rf demo && mkdir demo|git checkout main|grep -rn 'git push' .|echo "rm -rf /"
"""


def said(table: str) -> list[str]:
    return [text for line in table.strip().splitlines() for text in line.split("|")]


@pytest.mark.parametrize("text", [*said(ACKNOWLEDGEMENTS), "", "  \n"])
def test_an_acknowledgement_is_no_signal(text: str) -> None:
    assert is_acknowledgement(text)
    assert is_empty(text)


@pytest.mark.parametrize("text", said(SIGNALS))
def test_whatever_names_a_thing_is_a_signal(text: str) -> None:
    assert not is_acknowledgement(text)
    assert not is_empty(text)


@pytest.mark.parametrize("text", ["the", "what about this?", "是这样的", "--- *** ---", "这个呢？"])
def test_stop_words_and_punctuation_alone_are_no_signal(text: str) -> None:
    assert is_empty(text)


def test_words_that_can_be_divided_in_many_ways_are_divided_once() -> None:
    assert is_acknowledgement("好的是的对的" * 9)
    assert not is_acknowledgement("好的" * 59 + "x")  # by every division of it this would never end


def test_a_long_text_is_no_acknowledgement_whatever_its_words() -> None:
    assert not is_acknowledgement("ok " * 60)


@pytest.mark.parametrize("text", said(RECALLS))
def test_a_request_to_recall_is_recognised(text: str) -> None:
    assert asks_to_recall(text)


@pytest.mark.parametrize("text", said(NO_RECALLS))
def test_a_task_is_no_request_to_recall(text: str) -> None:
    assert not asks_to_recall(text)


@pytest.mark.parametrize("text", said(CORRECTIONS))
def test_a_correction_is_recognised(text: str) -> None:
    assert corrects(text)


@pytest.mark.parametrize("text", said(NO_CORRECTIONS))
def test_a_task_or_a_question_is_no_correction(text: str) -> None:
    assert not corrects(text)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("ModuleNotFoundError: No module named 'foo'", ("modulenotfounderror", "no module named")),
        ("error TS2345: argument; E0308; ENOENT", ("ts2345", "e0308", "enoent")),
        ("bash: pnmp: command not found", ("command not found",)),
        ("3 passed in 0.1 s", ()),
    ],
)
def test_errors_are_named(text: str, classes: tuple[str, ...]) -> None:
    assert error_classes(text) == classes


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("make seal: SealBrokenError: seal check failed", ("SealBrokenError",)),
        ("foo.errors.SealBrokenError: x", ("SealBrokenError",)),
        ("a.ts(3,1): error TS2307: Cannot find module; TS2307", ("TS2307",)),
        ("error[E0277]: trait bound", ("E0277",)),
        ("E_TARIFF_LOCK held; ERR_PNPM_OUTDATED_LOCKFILE", ("E_TARIFF_LOCK", "ERR_PNPM_OUTDATED_LOCKFILE")),
        ("TypeError: x is not a function\nModuleNotFoundError: y", ()),
        ("java.lang.NullPointerException\nDeprecationWarning: z", ()),
        ("SHA256 mismatch, RFC3339 expected, HTTP500 answered, EXPECTED, EDITOR, ENOENT, exit 127", ()),
        ("ERROR: Error: Exception", ()),
    ],
)
def test_an_error_has_a_name_of_its_own_or_tells_only_its_sort(text: str, names: tuple[str, ...]) -> None:
    assert error_names(text) == names


@pytest.mark.parametrize("text", said(INTENTIONS))
def test_an_agent_that_says_what_comes_next_intends(text: str) -> None:
    assert intends(text)


@pytest.mark.parametrize("text", said(NO_INTENTIONS))
def test_what_is_told_is_no_intention(text: str) -> None:
    assert not intends(text)


@pytest.mark.parametrize("text", said(REPORTS))
def test_an_agent_that_says_it_is_done_reports(text: str) -> None:
    assert reports(text)


@pytest.mark.parametrize("text", said(NO_REPORTS))
def test_a_plan_or_a_finding_is_no_report(text: str) -> None:
    assert not reports(text)


@pytest.mark.parametrize("text", said(DOUBTS))
def test_an_agent_that_doubts_says_so(text: str) -> None:
    assert hesitates(text)


@pytest.mark.parametrize("text", said(NO_DOUBTS))
def test_going_on_is_no_doubt(text: str) -> None:
    assert not hesitates(text)


def test_a_doubt_in_the_middle_of_a_long_summary_is_none() -> None:
    assert not hesitates("All is done. " * 60 + "Hmm, not sure. " + "All is done. " * 60)


@pytest.mark.parametrize("call", said(RISKS))
def test_what_is_hard_to_take_back_is_risky(call: str) -> None:
    assert risky(call)


@pytest.mark.parametrize("call", [*said(NO_RISKS), "cat > a.md <<'EOF'\ngit push --force\nEOF"])
def test_looking_and_talking_about_it_is_not_risky(call: str) -> None:
    assert not risky(call)


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    assert is_empty(text) or not is_acknowledgement(text)
    assert isinstance((asks_to_recall(text), corrects(text), error_classes(text), error_names(text)), tuple)
    assert {intends(text), reports(text), hesitates(text), risky(text)} <= {True, False}
