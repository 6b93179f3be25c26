"""Ids over two real releases, and what real engines said beside what their source says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonogo.source import RaiseSite, error_id, raise_site_at, raise_sites_in, said_no, template_of

# Refusals of vLLM 0.32.0 and SGLang 0.5.23 that were born on a raise or an assert of theirs: one a line of source.
REAL_ERRORS = Path(__file__).with_name("real_errors.jsonl")


def fast_prefill(root: Path) -> RaiseSite:
    """The guard of the first page in the README: there once in each release, some lines apart."""
    sites = raise_sites_in(root / "vllm" / "config" / "vllm.py") or ()
    (site,) = [site for site in sites if (site.template or "").startswith("Fast prefill optimization for KV sharing")]
    return site


@pytest.mark.engines
def test_an_error_keeps_its_id_where_only_its_line_moved() -> None:
    from gonogo.releases import Releases

    old, new = (fast_prefill(Releases().get("vllm", version).root) for version in ("0.32.0", "0.33.0"))
    assert old.line_first != new.line_first
    assert old.exception == new.exception == "ValueError"
    assert old.function == new.function == "VllmConfig.__post_init__"
    assert old.template is not None
    assert new.template is not None
    assert error_id("vllm", "ValueError", old.template) == error_id("vllm", "ValueError", new.template)


@pytest.mark.engines
def test_what_real_engines_said_fits_the_site_that_said_it() -> None:
    from gonogo.releases import Releases

    releases = Releases()
    for line in REAL_ERRORS.read_text().splitlines():
        real = json.loads(line)
        file = releases.get(real["engine"], real["release"]).root / real["path"]
        site = raise_site_at(file, real["line"])
        assert site is not None, real
        assert said_no(file, real["line"], real["type"])
        assert site.exception == real["type"]
        assert site.function.rpartition(".")[2] == real["function"]
        assert site.message is not None
        assert site.message.pattern.fullmatch(real["message"]), (real, site)
        assert template_of(real["type"], real["message"], site) in site.templates
