"""Confirms dry runs with the whole real command: ``vllm serve`` from the shell, not its start-up code in a fork.

    python bench/oracle/confirm_serve.py BIN_FOLDER_WITH_VLLM [--count 20]

Takes recorded launches of tests/data/oracle that end in different raise sites, runs the real command on each, and compares
how it ends with a gonogo dry run in the world of that machine: refused with the same message.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from agreement import dry_runs  # noqa: E402  its world is that of the machine that the answers were recorded on

DATA = HERE.parent.parent / "tests" / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=Path)
    parser.add_argument("--count", type=int, default=20)
    chosen = parser.parse_args()
    rows = _chosen(chosen.count)
    same = 0
    for row in rows:
        said = _ask_real(chosen.bin, row["argv"])
        agrees = _plain(row["ours"]["message"]) in _plain(said) and row["ours"]["outcome"] == "refused"
        same += agrees
        print(f"{'same' if agrees else 'DIFFERS':8} {' '.join(row['argv'])[:120]}", flush=True)
        if not agrees:
            print(f"    ours: {row['ours']['message'][:300]}\n    real: {said[-300:]!r}")
    print(f"{same} of {len(rows)} whole starts of vllm serve end as the dry run says")


def _chosen(count: int) -> list[dict[str, Any]]:
    """Refused launches, each with another raise site, with gonogo's own answer."""
    rows: list[dict[str, Any]] = []
    seen: set[tuple[str, int]] = set()
    for line in (DATA / "oracle" / "vllm-0.32.0.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row.get("outcome") != "refused" or row.get("env") or not row.get("site"):
            continue
        site = (row["site"]["path"], row["site"]["line"])
        if site not in seen and len(rows) < count * 4:
            seen.add(site)
            rows.append(row)
    rows = rows[:: max(1, len(rows) // count)][:count]
    machine = json.loads((DATA / "oracle" / "machine-vllm.json").read_text())
    with dry_runs("vllm", "0.32.0", machine, DATA) as ask:
        return [{**row, "ours": ask(row)} for row in rows]


def _ask_real(folder: Path, argv: list[str]) -> str:
    """All that the real command says."""
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    command = [str(folder / "vllm"), *argv, "--host", "127.0.0.1", "--port", "8124"]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, cwd=DATA, timeout=180)
    except subprocess.TimeoutExpired as late:
        return f"(still running) {late.stdout!r}"
    return done.stdout + done.stderr


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


if __name__ == "__main__":
    main()
