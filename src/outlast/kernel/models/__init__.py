"""Language models behind one protocol.

Terms: a *provider* is a service with a base URL and a key (OpenRouter, a local vLLM, the demo); a *model* is a choice
of users, with an id, a price in credits and a provider; an *adapter* (`providers/`) speaks one provider's wire format.
A *turn* is one request and its streamed answer, made of *deltas*; a *piece* is a part of a message.

Other packages need only `protocol.py`; `catalog.py` turns the configuration into models and owns the connections;
`prices.py` computes the cost of a turn. Adapters never retry: workers do, guided by the error's branch
(`base/errors.py`). A new provider is one file in `providers/` and one line in its `__init__.py`.
"""
