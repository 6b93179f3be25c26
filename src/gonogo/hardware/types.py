"""Pretend hardware as plain data: what a dry run is told about GPUs and their host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Vendor = Literal["nvidia", "amd", "cpu"]


@dataclass(frozen=True)
class GPU:
    """One GPU model as its driver and runtime describe it.

    ``name`` is gonogo's name (``H100-80GB``); ``device_name`` what the driver says (``NVIDIA H100 80GB HBM3``).
    ``memory_mib`` is the total that the driver reports, in MiB. ``capability`` is CUDA's compute capability, or for AMD
    the pair that the ROCm build of torch reports (gfx942 is (9, 4)); None for ``cpu``. ``gfx`` is AMD's architecture name.
    ``sm_count`` counts streaming multiprocessors or compute units. ``shared_memory_per_block_optin`` is in bytes.
    ``nvlink`` says whether GPUs of one node are connected all to all (NVLink, or Infinity Fabric on AMD).
    ``sources`` says for each fact where it comes from.
    """

    name: str
    vendor: Vendor
    device_name: str
    memory_mib: int
    capability: tuple[int, int] | None = None
    gfx: str | None = None
    sm_count: int = 0
    shared_memory_per_block_optin: int = 0
    l2_cache_bytes: int = 0
    warp_size: int = 32
    nvlink: bool = False
    integrated: bool = False
    machine: str = "x86_64"
    aliases: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Host:
    """The machine around the GPUs. Memory in bytes, limits as ``ulimit -n`` gives them."""

    ram_bytes: int = 2 << 40
    available_ram_bytes: int = 19 << 37
    cpus: int = 64
    numa_nodes: int = 2
    open_files_soft: int = 1048576
    open_files_hard: int = 1048576
    machine: str = "x86_64"
    cpu_model: str = "Intel(R) Xeon(R) Platinum 8480C"
    cpu_flags: tuple[str, ...] = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_tile", "amx_bf16", "amx_int8")
    hostname: str = "node-0"
    ip: str = "10.0.0.2"
    shm_bytes: int = 1 << 40


@dataclass(frozen=True)
class Hardware:
    """``count`` GPUs of one model in each of ``nodes`` nodes, and the host they sit in. ``count`` is 0 for ``cpu``."""

    gpu: GPU
    count: int = 1
    nodes: int = 1
    host: Host = Host()

    @property
    def label(self) -> str:
        """As people write it: ``8x H100-80GB``, ``2 nodes of 8x H100-80GB``, ``cpu``."""
        if self.gpu.vendor == "cpu":
            return self.gpu.name
        each = f"{self.count}x {self.gpu.name}"
        return each if self.nodes == 1 else f"{self.nodes} nodes of {each}"
