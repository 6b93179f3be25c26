"""What the vendors' management libraries and command line tools answer on pretend hardware."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .gpucount import gpu_count
from .unknown import FakeModule

Describe = Callable[[Any], None]


def describe_nvml(hardware: dict[str, Any]) -> Describe:
    """pynvml, under whatever name an engine ships it. Without an NVIDIA driver nvmlInit fails, as it really does."""
    gpu = hardware["gpu"]
    there = gpu["vendor"] == "nvidia"
    memory = gpu["memory_mib"] << 20

    def fill(m: Any) -> None:
        class NVMLError(Exception):
            pass

        def init(*_args: Any) -> None:
            if not there:
                raise NVMLError("NVML Shared Library Not Found")

        def handle(index: Any) -> int:
            init()
            if int(index) != 0 and not 0 <= int(index) < gpu_count():
                raise NVMLError("Invalid Argument")
            return int(index)

        def by_uuid(uuid: Any) -> int:
            """Whoever names a GPU by its UUID has seen it; which one it is does not matter, they are alike."""
            init()
            text = uuid.decode() if isinstance(uuid, bytes) else str(uuid)
            if not text.startswith(("GPU-", "MIG-")):
                raise NVMLError("Not Found")
            return 0

        def memory_info(_handle: Any, *_version: Any) -> Any:
            if not gpu.get("nvml_memory", True):
                raise NVMLError("Not Supported")
            return types.SimpleNamespace(total=memory, free=memory, used=0)

        for kind in ("LibraryNotFound", "NotSupported", "InvalidArgument", "Uninitialized"):
            setattr(m, f"NVMLError_{kind}", type(f"NVMLError_{kind}", (NVMLError,), {}))
        m.NVMLError = NVMLError
        m.NVML_P2P_CAPS_INDEX_READ, m.NVML_P2P_CAPS_INDEX_WRITE, m.NVML_P2P_CAPS_INDEX_NVLINK = 0, 1, 2
        m.NVML_P2P_STATUS_OK, m.NVML_SUCCESS = 0, 0
        m.nvmlInit = m.nvmlInit_v2 = init
        m.nvmlInitWithFlags = init
        m.nvmlShutdown = lambda: None
        m.nvmlDeviceGetCount = m.nvmlDeviceGetCount_v2 = lambda: (init(), gpu_count())[1]
        m.nvmlDeviceGetHandleByIndex = m.nvmlDeviceGetHandleByIndex_v2 = handle
        m.nvmlDeviceGetHandleByUUID = by_uuid
        m.nvmlDeviceGetCudaComputeCapability = lambda h: tuple(gpu["capability"])
        m.nvmlDeviceGetName = lambda h: gpu["device_name"]
        m.nvmlDeviceGetUUID = lambda h: f"GPU-00000000-0000-0000-0000-{h:012d}"
        m.nvmlDeviceGetMemoryInfo = memory_info
        m.nvmlDeviceGetP2PStatus = lambda *_a: 0 if gpu["nvlink"] else 1
        m.nvmlDeviceGetNumaNodeId = lambda h: h * hardware["host"]["numa_nodes"] // max(gpu_count(), 1)
        m.nvmlDeviceGetPciInfo = lambda h: types.SimpleNamespace(busId=f"0000:{h + 1:02X}:00.0")
        m.nvmlSystemGetDriverVersion = lambda: "580.95.05"
        m.nvmlSystemGetCudaDriverVersion = lambda: 13000

    return fill


def describe_amdsmi(hardware: dict[str, Any]) -> Describe:
    """Amdsmi."""
    gpu = hardware["gpu"]

    def fill(m: Any) -> None:
        for name in ("AmdSmiException", "AmdSmiLibraryException", "AmdSmiParameterException"):
            setattr(m, name, type(name, (Exception,), {}))
        m.AmdSmiMemoryType = types.SimpleNamespace(VRAM=0, VIS_VRAM=1, GTT=2)
        m.amdsmi_init = m.amdsmi_shut_down = lambda *_a: None
        m.amdsmi_get_processor_handles = lambda: list(range(gpu_count()))
        m.amdsmi_get_gpu_asic_info = lambda h: {
            "market_name": gpu["device_name"],
            "target_graphics_version": gpu["gfx"],
            "num_compute_units": gpu["sm_count"],
            "device_id": gpu.get("pci_device_id") or "0x74a1",
            "vendor_id": "0x1002",
            "asic_serial": f"0x{h:016X}",
        }
        m.amdsmi_topo_get_link_type = lambda *_a: {"hops": 1, "type": 2}
        m.amdsmi_get_gpu_memory_total = lambda h, *_a: gpu["memory_mib"] << 20
        m.amdsmi_get_gpu_vram_info = lambda h: {"vram_type": 2, "vram_vendor": 1, "vram_size": gpu["memory_mib"]}
        m.amdsmi_get_gpu_device_uuid = lambda h: f"00000000-0000-0000-0000-{h:012d}"
        m.amdsmi_topo_get_numa_node_number = lambda h: 0

    return fill


def describe_cuda_python(_hardware: dict[str, Any]) -> Describe:
    """cuda-python: nothing of it is known."""
    return lambda m: None


def tools(hardware: dict[str, Any]) -> dict[str, Callable[[list[str]], str | None]]:
    """Command line tools that exist on this hardware: name → (words) → what it prints; None: not known."""
    gpu, host = hardware["gpu"], hardware["host"]
    found: dict[str, Callable[[list[str]], str | None]] = {"lscpu": lambda words: _lscpu(host, words)}
    if gpu["vendor"] == "nvidia":
        found["nvidia-smi"] = lambda words: _nvidia_smi(hardware, words)
    if gpu["vendor"] == "amd":
        found["rocminfo"] = lambda words: _rocminfo(hardware)
        found["rocm-smi"] = found["amd-smi"] = lambda words: None
    return found


def _nvidia_smi(hardware: dict[str, Any], words: list[str]) -> str | None:
    gpu = hardware["gpu"]
    query = next((word.partition("=")[2] for word in words if word.startswith("--query-gpu=")), None)
    plain = any("nounits" in word for word in words)
    memory = f"{gpu['memory_mib']}{'' if plain else ' MiB'}" if gpu.get("nvml_memory", True) else "[N/A]"
    known = {
        "memory.total": memory,
        "memory.free": memory,
        "memory.used": f"0{'' if plain else ' MiB'}",
        "name": gpu["device_name"],
        "gpu_name": gpu["device_name"],
        "compute_cap": ".".join(map(str, gpu["capability"])),
        "driver_version": "580.95.05",
        "count": str(gpu_count()),
    }
    if query is None:
        return None
    fields = query.split(",")
    if not all(field.strip() in known for field in fields):
        return None
    head = "" if any("noheader" in word for word in words) else ", ".join(fields) + "\n"
    return head + (", ".join(known[field.strip()] for field in fields) + "\n") * gpu_count()


def _rocminfo(hardware: dict[str, Any]) -> str:
    gpu = hardware["gpu"]
    size = gpu["memory_mib"] << 10
    agent = (
        "*******\nAgent {number}\n*******\n  Name:                    {gfx}\n  Marketing Name:          {name}\n"
        "  Device Type:             GPU\n  Pool Info:\n    Pool 1\n      Segment:                 GLOBAL; FLAGS: COARSE GRAINED\n"
        "      Size:                    {size}(0x{size:x}) KB\n"
    )
    return "".join(
        agent.format(number=n + 1, gfx=gpu["gfx"], name=gpu["device_name"], size=size) for n in range(gpu_count())
    )


def _lscpu(host: dict[str, Any], words: list[str]) -> str | None:
    cpus, nodes = host["cpus"], host["numa_nodes"]
    each = max(1, cpus // max(nodes, 1))
    rows = [(cpu, cpu, min(cpu // each, nodes - 1)) for cpu in range(cpus)]
    wanted = next(
        (word.partition("=")[2] for word in words if word.startswith(("-e=", "-p=", "--extended=", "--parse="))), None
    )
    if any(word in ("-J", "-Je", "--json") or word.startswith("-Je=") for word in words):
        fields = [
            f.lower() for f in (next((w.partition("=")[2] for w in words if "=" in w), "CPU,CORE,NODE")).split(",")
        ]
        table = [dict(zip(("cpu", "core", "node", "socket"), (*row, row[2]), strict=True)) for row in rows]
        import json

        return json.dumps({"cpus": [{f: row.get(f, "-") for f in fields} for row in table]})
    if wanted:
        fields = wanted.lower().split(",")
        head = "# " + ",".join(fields) + "\n"
        values = [dict(zip(("cpu", "core", "node", "socket"), (*row, row[2]), strict=True)) for row in rows]
        return head + "".join(",".join(str(value.get(f, "")) for f in fields) + "\n" for value in values)
    if words:
        return None
    return (
        f"Architecture:            {host['machine']}\nCPU(s):                  {cpus}\n"
        f"Model name:              {host['cpu_model']}\n"
        f"Thread(s) per core:      1\nCore(s) per socket:      {each}\nSocket(s):               {nodes}\n"
        f"NUMA node(s):            {nodes}\nFlags:                   {' '.join(host['cpu_flags'])}\n"
    )


def is_fake(module: Any) -> bool:
    """Is this module a stand-in?"""
    return isinstance(module, FakeModule)
