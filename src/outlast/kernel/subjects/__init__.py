"""Subjects: what a conversation is about. A screen, a page, a document, and whatever an app adds.

A *subject* has a row in a project and a thread of its own, and is renamed, announced and kept with that thread.
`subject.py` is what an app says about its noun; `registry.py` knows those of all apps: the kernel asks the registry and
never compares a noun with a constant. What is alike for all of them is here once: their rows and news (`store.py`),
their states, copies' titles and limits (`rules.py`), new ones and copies (`new_subject.py`), and deletion.
"""
