from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.models.names import is_path, is_repository, is_sane, last_parts, normal, repository_in_cache_path


@pytest.mark.parametrize(
    "name",
    ["gpt2", "meta-llama/Llama-3.1-8B-Instruct", "yuhuili/EAGLE-LLaMA3.1-Instruct-8B", "Foo-BAR_foo.bar123", "a/b"],
)
def test_repositories(name: str) -> None:
    assert is_repository(name)
    assert not is_path(name)


# From huggingface_hub's own documentation of what is no repository, and what launches carry instead.
@pytest.mark.parametrize(
    "name",
    [
        "datasets/foo/bar", ".repo_id", "foo--bar", "foo.git", "foo..bar", "", "a/", "/a", "/models/llama", "./x",
        "../x", "~/x", "a b", "org/name\n", "org/näme", "x" * 97, "org/" + "x" * 97, "s3://bucket/x", "a\0b",
        "org/name:Q4_K_M",
    ],
)  # fmt: skip
def test_no_repositories(name: str) -> None:
    assert not is_repository(name)


@given(st.text())
def test_no_repository_leads_outside(name: str) -> None:
    if is_repository(name):
        assert name.count("/") <= 1
        assert not {"..", ".", ""} & set(name.split("/"))


def test_our_rule_is_the_hubs() -> None:
    """Asked of huggingface_hub itself, over names near the border of what it allows."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    @given(
        st.text(alphabet="aZ9-_./ é\n", max_size=8) | st.from_regex(r"[\w.-]{90,100}/[\w.-]{90,100}", fullmatch=True)
    )
    def agree(name: str) -> None:
        try:
            validate_repo_id(name)
            allowed = True
        except HFValidationError:
            allowed = False
        assert is_repository(name) == allowed

    agree()


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/models/llama", "/models/llama"), ("/models//llama/", "/models/llama"), ("//models/llama", "/models/llama"),
        ("./a/./b/../c", "a/c"), (".", "."), ("org/name/", "org/name"), ("/", "/"), ("//", "/"),
    ],
)  # fmt: skip
def test_one_path_one_spelling(path: str, plain: str) -> None:
    assert normal(path) == plain


def test_a_path_into_a_hub_cache_names_its_repository() -> None:
    path = "/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/9c925d64d72725edaf899c6cb9c377fd0709d9c5"
    assert repository_in_cache_path(path) == "Qwen/Qwen3-8B"
    assert repository_in_cache_path("/models/Qwen/Qwen3-8B") is None


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Qwen3-8B", ("qwen3-8b",)), ("DeepSeek-R1/", ("deepseek-r1",)), ("./Meta-Llama-3-8B/", ("meta-llama-3-8b",)),
        ("/data/Qwen/Qwen3-8B", ("qwen3-8b", "qwen")), ("..", ()), ("/", ()), ("~", ()),
    ],
)  # fmt: skip
def test_last_parts(name: str, parts: tuple[str, ...]) -> None:
    assert last_parts(name) == parts


@pytest.mark.parametrize("name", ["", "  ", "\0", "a\0b", "x" * 5000])
def test_what_names_nothing(name: str) -> None:
    assert not is_sane(name)
