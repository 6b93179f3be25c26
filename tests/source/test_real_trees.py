"""Ids over two real releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonogo.source import RaiseSite, error_id, raise_sites_in


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
