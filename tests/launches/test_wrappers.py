from __future__ import annotations

import pytest

from gonogo.launches import read_line


@pytest.mark.parametrize(
    "wrapper",
    [
        "sudo",
        "sudo -u vllm -E --",
        "nohup",
        "exec",
        "exec -a server",
        "time",
        "time -p",
        "nice -n 5",
        "nice -10",
        "ionice -c2 -n0",
        "setsid -w",
        "stdbuf -oL -e L",
        "timeout --signal=KILL 10m",
        "timeout -k 5 10m",
        "taskset -c 0-7",
        "chrt -f 99",
        "numactl --cpunodebind=0 --membind 0",
        "numactl -N 0 -m 0 -l",
        "env",
        "env -u FOO --",
        "uv run",
        "uv run --frozen --no-sync --python 3.12 --extra gpu",
        "uv tool run --from vllm",
        "uvx --with flashinfer-python -p 3.12",
        "pipx run --spec vllm",
        "poetry run",
        "pixi run -e cuda",
        "conda run -n serve --no-capture-output",
        "tini -s --",
        "dumb-init",
        "gosu vllm",
        "sudo nohup nice -n 5 env PYTHONUNBUFFERED=1 numactl --interleave=all",
    ],
)
def test_behind_a_wrapper(wrapper: str) -> None:
    launch = read_line(f"{wrapper} vllm serve m --port 80")
    assert (launch.engine, launch.args) == ("vllm", ("serve", "m", "--port", "80"))
    assert launch.argv == tuple(f"{wrapper} vllm serve m --port 80".split())


@pytest.mark.parametrize(
    ("line", "env"),
    [
        ("A=1 env B=2 vllm serve m", {"A": "1", "B": "2"}),
        ("A=1 B=2 env -u A vllm serve m", {"B": "2"}),
        ("A=1 env -i B=2 vllm serve m", {"B": "2"}),
        ("A=1 env - B=2 vllm serve m", {"B": "2"}),
        ("env -S 'A=1 vllm serve m'", {"A": "1"}),
        ("A=1 sudo B=2 vllm serve m", {"B": "2"}),
        ("A=1 sudo -E vllm serve m", {"A": "1"}),
        ("A=1 sudo -Eu root vllm serve m", {"A": "1"}),
        ("A=1 C=3 sudo --preserve-env=A,B vllm serve m", {"A": "1"}),
        ("A=1 nohup vllm serve m", {"A": "1"}),
    ],
)
def test_environment_through_a_wrapper(line: str, env: dict[str, str]) -> None:
    assert read_line(line).env == env


def test_what_sudo_drops_is_said() -> None:
    assert read_line("VLLM_USE_V1=0 sudo vllm serve m").notes == ("sudo does not pass on VLLM_USE_V1",)


@pytest.mark.parametrize(
    ("line", "release"),
    [
        ("uvx vllm@0.33.0 serve m", "vllm==0.33.0"),
        ("uvx --from vllm==0.32.0 vllm serve m", "vllm==0.32.0"),
        ("uvx --from 'vllm[audio]==0.32.0' vllm serve m", "vllm==0.32.0"),
        ("uv run --with vllm==0.33.0,numpy vllm serve m", "vllm==0.33.0"),
        ("uv run --with vllm==0.33.* vllm serve m", None),
        ("uv run --with 'vllm>=0.33.0' vllm serve m", None),
        ("uv run --with numpy==2.0.0 vllm serve m", None),
        ("uv run --with vllm==0.33.0 -m sglang.launch_server --model-path m", None),
        ("uv run --with sglang==0.5.23 -m sglang.launch_server --model-path m", "sglang==0.5.23"),
        ("pipx run --spec vllm==0.33.0 vllm serve m", "vllm==0.33.0"),
    ],
)
def test_an_installer_that_pins_the_release(line: str, release: str | None) -> None:
    assert read_line(line).release == release


def test_the_folder_a_wrapper_changes_to() -> None:
    assert read_line("env -C /srv vllm serve m").folder == "/srv"
    assert read_line("uv run --directory /srv vllm serve m").folder == "/srv"


def test_env_sets_a_variable_whose_name_is_not_known() -> None:
    launch = read_line('env "$VISIBLE=0,1" A=b vllm serve m')
    assert launch.args == ("serve", "m")
    assert launch.env == {"A": "b"}
    assert any("${VISIBLE}=0,1" in note for note in launch.notes)
