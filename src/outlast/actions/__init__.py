"""What people and programs can do: verbs and reads, each one transaction, permission first.

An action is `async def verb_noun(services, actor, …)`. It asks `kernel/projects/permissions.py` for the right, calls
rules and stores inside one transaction, and answers with plain data. Surfaces (HTTP, CLI)
translate to and from it; they hold no rule of their own. Errors are those of `base/errors.py`; after an error nothing
was changed.
"""
