"""Reads code without running it: raise sites, what they say, and the id of the error."""

from gonogo.source.ids import error_id, normalise_message, template_of
from gonogo.source.raise_sites import raise_site_at, raise_sites_in, said_no
from gonogo.source.templates import Placeholder, Template
from gonogo.source.types import RaiseSite

__all__ = [
    "Placeholder",
    "RaiseSite",
    "Template",
    "error_id",
    "normalise_message",
    "raise_site_at",
    "raise_sites_in",
    "said_no",
    "template_of",
]
