from __future__ import annotations

import pytest

from gonogo.launches.images import read_image

OLD = ("python3", "-m", "vllm.entrypoints.openai.api_server")
NEW = ("vllm", "serve")


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("vllm/vllm-openai:v0.33.0", "vllm==0.33.0"),
        ("vllm/vllm-openai:v0.33.0-cu129", "vllm==0.33.0"),
        ("vllm/vllm-openai:v0.28.0-ubuntu2404", "vllm==0.28.0"),
        ("vllm/vllm-openai:v0.11.0-x86_64", "vllm==0.11.0"),
        ("vllm/vllm-openai:v0.6.6.post1", "vllm==0.6.6.post1"),
        ("vllm/vllm-openai:v0.8.5.post1@sha256:0123", "vllm==0.8.5.post1"),
        ("vllm/vllm-openai-rocm:v0.31.0", "vllm==0.31.0"),
        ("docker.io/vllm/vllm-openai:v0.33.0", "vllm==0.33.0"),
        ("ghcr.io/x/vllm/vllm-openai:v0.33.0", "vllm==0.33.0"),
        ("my.reg:5000/vllm/vllm-openai:v0.33.0", "vllm==0.33.0"),
        ("public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo:v0.9.1", "vllm==0.9.1"),
        ("rocm/vllm:rocm7.0.0_vllm_0.11.1_20251103", "vllm==0.11.1"),
        ("rocm/vllm:rocm6.4.1_vllm_0.9.1", "vllm==0.9.1"),
        ("lmsysorg/sglang:v0.5.23-cu130", "sglang==0.5.23"),
        ("lmsysorg/sglang:v0.4.5-cu125", "sglang==0.4.5"),
        ("lmsysorg/sglang:v0.5.1.post2-cu126-gb200", "sglang==0.5.1.post2"),
        ("lmsysorg/sglang:v0.5.3rc1-cu129", "sglang==0.5.3rc1"),
        ("lmsysorg/sglang:v0.5.9-runtime", "sglang==0.5.9"),
        ("lmsysorg/sglang-rocm:v0.5.14-rocm720-mi30x-20260707", "sglang==0.5.14"),
        ("rocm/sgl-dev:v0.5.13.post1-ubuntu24.04-py3.14-rocm7.14", "sglang==0.5.13.post1"),
    ],
)
def test_a_tag_that_names_the_release(image: str, release: str) -> None:
    read = read_image(image)
    assert (read.release, read.engine) == (release, release.partition("==")[0])
    assert not read.notes
    assert not read.guessed


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai",
        "vllm/vllm-openai:latest",
        "vllm/vllm-openai:latest-cu129",
        "vllm/vllm-openai:nightly",
        "vllm/vllm-openai:nightly-e68efc685ab1e6f1eda004ced7157e3ca411da2f",
        "vllm/vllm-openai:cu134-nightly-x86_64-dev-20261019-mk",
        "vllm/vllm-openai:gemma4-0505-cu129",
        "vllm/vllm-openai:qwen38",
        "vllm/vllm-openai:${TAG}",
        "vllm/vllm-openai:v0.33.0.dev5",
        "vllm/vllm-openai@sha256:0123456789abcdef",
        "my.reg:5000/vllm/vllm-openai",
        "lmsysorg/sglang:latest",
        "lmsysorg/sglang:dev",
        "lmsysorg/sglang:nightly-dev-20251119-1234abcd",
        "lmsysorg/sglang:b200-cu129",
        "rocm/vllm:latest",
    ],
)
def test_a_moving_tag(image: str) -> None:
    read = read_image(image)
    assert read.release is None
    assert read.engine
    assert len(read.notes) == 1
    assert image in read.notes[0]
    assert "does not fix the release" in read.notes[0]


@pytest.mark.parametrize(
    ("image", "words"),
    [
        # ENTRYPOINT in docker/Dockerfile of these releases' sdists
        ("vllm/vllm-openai:v0.6.6.post1", OLD),
        ("vllm/vllm-openai:v0.10.2", OLD),
        ("vllm/vllm-openai:v0.11.0", OLD),
        ("vllm/vllm-openai:v0.11.1", NEW),
        ("vllm/vllm-openai:v0.12.0", NEW),
        ("vllm/vllm-openai:v0.33.0", NEW),
        ("vllm/vllm-openai:latest", NEW),
        ("vllm/vllm-openai-cpu:v0.11.0", OLD),
        ("vllm/vllm-openai-rocm:v0.13.0", ()),
        ("vllm/vllm-openai-rocm:v0.14.0", NEW),
        ("lmsysorg/sglang:v0.5.23", ()),
        ("rocm/vllm:latest", ()),
    ],
)
def test_entry_point(image: str, words: tuple[str, ...]) -> None:
    assert read_image(image).entry_point == words


def test_a_copy_is_taken_for_the_original_and_said_to_be() -> None:
    copy = read_image("ghcr.io/x/vllm-openai:v0.11.0")
    assert (copy.release, copy.entry_point, copy.guessed) == ("vllm==0.11.0", OLD, True)
    assert copy.notes == ("image ghcr.io/x/vllm-openai is taken to be a copy of vllm/vllm-openai",)
    other = read_image("quay.io/higginsd/vllm-cpu:65393ee064")
    assert (other.release, other.entry_point, other.guessed) == (None, NEW, True)


def test_an_unknown_image() -> None:
    image = read_image("python:3.12-slim")
    assert (image.engine, image.release, image.entry_point) == (None, None, None)
