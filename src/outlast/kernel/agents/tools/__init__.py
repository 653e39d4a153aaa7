"""One file a tool. To add one: a class with `arguments` (a Pydantic model), `name`, `description` and `run`; then
name it in the profiles that offer it.
"""
