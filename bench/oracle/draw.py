"""Draw launches for the oracle: some at random, most towards a raise site that no launch has reached.

``Drawer.draw`` aims at one guard: it takes the flags that its condition, its message or its function asks about, gives
them values that stand in the condition, and adds them to an empty launch or to one that got somewhere before. The same
flags, guards, answers and seed give the same launches. Standard library only.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from guards import Guard, Hints

Launch = dict[str, Any]
Words = dict[str, list[str] | dict[str, Any]]
"""A launch in the making: flag -> its words, or the object that becomes its JSON."""

# What needs files, a network, another process, or code of the user's.
_SKIPPED = re.compile(
    r"^(help|config|config-file|config-format|host|port|uds|model|model-path|middleware|grpc|headers|device|root-path)$"
    r"|ssl|plugin|hf-token|revision|logits-processor|lora-modules|lora-paths|tool-server|(^|-)port|chat-template|otlp"
    r"|trace|endpoint|url|(^|-)path|(^|-)dir$|directory|-file$|api-key|admin-key|-addr|address|download|worker-cls"
    r"|worker-extension|scheduler-cls|executor-class|processor-cls|connector-mod|custom-weight|daemon|checksum|nsight"
    r"|debug-tensor|crash-dump|hooks|model-impl|io-processor|import|package|log-config|snapshot|sidecar|model-loader$"
)
_VARIABLE = re.compile(r"(VLLM|SGLANG|SGL)_[A-Z0-9_]+")
_OBJECT = re.compile("model_config|parallel_config")  # what the engine puts there itself
_NO_SUCH = "nosuch"
# Objects that get far enough for other conditions to be asked; fields that a guard asks about are laid over them.
_BASES: dict[str, list[dict[str, Any]]] = {
    "speculative-config": [
        {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4},
        {"method": "eagle3", "model": "models/tiny-llama-eagle3", "num_speculative_tokens": 2},
        {"method": "eagle", "model": "MODEL", "num_speculative_tokens": 2},
        {"method": "draft_model", "model": "MODEL", "num_speculative_tokens": 4},
        {"method": "mtp", "num_speculative_tokens": 1},
        {"method": "medusa", "model": "MODEL", "num_speculative_tokens": 2},
        {"model": "MODEL", "num_speculative_tokens": 5},
        {"num_speculative_tokens": 2},
    ],
    "kv-transfer-config": [
        {"kv_connector": "NixlConnector", "kv_role": "kv_both"},
        {"kv_connector": "ExampleConnector", "kv_role": "kv_producer"},
        {"kv_connector": "OffloadingConnector", "kv_role": "kv_both"},
        {"kv_connector": "MultiConnector", "kv_role": "kv_both"},
        {"kv_connector": "NoSuchConnector", "kv_role": "kv_both"},
    ],
    "ec-transfer-config": [{"ec_connector": "ECExampleConnector", "ec_role": "ec_both"}, {"ec_role": "ec_producer"}],
    "kv-events-config": [{"enable_kv_cache_events": True, "publisher": "zmq"}],
    "hf-overrides": [{}, {"architectures": ["NoSuchForCausalLM"]}, {"num_attention_heads": 6}],
    "json-model-override-args": [{}, {"architectures": ["NoSuchForCausalLM"]}, {"num_attention_heads": 6}],
    "structured-outputs-config": [{"backend": "xgrammar"}, {"backend": "guidance"}],
    "reasoning-config": [{"reasoning_start_str": "<think>", "reasoning_end_str": "</think>"}],
    "profiler-config": [
        {"profiler": "torch", "torch_profiler_dir": "profiles"},
        {"profiler": "cuda"},
        {"profiler": "proton", "proton_profiler_dir": "profiles"},
    ],
    "limit-mm-per-prompt": [{"image": 2}, {"image": 0, "video": 0}, {"image": -1}],
    "cuda-graph-config": [{"decode": {"backend": "full"}}, {"prefill": {"backend": "disabled"}}],
    "additional-config": [{"a": 1}],
    "override-generation-config": [{"temperature": 0.5}],
    "model-loader-extra-config": [{"enable_multithread_load": True}],
}
_KINDS = {"bool", "int", "float", "str", "list", "tuple", "set", "dict"}
_WHOLE = [0, 1, 1, 2, 2, 3, 4, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 100000, -1]
_REAL = [0, 0.1, 0.5, 0.9, 1.0, 1.5, 4, -0.5]
_PLAIN = ["auto", "none", "abc", _NO_SUCH]
# A model that a guard's words speak of is worth trying more often.
_SPEAKS_OF = {
    "moe": "moe deepseek gpt-oss next",
    "expert": "moe deepseek gpt-oss next",
    "mla": "deepseek",
    "deepseek": "deepseek",
    "dsa": "v3.2",
    "nsa": "v3.2",
    "index": "v3.2",
    "mtp": "v3 next",
    "mamba": "bamba next",
    "ssm": "bamba next",
    "hybrid": "bamba next gemma gpt-oss",
    "sliding": "gemma gpt-oss",
    "swa": "gemma gpt-oss",
    "multimodal": "vl whisper",
    "mm": "vl whisper",
    "vision": "vl",
    "image": "vl",
    "encoder": "whisper bert vl",
    "decoder": "whisper",
    "pool": "bert embedding classifier",
    "embed": "bert embedding",
    "quant": "fp8 gptq gpt-oss",
    "gptq": "gptq",
    "fp8": "fp8",
    "mxfp4": "gpt-oss",
    "eagle": "llama",
    "draft": "llama",
}


@dataclass(frozen=True)
class Flag:
    """A flag of the parser, by its longest spelling."""

    name: str
    row: dict[str, Any]


class Drawer:
    """Draws launches of one engine, and learns from their answers which raise sites are left."""

    def __init__(
        self,
        engine: str,
        flags: list[dict[str, Any]],
        found: list[Guard],
        models: list[str],
        device: str | None = "cpu",
    ) -> None:
        """``device`` is named in launches of an engine that asks for it (None: in none)."""
        self._engine = engine
        self._device = [] if device is None else ["--device", device]
        self._models = models
        self._flags = [Flag(name, row) for row in flags if (name := _name_of(row)) and not _is_skipped(name)]
        self._by_word = {word: flag for flag in self._flags for word in _words_for(flag)}
        self._fields: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
        for flag in self._flags:
            for field, row in flag.row.get("fields", {}).items():
                self._fields.setdefault(field, []).append((flag.name, field, row))
                for inner, inner_row in row.get("fields", {}).items() if not _OBJECT.search(field) else ():
                    self._fields.setdefault(inner, []).append((flag.name, f"{field}.{inner}", inner_row))
        self._guards = found
        asked = {name for guard in found for name in (*guard.near.names, *guard.far.names)}
        self._variables = sorted(name for name in asked if _VARIABLE.fullmatch(name))
        self._reached: set[tuple[str, int]] = set()
        self._tries: Counter[tuple[str, int]] = Counter()
        self._useful: list[Launch] = []

    @property
    def reached(self) -> set[tuple[str, int]]:
        """Path and line of every raise site that an answer named."""
        return self._reached

    def learn(self, launch: Launch, answer: dict[str, Any]) -> None:
        """Count the site; keep a launch that showed a new one, or that passed, to build on."""
        site = answer.get("site")
        place = (site["path"], site["line"]) if site else None
        new = place is not None and place not in self._reached and answer["outcome"] == "refused"
        if new and place is not None:
            self._reached.add(place)
        if new or (answer["outcome"] == "passed" and len(launch["argv"]) > 4):
            self._useful.append(launch)
            self._useful = self._useful[-600:]

    def draw(self, rng: random.Random, number: str) -> Launch:
        """One launch; ``aim`` names the raise site it was drawn for, or null."""
        left = [one for one in self._guards if not self._is_reached(one)]
        guard = self._choose(rng, left) if left and rng.random() < 0.85 else None
        model, words, env = self._start(rng, guard)
        if self._variables and rng.random() < 0.1:
            env[rng.choice(self._variables)] = rng.choice(["0", "1", "1", "8", _NO_SUCH])
        if guard is None:
            for flag in rng.sample(self._flags, rng.choice([1, 2, 2, 3, 4])):
                self._put(rng, words, flag, set())
            if rng.random() < 0.2:
                return self._launch(number, model, self._spoil(rng, words), env, None)
        else:
            self._tries[guard.path, guard.first] += 1
            own = self._own_flag(guard)
            if own is not None and rng.random() < 0.9:
                self._base(rng, words, own)
            self._aim(rng, words, env, guard.near, 0.75, own)
            if rng.random() < 0.2:
                self._aim(rng, words, env, guard.far, 0.12, own)
            if rng.random() < 0.5:
                self._aim(rng, words, env, guard.before, 0.3, own)
            if own is not None:
                self._lay_spoken(rng, words, own, guard)
            for name, value in guard.truth.items():
                if rng.random() < 0.8:
                    self._switch(words, own, name, value)
        return self._launch(number, model, words, env, guard)

    def _is_reached(self, guard: Guard) -> bool:
        return any((guard.path, line) in self._reached for line in range(guard.first, guard.last + 1))

    def _choose(self, rng: random.Random, left: list[Guard]) -> Guard:
        """The least tried of a few, where something in the condition can be set."""
        if rng.random() < 0.6:  # where one condition was reached, others may be
            files = {path for path, _ in self._reached}
            left = [one for one in left if one.path in files] or left
        some = rng.sample(left, min(6, len(left)))
        able = [one for one in some if self._can_aim(one)] or some
        return min(able, key=lambda one: self._tries[one.path, one.first])

    def _can_aim(self, guard: Guard) -> bool:
        known = self._by_word.keys() | self._fields.keys()
        return bool(guard.near.flags & self._by_word.keys() or guard.near.names.keys() & known)

    def _own_flag(self, guard: Guard) -> str | None:
        """The JSON flag whose fields are what ``self`` holds in the guard's file."""
        stem = guard.path.rpartition("/")[2].removesuffix(".py").replace("_", "-")
        flag = stem if stem.endswith("-config") else f"{stem}-config"
        return flag if flag in self._by_word and self._by_word[flag].row.get("fields") else None

    def _start(self, rng: random.Random, guard: Guard | None) -> tuple[str, Words, dict[str, str]]:
        """An empty launch, or one that showed something before."""
        if self._useful and rng.random() < 0.3:
            old = rng.choice(self._useful)
            model, words = self._read(old["argv"])
            return (self._model(rng, guard) if rng.random() < 0.5 else model), words, dict(old["env"])
        return self._model(rng, guard), {}, {}

    def _model(self, rng: random.Random, guard: Guard | None) -> str:
        if guard is not None and rng.random() < 0.6:
            text = " ".join([guard.function, guard.path, *guard.near.names, *guard.near.flags]).lower()
            kinds = {
                kind
                for word, named in _SPEAKS_OF.items()
                if word in re.split(r"[^a-z0-9]+", text)
                for kind in named.split()
            }
            fitting = [model for model in self._models if any(kind in model for kind in kinds)]
            if fitting:
                return rng.choice(fitting)
        return rng.choice(self._models)

    def _aim(
        self, rng: random.Random, words: Words, env: dict[str, str], hints: Hints, share: float, own: str | None
    ) -> None:
        """Set what the hints ask about, each with the given chance; fields of the flag ``own`` before flags."""
        flags: dict[str, set[Any]] = {flag: set() for flag in hints.flags if flag in self._by_word}
        for name, values in hints.names.items():
            mine = [one for one in self._fields.get(name, []) if one[0] == own]
            if mine and rng.random() < 0.85:
                if rng.random() < share:
                    self._lay(rng, words, *rng.choice(mine), values)
            elif name in self._by_word:
                flags.setdefault(name, set()).update(values)
            elif name in self._fields:
                plain = [one for one in self._fields[name] if "." not in one[1]]
                if plain and rng.random() < share / 2:
                    self._lay(rng, words, *rng.choice(plain), values)
            elif _VARIABLE.fullmatch(name):
                if rng.random() < share / 3:
                    env[name] = str(rng.choice([*values, 0, 1]))
            elif values and name.islower() and len(name) > 3 and rng.random() < share / 3:
                self._override(rng, words, name, values)
        for word, values in flags.items():
            if rng.random() < share:
                self._put(rng, words, self._by_word[word], values)

    def _lay_spoken(self, rng: random.Random, words: Words, own: str, guard: Guard) -> None:
        """Choices of the own flag's fields that the function is named after, or that the condition names."""
        spoken = set(re.split(r"[^a-z0-9]+", f"{guard.function} {guard.path}".lower()))
        spoken |= {str(value).lower() for values in guard.near.names.values() for value in values}
        for field, row in self._by_word[own].row["fields"].items():
            fitting = [one for one in row["choices"] if str(one).lower() in spoken]
            if fitting and rng.random() < 0.7:
                self._base(rng, words, own)[field] = rng.choice(fitting)

    def _switch(self, words: Words, own: str | None, name: str, value: bool) -> None:
        """Turn a switch, or a field that is one, on or off."""
        for flag, path, row in self._fields.get(name, []):
            if flag == own and "." not in path and "bool" in row["kinds"]:
                place = words.setdefault(flag, {})
                if isinstance(place, dict):
                    place[path] = value
                return
        known = self._by_word.get(name)
        if known is not None and known.row["switch"]:
            words.pop(f"no-{known.name}" if value else known.name, None)
            if value or f"--no-{known.name}" in known.row["flags"]:
                words[known.name if value else f"no-{known.name}"] = []

    def _put(self, rng: random.Random, words: Words, flag: Flag, values: set[Any]) -> None:
        row = flag.row
        if row["switch"]:
            negative = f"--no-{flag.name}" in row["flags"] and rng.random() < 0.15
            words[f"no-{flag.name}" if negative else flag.name] = []
        elif flag.name in _BASES or row.get("fields") or row["kind"] == "loads":
            self._base(rng, words, flag.name)
            fields = [one for ones in self._fields.values() for one in ones if one[0] == flag.name]
            if fields and rng.random() < 0.25:
                self._lay(rng, words, *rng.choice(fields), set())
        else:
            count = rng.choice([1, 1, 2]) if row["several"] else 1
            words[flag.name] = [_word(_value(rng, row["kind"], row["choices"], values)) for _ in range(count)]

    def _base(self, rng: random.Random, words: Words, name: str) -> dict[str, Any]:
        old = words.get(name)
        if not isinstance(old, dict):
            old = json.loads(json.dumps(rng.choice(_BASES.get(name, [{}]))))
            words[name] = old
        return old

    def _lay(
        self, rng: random.Random, words: Words, flag: str, path: str, row: dict[str, Any], values: set[Any]
    ) -> None:
        """Set one field of a JSON flag; one that holds an object of the engine's is left alone."""
        kinds = set(row["kinds"]) - {"NoneType"}
        if not kinds & _KINDS:
            return
        place = self._base(rng, words, flag)
        *above, last = path.split(".")
        for step in above:
            inner = place.get(step)
            if not isinstance(inner, dict):
                inner = place[step] = {}
            place = inner
        if "bool" in kinds:
            place[last] = rng.random() < 0.8
        elif kinds & {"list", "tuple", "set"}:
            place[last] = rng.choice(
                [sorted(values, key=str), [1, 2], [0], [-1, 4], ["all"], ["+a", "-a"], ["all", "none"], [0.9, 0.5]]
            )
        elif "dict" in kinds:
            place[last] = rng.choice([{}, {"a": 1}, {"a": "b"}, {str(one): 1 for one in sorted(values, key=str)[:1]}])
        else:
            kind = "int" if "int" in kinds else "float" if "float" in kinds else "str"
            place[last] = _value(rng, kind, row["choices"] or None, values)

    def _override(self, rng: random.Random, words: Words, name: str, values: set[Any]) -> None:
        """A name that is no flag may be one of the model's configuration."""
        flag = "hf-overrides" if self._engine == "vllm" else "json-model-override-args"
        if flag in self._by_word:
            place = words.setdefault(flag, {})
            if isinstance(place, dict):
                place[name] = rng.choice(sorted(values, key=str))

    def _spoil(self, rng: random.Random, words: Words) -> Words:
        """Make one thing wrong for the parser."""
        name = rng.choice(list(words))
        at = rng.randrange(2, len(name)) if len(name) > 2 else 0
        way = rng.randrange(3)
        if way == 0:
            words[name[:at] + "x" + name[at:]] = words.pop(name)
        elif way == 1:
            words[name] = [rng.choice(["no-such-choice", "-5", "1e9", "abc", "", "{", '{"a": ', "{'a': 1}"])]
        else:
            words[name] = []
        return words

    def _read(self, argv: list[str]) -> tuple[str, Words]:
        """Take apart a launch that ``_launch`` put together."""
        rest = argv[2:]
        words: Words = {}
        name = ""
        for word in rest:
            if word.startswith("--"):
                name = word[2:]
                words[name] = []
            else:
                words.setdefault(name, []).append(word)  # type: ignore[union-attr]
        words.pop("device", None)
        for flag, parts in words.items():
            if flag in _BASES and isinstance(parts, list) and len(parts) == 1 and parts[0].startswith("{"):
                try:
                    words[flag] = json.loads(parts[0])
                except ValueError:
                    continue
        return argv[1], words

    def _launch(self, number: str, model: str, words: Words, env: dict[str, str], guard: Guard | None) -> Launch:
        argv = ["serve", model] if self._engine == "vllm" else ["--model-path", model, *self._device]
        for name, parts in words.items():
            argv.append(f"--{name}")
            argv += [json.dumps(parts).replace("MODEL", model)] if isinstance(parts, dict) else parts
        aim = f"{guard.path}:{guard.first}" if guard else None
        return {"id": number, "argv": argv, "env": env, "engine": self._engine, "aim": aim}


def _name_of(row: dict[str, Any]) -> str | None:
    """The flag without dashes: its longest positive spelling."""
    names = [flag[2:] for flag in row["flags"]]
    positive = [name for name in names if not name.startswith("no-")] or names
    return max(positive, key=len) if positive else None


def _is_skipped(name: str) -> bool:
    return bool(_SKIPPED.search(name)) and name not in _BASES


def _words_for(flag: Flag) -> list[str]:
    """How code and messages may speak of this flag."""
    names = [flag.row["dest"], *(spelling[2:] for spelling in flag.row["flags"])]
    return names + [name.replace("-", "_") for name in names]


def _value(rng: random.Random, kind: str, choices: list[Any] | None, values: set[Any]) -> Any:
    """A value of the kind; one that the condition names, or one beside it, when it names some."""
    plain = sorted((one for one in values if not isinstance(one, bool)), key=str)
    if plain and rng.random() < 0.75:
        one = rng.choice(plain)
        if isinstance(one, int) and rng.random() < 0.5:
            return one + rng.choice([-1, 1])
        if kind not in ("int", "float") or not isinstance(one, str):
            return one
    if choices and rng.random() < 0.97:
        return rng.choice(choices)
    if "int" in kind and "union" not in kind:
        return rng.choice(_WHOLE)
    if "float" in kind:
        return rng.choice(_REAL)
    return rng.choice(["{}", "[]", '{"a": 1}']) if re.search("json|parse_|union|lambda", kind) else rng.choice(_PLAIN)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
