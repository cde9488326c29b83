"""Proxies of a tracer, of which there is none."""

from ._classes import Proxy as Proxy
