from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gonogo.launches import read_command, read_line
from gonogo.launches.container import options
from gonogo.problems import UsageProblem

SERVER = "vllm.entrypoints.openai.api_server"


def test_the_documented_start() -> None:
    launch = read_line(
        "docker run --runtime nvidia --gpus all -v ~/.cache/huggingface:/root/.cache/huggingface "
        '--env "HF_TOKEN=<secret>" -p 8000:8000 --ipc=host vllm/vllm-openai:v0.33.0 --model mistralai/Mistral-7B-v0.1'
    )
    assert (launch.engine, launch.entry, launch.target) == ("vllm", "command", "vllm")
    assert launch.args == ("serve", "--model", "mistralai/Mistral-7B-v0.1")
    assert (launch.release, launch.image) == ("vllm==0.33.0", "vllm/vllm-openai:v0.33.0")
    assert launch.env == {"HF_TOKEN": "<secret>"}
    assert launch.mounts == {"/root/.cache/huggingface": str(Path.home() / ".cache/huggingface")}
    assert launch.gpu_count is None
    assert not launch.notes
    assert launch.argv[:2] == ("docker", "run")


def test_an_older_image_starts_the_module() -> None:
    launch = read_line("docker run --gpus all vllm/vllm-openai:v0.10.2 --model m")
    assert (launch.entry, launch.target, launch.args) == ("module", SERVER, ("--model", "m"))


def test_an_image_without_entry_point_takes_the_whole_command() -> None:
    launch = read_line(
        "sudo podman run --gpus 2 --shm-size 32g lmsysorg/sglang:v0.5.23-cu130 "
        "python3 -m sglang.launch_server --model-path m --tp 2"
    )
    assert (launch.engine, launch.args) == ("sglang", ("--model-path", "m", "--tp", "2"))
    assert (launch.release, launch.gpu_count) == ("sglang==0.5.23", 2)
    with pytest.raises(UsageProblem, match="cannot tell which engine `--model-path m` starts"):
        read_line("docker run lmsysorg/sglang:v0.5.23 --model-path m")


def test_words_behind_the_image_are_not_touched() -> None:
    words = ["docker", "run", "vllm/vllm-openai:v0.33.0", "m", "--rm", "-e", "A=b", "--", "--gpus", "all"]
    assert read_command(words).args == ("serve", *words[3:])
    doubled = read_line("docker run vllm/vllm-openai:v0.33.0 vllm serve m")
    assert doubled.args == ("serve", "vllm", "serve", "m")


@pytest.mark.parametrize(
    ("run", "args"),
    [
        ("--entrypoint vllm IMAGE serve m", ("serve", "m")),
        ("--entrypoint=/bin/bash IMAGE -c 'vllm serve m'", ("serve", "m")),
        ("--entrypoint '' IMAGE vllm serve m", ("serve", "m")),
        ("""--entrypoint '["vllm","serve"]' IMAGE m""", ("serve", "m")),
        ("-it --rm IMAGE m", ("serve", "m")),
        ("-dit --name=x IMAGE m", ("serve", "m")),
        ("-dp 8000:8000 IMAGE m", ("serve", "m")),
        ("-dp8000:8000 -u=1000 IMAGE m", ("serve", "m")),
        ("--rm=true -d=false --init IMAGE m", ("serve", "m")),
        ("--ulimit memlock=-1 --ulimit stack=67108864 IMAGE m", ("serve", "m")),
        ("--device /dev/kfd --device=/dev/dri --group-add video IMAGE m", ("serve", "m")),
        ("--cap-add SYS_PTRACE --security-opt seccomp=unconfined IMAGE m", ("serve", "m")),
        ("--restart unless-stopped --network host -- IMAGE m", ("serve", "m")),
        ("--userns keep-id --pull newer --replace IMAGE m", ("serve", "m")),
    ],
)
def test_options(run: str, args: tuple[str, ...]) -> None:
    for client in ("docker", "docker container", "podman", "nerdctl -n k8s.io", "docker --context=lab --debug"):
        line = f"{client} run {run.replace('IMAGE', 'vllm/vllm-openai:v0.33.0')}"
        if client == "docker container":
            line = f"docker container run {run.replace('IMAGE', 'vllm/vllm-openai:v0.33.0')}"
        launch = read_line(line)
        assert (launch.engine, launch.args, launch.release) == ("vllm", args, "vllm==0.33.0")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("docker", "`docker` starts no container"),
        ("docker compose up", "`docker compose up` starts no container: gonogo checks `docker run ... IMAGE`"),
        ("docker run --help", "names no image"),
        ("docker --version", "starts no container"),
        ("docker run --rm -it", "names no image"),
        ("docker run --name", "the option --name needs a value"),
        ("docker run -itv", "the option -itv needs a value"),
        ("docker run --tensor-parallel-size 2 vllm/vllm-openai", "docker has no option --tensor-parallel-size"),
        ("docker run -z vllm/vllm-openai", "docker has no option -z"),
        ("docker run acme/llm:1 --model m", "cannot tell what image acme/llm:1 starts"),
        ("docker run acme/llm:1", "cannot tell what image acme/llm:1 starts"),
        ("docker run vllm/vllm-openai:v0.33.0 --entrypoint", ""),
    ],
)
def test_refused(line: str, says: str) -> None:
    if not says:
        assert read_line(line).args == ("serve", "--entrypoint")
        return
    with pytest.raises(UsageProblem) as caught:
        read_line(line)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ("", None),
        ("--gpus all", None),
        ("--gpus=all", None),
        ("--gpus 4", 4),
        ("--gpus count=2", 2),
        ("--gpus all,capabilities=utility", None),
        ("--gpus -1", None),
        ("--gpus device=3", 1),
        ("""--gpus '"device=0,1"'""", 2),
        ("""--gpus '"device=GPU-3a23c669-1f69-c64e-cf85-44e9b07e7a2a,1,2"'""", 3),
        ("""--gpus '"capabilities=compute,utility","device=0,1"'""", 2),
        ("--device nvidia.com/gpu=0 --device nvidia.com/gpu=1", 2),
        ("--device nvidia.com/gpu=all", None),
        ("--device /dev/kfd --device /dev/dri", None),
        ("--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=0,1,2", 3),
        ("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all", None),
        ("--gpus $N", None),
    ],
)
def test_gpus(options: str, count: int | None) -> None:
    assert read_line(f"docker run {options} vllm/vllm-openai:v0.33.0 m").gpu_count == count


def test_gpus_without_the_second_quotes() -> None:
    launch = read_line("docker run --gpus device=0,1 vllm/vllm-openai:v0.33.0 m")
    assert launch.gpu_count is None
    assert "docker wants more quotes" in launch.notes[0]


def test_mounts() -> None:
    launch = read_line(
        "docker run -v /data/models:/models:ro -v ./hf:/root/hf --volume=cache:/cache -v /anonymous "
        "-v 'C:\\models:/win' --mount type=bind,source=/srv/a,target=/a,readonly "
        "--mount type=bind,src=/srv/b,dst=/b --mount type=volume,source=v,target=/v vllm/vllm-openai /models/m"
    )
    assert launch.mounts == {
        "/models": "/data/models",
        "/root/hf": "./hf",
        "/win": "C:\\models",
        "/a": "/srv/a",
        "/b": "/srv/b",
    }


def test_environment() -> None:
    launch = read_line("T=1 docker run -e A=1 -eB=2 --env C= --env=D=a=b -e T -e U vllm/vllm-openai:v0.33.0 m")
    assert launch.env == {"A": "1", "B": "2", "C": "", "D": "a=b", "T": "1"}
    assert launch.unknown_env == ("U",)
    assert launch.notes == ("U: comes from outside the launch, so the value is not known",)
    assert read_line("T=1 docker run vllm/vllm-openai:v0.33.0 m").env == {}


def test_an_environment_file_comes_before_the_options(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("\ufeff# comment\n  A=from file\nB='quotes stay' \n\nC=1\nTOKEN\n")
    launch = read_line(f"docker run -e C=2 --env-file {file} vllm/vllm-openai:v0.33.0 m")
    assert launch.env == {"A": "from file", "B": "'quotes stay' ", "C": "2"}
    assert len(launch.notes) == 1
    assert "TOKEN" not in launch.notes[0]


def test_an_environment_file_that_is_not_here(tmp_path: Path) -> None:
    missing = read_line(f"docker run --env-file {tmp_path}/no vllm/vllm-openai:v0.33.0 m")
    assert "its variables are not known" in missing.notes[0] or "is not read" in missing.notes[0]


@pytest.mark.parametrize("path", ["/dev/zero", "/proc/self/environ", "pipe", "huge", "key", "."])
def test_an_environment_file_that_is_none(path: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").write_text("A=b\n" * 300_000)
    (tmp_path / "key").write_text("-----BEGIN KEY-----\nc2VjcmV0/+\n")
    launch = read_command(["docker", "run", "--env-file", str(tmp_path / path), "vllm/vllm-openai:v0.33.0", "m"])
    assert launch.env == {}
    assert len(launch.notes) == 1
    assert "c2Vj" not in launch.notes[0]


def test_working_folder() -> None:
    assert read_line("cd /x && docker run -w /models vllm/vllm-openai:v0.33.0 ./m").folder == "/models"
    assert read_line("cd /x && docker run vllm/vllm-openai:v0.33.0 ./m").folder is None


def test_an_image_of_one_engine_that_starts_the_other() -> None:
    launch = read_line("docker run lmsysorg/sglang:v0.5.23 vllm serve m")
    assert (launch.engine, launch.release) == ("vllm", None)
    assert launch.notes == ("the image is one of sglang==0.5.23, which says nothing of vllm",)


@pytest.mark.parametrize(
    ("line", "entry", "args"),
    [
        ("docker run quay.io/x/vllm-cpu:1 --model m", "command", ("serve", "--model", "m")),
        ("docker run quay.io/x/vllm-cpu:1 vllm serve m", "command", ("serve", "m")),
        ("docker run ghcr.io/x/vllm-openai:v0.11.0 --model m", "module", ("--model", "m")),
        ("docker run acme/llm:1 vllm serve m", "command", ("serve", "m")),
    ],
)
def test_an_image_nobody_knows(line: str, entry: str, args: tuple[str, ...]) -> None:
    launch = read_line(line)
    assert (launch.entry, launch.args) == (entry, args)
    assert launch.notes


@pytest.mark.skipif(shutil.which("docker") is None, reason="no docker here")
def test_the_option_table_is_that_of_docker() -> None:
    text = subprocess.run(["docker", "run", "--help"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^  (?:-(\w), |    )--([a-z0-9-]+)( \w[\w-]*)? ", text, re.MULTILINE)
    assert len(found) > 80
    _, run = options()
    for short, name, value in found:
        assert name in (run.values if value else run.switches), name
        if short:
            assert run.short[short] == name


def test_no_option_is_of_both_kinds() -> None:
    for table in options():
        assert not table.values & table.switches
        assert set(table.short.values()) <= table.values | table.switches
