"""Subjects of conversations: a screen, a page, a document, and whatever an app adds.

A *subject* has a row in a project and its own thread, and is renamed, announced and kept with that thread.
`subject.py` has the protocols that an app implements; `registry.py` has the subjects of all apps: the kernel asks the
registry and never compares a noun with a constant. Shared code is here once: rows and news (`store.py`), states,
copies' titles and limits (`rules.py`), new ones and copies (`new_subject.py`), and deletion.
"""
