"""The table of secrets: each rule finds its own shape, and leaves what is near it."""

import pytest

from governance.screening.matching import Matcher
from governance.screening.secrets import SECRETS, SHAPED
from governance.screening.values import trimmed

MATCHER = Matcher(SECRETS)
A, H, U = "aB3dE6gH1", "0a1b2c3d", "AB3DE6GH"  # pieces that values are made of, so that no file holds a whole one
WORD = "zq!42" + "xYw9"


def named(text: str) -> str | None:
    return next((hit.rule.family.removeprefix("secret.") for hit in MATCHER.find(text.encode())), None)


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("github-token", "gh" + "o_" + A * 4),
        ("github-token", "github" + "_pat_" + A * 8),
        ("gitlab-token", "gl" + "pat-" + A * 3),
        ("aws-key-id", "AK" + "IA" + U * 2),
        ("gcp-key", "AI" + "za" + (A * 4)[:35]),
        ("azure-key", "Account" + "Key=" + A * 8),
        ("azure-key", "https://x.example/c?sv=1&" + "sig=" + A * 5),
        ("aws-signature", "X-Amz-" + "Signature=" + H * 8),
        ("slack-token", "xo" + "xb-" + A * 3),
        ("webhook", "hooks.slack" + ".com/services/" + A * 3),
        ("stripe-key", "sk_" + "live_" + A * 3),
        ("anthropic-key", "sk-" + "ant-api03-" + A * 4),
        ("openai-key", "sk-" + "proj-" + A * 5),
        ("npm-token", "np" + "m_" + A * 4),
        ("npm-token", "//registry.example/:_auth" + "Token=" + A * 3),
        ("pypi-token", "py" + "pi-" + A * 8),
        ("huggingface-token", "h" + "f_" + "aBcDeFgHiJ" * 4),
        ("telegram-token", "123456789:" + "AA" + A * 4),
        ("sendgrid-key", "S" + "G." + A * 2 + "." + A * 4),
        ("twilio-key", "S" + "K" + H * 4),
        ("aliyun-key-id", "LT" + "AI" + A * 2),
        ("tencent-key-id", "AK" + "ID" + A * 4),
        ("jwt", "ey" + "J" + A + ".ey" + "J" + A + "." + A * 2),
        ("service-token", "do" + "p_v1_" + H * 8),
        ("service-token", "gs" + "k_" + A * 6),
        ("authorization", "Authorization: Token " + A * 3),
        ("authorization", "use the header Bear" + "er " + A * 3),
        ("url-password", f"redis://:{WORD}@cache:6379"),
        ("login", f"curl -sS -u admin:{WORD} https://x.example"),
        ("login", f"sshpass -p {WORD} ssh host"),
        ("netrc", f"machine git.example login bot password {WORD}"),
        ("assignment", f"DB_PASSWORD={WORD}"),
        ("assignment", f'  api_token: "{A * 2}"'),
        ("assignment", f"{{'client_secret' => '{A * 2}'}}"),
        ("assignment", "DB_PASSWORD=correcthorsebattery"),
        ("assignment", f"密钥 token：{A * 2}"),
        ("option", f"deploy --token {A * 2}"),
        ("password", f"the root password for staging is {WORD}"),
        ("password", f"数据库口令改成 {WORD}，别外传"),
        ("random", "seen in the log: " + "q8Zr2Lw9Xc4Vb7Nm1Kj6Hg3Fd5Sa0Pq8Tz"),
    ],
)
def test_a_secret_is_found_and_named(family: str, text: str) -> None:
    assert named(text) == family


@pytest.mark.parametrize(
    "text",
    [
        "AK" + "IAIOSFODNN7EXAMPLE",
        "sk-learn-compatible-estimator-interface",
        "postgres://postgres:postgres@localhost/test",
        "postgres://user:${PASSWORD}@db/prod",
        "ssh://git@git.example:22/team/repo.git",
        "docker://alpine:3.18@sha256:" + H * 8,
        "password = getpass.getpass('Password: ')",
        "token = tokens[index_of_best]",
        "password: Optional[str] = None",
        "The password is required and must have 12 characters.",
        "the token is rotated daily; the key is sha256-hashed",
        "凡包含密码、密钥、token 的内容一律不得写入",
        "密码是 bcrypt 哈希",
        "max_tokens=128000",
        "export PGPASSWORD=postgres",
        '"password": "Enter your password here"',
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + A * 4,
        "data:image/png;base64," + A * 30,
        "-----BEGIN CERTIFICATE-----\nq8Zr2Lw9Xc4Vb7Nm1Kj6Hg3Fd5Sa0Pq8TzQ8zR2lW9xC4vB7nM1kJ6hG3fD5sA0",
        "NODE_OPTIONS=--max-old-space-size=6144",
        "h1:q8Zr2Lw9Xc4Vb7Nm1Kj6Hg3Fd5Sa0Pq8Tz=",
    ],
)
def test_what_only_stands_near_the_shape_of_a_secret_is_left(text: str) -> None:
    assert named(text) is None


FOUND = {
    "secret.discord-token": "M" + "Tk4" * 8 + "." + "Gk3aBz" + "." + "x9Zq_" * 6,
    "secret.baidu-key-id": "ALTAK" + "x9Zq" * 5,
    "secret.volcengine-key-id": "AKLT" + "x9Zq" * 9,
    "secret.mailchimp-key": "0c0f" * 8 + "-us12",
    "secret.terraform-token": "Cq8Nb9gHZAd5qE" + ".atlasv1." + "x9Zq" * 16,
    "secret.webhook": "https://" + "open.feishu.cn/open-apis/bot/v2/hook/" + "4d66d01b-fb1b-ced6-352b-87f50a75016a",
}


@pytest.mark.parametrize(("family", "value"), FOUND.items(), ids=FOUND)
def test_a_token_is_known_by_its_form(family: str, value: str) -> None:
    hits = [hit for hit in MATCHER.find(f"it is {value}, they say".encode()) if hit.rule.family == family]
    assert hits


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SMTP_PASS=LU17l63Yp1VE", "LU17l63Yp1VE"),
        ("user=admin pass=649xKFSb14", "649xKFSb14"),
        ("HEROKU_API_KEY=eb8450ae-2a1c-5ed5-5713-42c3967d286c", "eb8450ae-2a1c-5ed5-5713-42c3967d286c"),
        ("db.internal:5432:app:app:rvZcmT4a4Ad5y2", "rvZcmT4a4Ad5y2"),
        ("mysql -u root -p4lmtEsPUEZ app", "4lmtEsPUEZ"),
        ("the encryption key " + "6db0a63c" * 8, "6db0a63c" * 8),
        ("PIN/password -> Qcie0xe9qG", "Qcie0xe9qG"),
    ],
)
def test_a_secret_is_known_by_where_it_stands(text: str, value: str) -> None:
    assert value in [trimmed(hit.value) for hit in MATCHER.find(text.encode())]


@pytest.mark.parametrize(
    "text",
    [
        "bypass=somethingL0ng",
        "--- PASS: TestGetAllFiles2/tree1_nil (0.00s)",
        "compass: NorthWest12",
        "request_id=eb8450ae-2a1c-5ed5-5713-42c3967d286c",
        "cache key d670460b4b4aece5915caf5c68d12f560a9fe3e4",
        "def token(self) -> Optional[str]:",
        "mysql -u root -p app",
        "localhost:8080:container:port",
    ],
)
def test_what_stands_like_it_and_is_none_stays(text: str) -> None:
    assert list(MATCHER.find(text.encode())) == []


def test_what_is_known_by_its_form_needs_no_word_beside_it() -> None:
    assert "secret.github-token" in SHAPED
    assert "secret.assignment" not in SHAPED and "secret.random" not in SHAPED
