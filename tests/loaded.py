"""What every server of the tests loads, loaded once: see `tests/forked.py`."""

import gc
from importlib import import_module

gc.disable()  # nothing of it is garbage, and looking for some would copy pages that are shared
for module in ("outlast.app", "tests.crash.crash_server", "outlast.testing.model_server", "tests.crash.staged_chat"):
    import_module(module)
for module, load, words in (
    ("outlast.app", "load", []),
    ("outlast.kernel.models.providers", "preload", ["openai-compatible"]),
    ("outlast.kernel.models.prices", "preload_prices", []),
):
    getattr(import_module(module), load)(*words)
gc.freeze()
gc.enable()
