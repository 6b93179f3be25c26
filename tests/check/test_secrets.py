from __future__ import annotations

import json

import pytest

from gonogo.check.secrets import without_secrets, without_secrets_of
from gonogo.launches import Launch, read_command, read_line

KEY = "sk-proj-Zx81kQ"


def masked(*words: str) -> Launch:
    return without_secrets(read_command(words))


@pytest.mark.parametrize(
    "name",
    [
        *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY", "VLLM_API_KEY", "AWS_SECRET_ACCESS_KEY", "S3_SECRET"),
        *("AWS_SESSION_TOKEN", "REDIS_PASSWORD", "DB_PASSWD", "GITHUB_TOKEN", "TOKEN", "PASSWORD", "WANDB_API_KEY"),
        *("AWS_ACCESS_KEY_ID", "MY_CREDENTIALS", "SSL_PASSPHRASE", "MY_PRIVATE_KEY", "hf_token"),
    ],
)
def test_variables(name: str) -> None:
    assert masked(f"{name}={KEY}", "vllm", "serve", "x").env == {name: "***"}
    assert masked(f"{name}=", "vllm", "serve", "x").env == {name: ""}  # not set is not the same as set


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SGLANG_USE_AITER_FP8_PER_TOKEN", "1"),
        ("SGLANG_USE_AITER_FP8_PER_TOKEN", "true"),
        ("SGLANG_LOG_DECODE_GRAPH_KEY", "batch_size"),
        ("VLLM_MAX_TOKENS_PER_EXPERT_FUSED_MOE", "131072"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("VLLM_USE_TOKENIZER", "hf-internal/tok"),
        ("KEYBOARD", "qwerty-layout"),
        ("VLLM_ATTENTION_BACKEND", "FLASH_ATTN"),
    ],
)
def test_variables_that_hide_nothing(name: str, value: str) -> None:
    assert masked(f"{name}={value}", "vllm", "serve", "x").env == {name: value}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--api-key", KEY], ["--api-key", "***"]),
        (["--api-key", "a"], ["--api-key", "***"]),
        ([f"--api-key={KEY}"], ["--api-key=***"]),
        (["--api-key", KEY, "second-key", "--port", "1"], ["--api-key", "***", "***", "--port", "1"]),
        (["--api-key", KEY, "org/model"], ["--api-key", "***", "org/model"]),  # may be what is to be served
        (["--admin-api-key", KEY], ["--admin-api-key", "***"]),
        (["--hf-token", KEY], ["--hf-token", "***"]),
        (["--hf-token", "--port", "1"], ["--hf-token", "--port", "1"]),
        (["--hf_token", KEY], ["--hf_token", "***"]),
        (["--ssl-keyfile-password", KEY], ["--ssl-keyfile-password", "***"]),
        (["--seed-token", "<|im_start|>"], ["--seed-token", "<|im_start|>"]),
        (["--max-num-batched-tokens", "131072"], ["--max-num-batched-tokens", "131072"]),
        (["--tokenizer", "org/tokenizer"], ["--tokenizer", "org/tokenizer"]),
        (["--ssl-keyfile", "/etc/key.pem"], ["--ssl-keyfile", "/etc/key.pem"]),
        (["--grouping-skip-keys", "abcdefghij"], ["--grouping-skip-keys", "abcdefghij"]),
        (["--endpoint", f"https://me:{KEY}@host:1/x"], ["--endpoint", "https://***@host:1/x"]),
        (["--header", f"Authorization: Bearer {KEY}"], ["--header", "Authorization: Bearer ***"]),
        (["--override", '{"eos_token": "<|end_of_text|>"}'], ["--override", '{"eos_token": "<|end_of_text|>"}']),
    ],
)
def test_options(words: list[str], expected: list[str]) -> None:
    launch = masked("vllm", "serve", "org/model", *words)
    assert list(launch.args) == ["serve", "org/model", *expected]
    assert list(launch.argv) == ["vllm", "serve", "org/model", *expected]


@pytest.mark.parametrize("front", ["", "--extra="])
def test_json_keeps_its_other_values(front: str) -> None:
    given = {"aws_secret_access_key": KEY, "endpoint": "host", "n": 1, "deep": [{"password": "p"}]}
    word = masked("vllm", "serve", "x", "--extra", front + json.dumps(given)).args[-1]
    assert word.startswith(front)
    expected = {"aws_secret_access_key": "***", "endpoint": "host", "n": 1, "deep": [{"password": "***"}]}
    assert json.loads(word.removeprefix(front)) == expected


def test_json_without_secrets_stays_as_it_was_written() -> None:
    text = '{"method":"eagle",   "num_speculative_tokens":3}'
    assert masked("vllm", "serve", "x", "--speculative-config", text).args[-1] == text


@pytest.mark.parametrize(
    "words",
    [
        ["bash", "-c", f"export HF_TOKEN='{KEY}' && vllm serve org/model --api-key {KEY}"],
        ["env", f"HF_TOKEN={KEY}", "vllm", "serve", "org/model"],
        [
            "docker",
            "run",
            "-e",
            f"HF_TOKEN={KEY}",
            "vllm/vllm-openai:v0.33.0",
            "--model",
            "org/model",
            f"--api-key={KEY}",
        ],
        [
            "docker",
            "run",
            f"--env=HF_TOKEN={KEY}",
            "vllm/vllm-openai:v0.33.0",
            "--model",
            "org/model",
            "--api-key",
            KEY,
        ],
        ["bash", "-c", f'HF_TOKEN="{KEY}" vllm serve org/model --note "the token is $HF_TOKEN"'],
        ["bash", "-c", f"HF_TOKEN={KEY}; export HF_TOKEN; vllm serve org/model --note $HF_TOKEN"],
        [f"LLM('org/model', hf_token='{KEY}')"],
        [f"LLM('org/model', hf_overrides={{'api_key': '{KEY}'}})"],
    ],
)
def test_nothing_of_a_launch_holds_the_secret(words: list[str]) -> None:
    launch = masked(*words)
    assert KEY not in repr(launch)
    assert "***" in repr(launch)
    assert "org/model" in repr(launch)
    original = read_command(words)
    assert (launch.engine, launch.release, launch.image) == (original.engine, original.release, original.image)
    assert len(launch.args) == len(original.args)
    assert launch.env.keys() == original.env.keys()


def test_a_launch_without_secrets_stays_as_it_is() -> None:
    launch = read_line(
        "VLLM_USE_V1=1 vllm serve org/model --max-model-len 8192 --served-model-name 'a b' --token-ids 1"
    )
    assert without_secrets(launch) == launch


def test_a_message_that_quotes_the_command() -> None:
    words = ["foo", "--api-key", KEY, "-x", f"HF_TOKEN={KEY}2"]
    text = f"cannot tell which engine `foo --api-key {KEY} -x HF_TOKEN={KEY}2` starts"
    assert without_secrets_of(text, words) == "cannot tell which engine `foo --api-key *** -x HF_TOKEN=***` starts"
    assert without_secrets_of(f"no such folder: {KEY}", ["vllm"], {"MY_TOKEN": KEY}) == "no such folder: ***"


@pytest.mark.parametrize(
    "word", ["a" * 100_000, "a-" * 50_000, "--" + "api-" * 30_000, "{" * 100_000, "token " * 20_000]
)
def test_long_words_take_no_time_that_grows_with_their_square(word: str) -> None:
    assert without_secrets_of(word, [word]) == word  # a regular expression that backtracks would be here for hours
