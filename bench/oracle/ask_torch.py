#!/usr/bin/env python
"""Ask the real torch and its stand-in the same questions: all that an engine's source asks of torch in plain words.

    python bench/oracle/ask_torch.py vllm==0.33.0 --environment ENV [--gpu H100:8 ...] [--env CUDA_VISIBLE_DEVICES=0 ...]

A question is an expression of names and constants alone that stands in the source of the release: ``torch.float16``,
``torch.version.hip``, ``torch.cuda.get_device_properties(0).total_memory``. The real torch is that of ENV (set_up.py) with
the pretend device in it, as for second_judge.py. An unknown value is no difference: the stand-in says that it does not know.
Exit code 1 if there is a difference.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from real_environment import RealEnvironment
from second_judge import GPUS, SecondJudge


def questions(root: Path) -> list[str]:
    """Expressions about torch in the source below ``root``, each once, as long as they are made of names and constants."""
    found: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):
            continue
        found.update(ast.unparse(node) for node in _plain(tree))
    return sorted(each for each in found if not each.endswith(".__file__"))


def _plain(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Attribute | ast.Call) and _is_plain(node):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _plain(child)


def _is_plain(node: ast.expr) -> bool:
    """Does it begin with ``torch.``, and hold nothing but names of it and constants?"""
    if isinstance(node, ast.Attribute):
        return (isinstance(node.value, ast.Name) and node.value.id == "torch") or _is_plain(node.value)
    if isinstance(node, ast.Call):
        given = [*node.args, *(one.value for one in node.keywords if one.arg)]
        named = all(one.arg for one in node.keywords)
        return named and _is_plain(node.func) and all(isinstance(one, ast.Constant) or _is_plain(one) for one in given)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="vllm==0.33.0")
    parser.add_argument("--environment", type=Path, required=True)
    parser.add_argument("--gpu", action="append", help=f"as in gonogo check (default: {' '.join(GPUS)})")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable of the launch")
    chosen = parser.parse_args()
    engine, _, release = chosen.release.partition("==")
    environment = RealEnvironment.at(chosen.environment)
    env = dict(each.split("=", 1) for each in chosen.env)
    count = 0
    for gpu in chosen.gpu or GPUS:
        with SecondJudge(engine, release, gpu, environment) as second:
            asked = questions(second.world.release.root / second.world.engine.package)
            real, ours = second.ask_torch(asked, env)
        differing = [each for each in asked if ours[each] not in (real[each], "unknown")]
        unknown = sum(ours[each] == "unknown" for each in asked)
        print(
            f"{chosen.release} on {gpu}: {len(asked)} questions, {unknown} unknown, {len(differing)} answered otherwise"
        )
        for each in differing:
            print(f"    {each}\n        real {real[each]}\n        ours {ours[each]}")
        count += len(differing)
    return int(bool(count))


if __name__ == "__main__":
    sys.exit(main())
