"""The rules of the house that no linter knows (CONTRIBUTING.md tells them)."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gonogo"
MODULES = sorted(SOURCE.rglob("*.py"))
ENGINE = re.compile(r"vllm|sglang", re.IGNORECASE)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def committed() -> dict[str, str]:
    """Text files of the repository by name; every file that is not ignored where there is no git (an sdist)."""
    try:
        told = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
        ).stdout.decode()
        names = [name for name in told.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [name_of(path) for path in ROOT.rglob("*") if not {".venv", "__pycache__"} & set(path.parts)]
    found = {}
    for name in names:
        path = ROOT / name
        if path.is_file():
            found[name] = path.read_bytes().decode("utf-8", "replace")
    return found


TEXTS = committed()


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    drawers = {"utils", "util", "helpers", "misc", "common"}
    assert [name for name in TEXTS if name.endswith(".py") and Path(name).stem in drawers] == []


def machine_paths() -> list[str]:
    """Paths by which this machine would show itself, too long to stand anywhere by chance."""
    places = {str(ROOT), sys.prefix, sys.base_prefix, str(Path.home()), os.environ.get("GONOGO_CACHE", "")}
    return sorted(place for place in places if len(place) > 8 and not place.startswith("/usr"))


def test_no_absolute_path_of_a_machine_is_committed() -> None:
    paths = machine_paths()
    assert [(name, path) for name, text in TEXTS.items() for path in paths if path in text] == []
    homes = re.compile(r"(?<![\w.])/(?:home|Users)/(?!me\b|user\b|ubuntu\b)\w+")
    # Recorded command lines and logs of other people say where those people's models are.
    written_here = {name: text for name, text in TEXTS.items() if not name.endswith(".jsonl")}
    assert [(name, hit) for name, text in written_here.items() for hit in homes.findall(text)] == []


def test_no_host_of_a_package_index_is_committed() -> None:
    known = re.compile(r"\bpy(?:pi\.org|thonhosted)|\.jfrog\.io|\bpkg\.dev\b", re.IGNORECASE)
    simple = re.compile(r"https?://([^\s/'\"<>{}]+\.[^\s/'\"<>{}]+)/(?:\S*/)?simple\b")
    made_up = re.compile(
        r"(?:[\w:@-]+\.)*(?:example|invalid|test|localhost)(?:\.com|\.org)?(?::\d+)?|127\.0\.0\.1(?::\S+)?"
    )
    found = [
        (name, hit)
        for name, text in TEXTS.items()
        for hit in [*known.findall(text), *(host for host in simple.findall(text) if not made_up.fullmatch(host))]
    ]
    assert found == []


def docstrings(tree: ast.Module) -> set[ast.AST]:
    """The nodes of all docstrings, and of texts that stand alone in a body."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def words_in_code(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of every name and text in code, docstrings excepted."""
    excepted = docstrings(tree)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in excepted:
            yield line, node.value
        for name in ("id", "attr", "arg", "name", "module", "asname"):
            if isinstance(value := getattr(node, name, None), str):
                yield line, value


def test_only_the_engines_folder_names_an_engine_in_code() -> None:
    # cli.py: its help texts show launches. Who may import whom is import-linter's to say.
    others = [path for path in MODULES if SOURCE / "engines" not in path.parents and path != SOURCE / "cli.py"]
    assert len(others) > 50
    found = [
        f"{name_of(path)}:{line}: {word[:60]}"
        for path in others
        for line, word in words_in_code(tree_of(path))
        if ENGINE.search(word)
    ]
    assert found == []
    data = [path for path in SOURCE.rglob("*.toml") if SOURCE / "engines" not in path.parents]
    assert [name_of(path) for path in data if ENGINE.search(_without_comments(path))] == []


def _without_comments(path: Path) -> str:
    import tomllib

    return str(tomllib.loads(path.read_text(encoding="utf-8")))


def test_the_search_for_engine_names_finds_them() -> None:
    tree = ast.parse(
        '"""vllm"""\nimport vllm.config\ndef f(sglang):\n    "vllm"\n    return f"x{sglang}" + "use SGLang"\n'
    )
    assert sorted(word for _, word in words_in_code(tree) if ENGINE.search(word)) == [
        "sglang",
        "sglang",
        "use SGLang",
        "vllm.config",
    ]


def public_definitions(tree: ast.Module) -> Iterator[Definition]:
    """Public functions and classes of a module, and public methods of its public classes."""
    for node in tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, Definition) and not inner.name.startswith("_"):
                        yield inner


def test_every_public_function_and_class_has_a_docstring() -> None:
    # The child side stands in for libraries of the engines: there a method has its library's meaning.
    inside = SOURCE / "dryrun" / "inside"
    found = []
    for path in MODULES:
        tree = tree_of(path)
        definitions = list(public_definitions(tree))
        if inside in path.parents:
            definitions = [each for each in definitions if each in tree.body]
        found += [f"{name_of(path)}:{each.lineno} {each.name}" for each in definitions if not ast.get_docstring(each)]
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    modules = [path for path in MODULES if path.name != "__init__.py" or path.read_text().strip()]
    assert [name_of(path) for path in modules if not ast.get_docstring(tree_of(path))] == []


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and top-level name of everything imported, however deep in the code; relative imports are ``.``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." if node.level else str(node.module).split(".")[0]


def engine_libraries() -> set[str]:
    """What the child side may import inside functions: libraries that it stands over, once the engine has them."""
    return {"requests", "pydantic_core"}


@pytest.mark.parametrize("path", sorted((SOURCE / "dryrun" / "inside").glob("*.py")), ids=lambda path: path.stem)
def test_the_child_side_imports_only_the_standard_library_and_itself(path: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {".", "gonogo_inside"}
    tree = tree_of(path)
    found = [(line, name) for line, name in imported(tree) if name not in allowed]
    assert [(line, name) for line, name in found if name not in engine_libraries()] == []
    at_once = {node.lineno for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)}
    assert [(line, name) for line, name in found if line in at_once] == []


def test_the_child_side_refers_to_nothing_outside_its_folder() -> None:
    deep = [
        f"{name_of(path)}:{node.lineno}"
        for path in (SOURCE / "dryrun" / "inside").glob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node.level > 1
    ]
    assert deep == []


def test_the_engines_own_code_in_the_child_is_loaded_without_gonogo() -> None:
    for path in (SOURCE / "engines").glob("*/inside.py"):
        allowed = set(sys.stdlib_module_names) | {"gonogo_inside"}
        assert [found for found in imported(tree_of(path)) if found[1] not in allowed] == [], name_of(path)
