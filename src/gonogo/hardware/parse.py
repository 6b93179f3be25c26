"""``H100:8`` and the like, as people write hardware."""

from __future__ import annotations

import re

from gonogo.hardware.catalog import Found, find_gpu
from gonogo.hardware.hosts import host_named
from gonogo.hardware.types import Hardware
from gonogo.problems import UsageProblem

MOST_GPUS = 1024
"""The largest number of GPUs, over all nodes, that gonogo takes for meant."""

_FORM = "NAME[:COUNT[xNODES]], as in H100-80GB:8 or H100-80GB:8x2"
_NUMBERS = re.compile(r"(?P<count>[0-9]+)(?:[xX×](?P<nodes>[0-9]+))?")
_COUNT_FIRST = re.compile(r"([0-9]{1,4}) ?[xX×] ?(?=.*[A-Za-z])(.+)")
_COUNT_BEHIND = re.compile(r"(.+?) ?[xX×] ?([0-9]{1,4})")


def parse_hardware(text: str) -> Hardware:
    """The hardware that ``NAME[:COUNT[xNODES]]`` describes, with the host that such GPUs usually sit in.

    ``COUNT`` is per node: ``H100-80GB:8x2`` is two nodes of eight. Left out, it is one GPU; ``cpu`` has neither.

    A count without nodes that no node of that GPU holds (``H100-80GB:16``; see ``GPU.max_per_node``) leaves the split
    unsaid. People mean several full nodes by it: no board with more than eight H100 is sold, and public reports of
    "16 GPUs" or "24 GPUs" come from two and three nodes of eight. So it is split into the fewest equal nodes, and
    ``Hardware.assumed`` says so; ``:16x1`` insists on one node. It matters, for an engine compares what it is asked for
    with the GPUs of its own node. A count that cannot be split evenly has to be written with its nodes.

    Raises UsageProblem for an unknown GPU, for zero, and for more than 1024 GPUs in all.
    """
    name, colon, numbers = text.strip().rpartition(":")
    if not colon:
        name, numbers = numbers, "1"
    if not name.strip():
        raise UsageProblem(f"no GPU is named in {_shown(text)}: write {_FORM}")
    found = _found(name, text)
    gpu = found.gpu
    assumed = [] if found.assumed is None else [found.assumed]
    if gpu.vendor == "cpu":
        if colon:
            raise UsageProblem(f"cpu takes no count, so {_shown(text)} has to be cpu")
        return Hardware(gpu, 0, 1, host_named(gpu.host))
    match = _NUMBERS.fullmatch(numbers.strip())
    if match is None:
        raise UsageProblem(f"{_shown(numbers)} in {_shown(text)} is no number of GPUs: write {_FORM}")
    count = _number(match["count"], text)
    if match["nodes"] is not None:
        nodes = _number(match["nodes"], text)
    elif count <= gpu.max_per_node:
        nodes = 1
    else:
        nodes = -(-count // gpu.max_per_node)
        if count % nodes:
            raise UsageProblem(
                f"{count} {gpu.name} do not split evenly into nodes of at most {gpu.max_per_node}: "
                f"write {gpu.name}:COUNTxNODES, or {gpu.name}:{count}x1 for one node"
            )
        whole, count = count, count // nodes
        assumed.append(
            f"nodes: {whole} {gpu.name} are read as {nodes} nodes of {count} (write {gpu.name}:{whole}x1 for one node)"
        )
    if count * nodes > MOST_GPUS:
        raise UsageProblem(f"{_shown(text)} is more than {MOST_GPUS} GPUs: write {_FORM}")
    return Hardware(gpu, count, nodes, host_named(gpu.host), tuple(assumed))


def _found(name: str, text: str) -> Found:
    """The GPU called ``name``; where there is none, habits of other tools (``8xH100``, ``H100x8``) are pointed out."""
    try:
        return find_gpu(name)
    except UsageProblem:
        first, behind = _COUNT_FIRST.fullmatch(text.strip()), _COUNT_BEHIND.fullmatch(text.strip())
        for match, number, meant in ((first, 1, 2), (behind, 2, 1)):
            if match and _is_known(match[meant]):
                instead = f"{match[meant]}:{match[number]} for {match[number]} GPUs in one node"
                raise UsageProblem(f"{_shown(text)} is not understood: write {instead}") from None
        raise


def _is_known(name: str) -> bool:
    try:
        find_gpu(name)
    except UsageProblem:
        return False
    return True


def _number(digits: str, text: str) -> int:
    digits = digits.lstrip("0")
    if not digits:
        raise UsageProblem(f"{_shown(text)} asks for 0: at least one GPU in one node is needed, or cpu")
    if len(digits) > len(str(MOST_GPUS)) or int(digits) > MOST_GPUS:
        raise UsageProblem(f"{_shown(text)} is more than {MOST_GPUS} GPUs: write {_FORM}")
    return int(digits)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
