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
    the pair that the ROCm build of torch reports (gfx942 is (9, 4)); None for ``cpu``. ``gfx`` is AMD's architecture.
    ``sm_count`` counts streaming multiprocessors or compute units. ``shared_memory_per_block_optin`` is in bytes.
    ``nvlink`` says whether GPUs of one node are connected all to all (NVLink, or Infinity Fabric on AMD).
    ``torch_memory_mib`` is the total that torch reports, rounded down to MiB, where it is known to differ from the
    driver's (0: take ``memory_mib``). ``nvml_memory`` is False where NVML and ``nvidia-smi`` cannot say the memory
    (``[N/A]``), and ``memory_mib`` is then torch's. ``pci_device_id`` is AMD's, as amdsmi says it (``0x74a1``); empty
    where not known. ``max_per_node`` is the largest count in which one node of this GPU is sold. ``host`` names the
    kind of machine that it usually sits in (hosts.toml). ``sources`` says for each fact where it comes from; one that
    starts with ``derived:`` was not seen as such but follows from what is said there.
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
    torch_memory_mib: int = 0
    nvml_memory: bool = True
    pci_device_id: str = ""
    max_per_node: int = 8
    host: str = "datacentre"
    aliases: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def torch_memory_bytes(self) -> int:
        """The total memory that torch reports, in bytes (to the MiB)."""
        return (self.torch_memory_mib or self.memory_mib) << 20


@dataclass(frozen=True)
class Host:
    """The machine around the GPUs. Memory in bytes, limits as ``ulimit -n`` gives them."""

    ram_bytes: int = 2 << 40
    available_ram_bytes: int = 1945 << 30
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
    """``count`` GPUs of one model in each of ``nodes`` nodes, and the host they sit in. ``count`` is 0 for ``cpu``.

    ``assumed`` says, one line each, what was read into words that left something open (``A100``, ``H100:16``); it is no
    part of what the hardware is, so it does not count in comparisons.
    """

    gpu: GPU
    count: int = 1
    nodes: int = 1
    host: Host = Host()
    assumed: tuple[str, ...] = field(default=(), compare=False)

    @property
    def label(self) -> str:
        """As people write it: ``8x H100-80GB``, ``2 nodes of 8x H100-80GB``, ``cpu``."""
        if self.gpu.vendor == "cpu":
            return self.gpu.name
        each = f"{self.count}x {self.gpu.name}"
        return each if self.nodes == 1 else f"{self.nodes} nodes of {each}"
