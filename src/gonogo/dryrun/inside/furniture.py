"""What stands in the sandboxes: pretend system files for the hardware's host, empty homes, and the model facts."""

from __future__ import annotations

import os
import shutil
from typing import Any

_OWN = ("tmp", "root/.cache", "work", "dev/shm", "var/tmp")


#: A library that torch's build for NVIDIA has loaded.
CUDA_RUNTIME = "/usr/local/cuda/lib64/libcudart.so.13"


def furnish(sandbox: str, hardware: dict[str, Any], tools: list[str]) -> None:
    """Make the folders of the world: /proc, /sys, /etc as this hardware's host has them, and empty /tmp, /root, /work."""
    host = hardware["host"]
    nvidia = hardware["gpu"]["vendor"] == "nvidia"
    kib = host["ram_bytes"] >> 10
    flags = " ".join(host["cpu_flags"])
    each = max(1, host["cpus"] // max(1, host["numa_nodes"]))
    maps = "7f0000000000-7f0000001000 r-xp 00000000 00:00 0          /usr/lib/x86_64-linux-gnu/libc.so.6\n"
    if nvidia:
        maps += f"7f0000002000-7f0000003000 r-xp 00000000 00:00 0          {CUDA_RUNTIME}\n"
    texts = {
        "proc/meminfo": f"MemTotal:       {kib} kB\nMemFree:        {kib} kB\n"
        f"MemAvailable:   {host['available_ram_bytes'] >> 10} kB\n"
        "Buffers:        0 kB\nCached:         0 kB\nSwapTotal:      0 kB\nSwapFree:       0 kB\n",
        "proc/cpuinfo": "".join(
            f"processor\t: {n}\nvendor_id\t: GenuineIntel\nmodel name\t: {host['cpu_model']}\nflags\t\t: {flags}\n\n"
            for n in range(host["cpus"])
        ),
        "proc/self/maps": maps,
        "proc/self/status": f"Name:\tpython3\nCpus_allowed_list:\t0-{host['cpus'] - 1}\n",
        "proc/self/cgroup": "0::/\n",
        "proc/self/mountinfo": "",
        "proc/self/limits": "",
        "proc/mounts": "",
        "proc/version": "Linux version 6.8.0\n",
        "proc/sys/kernel/osrelease": "6.8.0\n",
        "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
        "sys/devices/system/node/online": f"0-{host['numa_nodes'] - 1}\n" if host["numa_nodes"] > 1 else "0\n",
        "sys/devices/system/cpu/online": f"0-{host['cpus'] - 1}\n",
        "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq": "2000000\n",
        "etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n',
        "etc/hosts": f"127.0.0.1 localhost\n{host['ip']} {host['hostname']}\n",
        "etc/resolv.conf": "",
        "etc/hostname": host["hostname"] + "\n",
    }
    for name in ("sys_vendor", "product_name", "product_version", "bios_vendor", "chassis_asset_tag"):
        texts[f"sys/class/dmi/id/{name}"] = "Pretend\n"
    for node in range(host["numa_nodes"]):
        last = host["cpus"] - 1 if node == host["numa_nodes"] - 1 else (node + 1) * each - 1
        texts[f"sys/devices/system/node/node{node}/cpulist"] = f"{min(node * each, last)}-{last}\n"
        texts[f"sys/devices/system/node/node{node}/meminfo"] = f"Node {node} MemTotal: {kib // host['numa_nodes']} kB\n"
    for name, text in texts.items():
        path = os.path.join(sandbox, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    for tool in tools:
        path = os.path.join(sandbox, tool.lstrip("/") if "/" in tool else f"usr/bin/{tool}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w"):
            os.chmod(path, 0o755)


def make_own(own: str, boot: str | None) -> None:
    """Make a run's own folders; ``boot`` are those that import-time code may already have written to."""
    if boot is not None and any(_written(boot)):
        shutil.copytree(boot, own, symlinks=True, dirs_exist_ok=True)
    for name in _OWN:
        os.makedirs(os.path.join(own, name), exist_ok=True)


def _written(boot: str) -> list[str]:
    known = {os.path.join(boot, *name.split("/")[:n]) for name in _OWN for n in range(1, 4)}
    return [folder for folder, _, names in os.walk(boot) if names or folder not in known | {boot}]


def place(own: str, path: str, files: dict[str, str], listed: list[str] | None) -> set[str]:
    """Let a folder of the world (absolute, or relative to the working folder) hold these files; listed-only ones are empty.

    Returns the paths of the empty ones.
    """
    folder = own + path if path.startswith("/") else os.path.normpath(os.path.join(own + "/work", path))
    hollow: set[str] = set()
    if not folder.startswith(own):
        return hollow
    for name, real in files.items():
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.lexists(target):
            os.symlink(real, target)
    for name in listed or ():
        target = os.path.join(folder, name)
        if not os.path.lexists(target) and os.path.normpath(target).startswith(folder):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w"):
                hollow.add(target)
    return hollow


def install_distributions(
    folder: str, distributions: dict[str, str], modules: dict[str, list[str]], scripts: str
) -> None:
    """Let importlib.metadata find these distributions (name → version) in ``folder``, and which ``modules`` each brings.

    The first is the engine: it gets ``scripts``, the text of its entry points.
    """
    for number, (name, version) in enumerate(distributions.items()):
        place = os.path.join(folder, f"{name.replace('-', '_')}-{version}.dist-info")
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "METADATA"), "w") as file:
            file.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        with open(os.path.join(place, "top_level.txt"), "w") as file:
            file.write("".join(f"{module}\n" for module in modules.get(name, [])))
        if scripts and number == 0:
            with open(os.path.join(place, "entry_points.txt"), "w") as file:
                file.write(scripts)
