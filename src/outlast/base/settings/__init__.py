"""Declares and reads tables of settings. Each table is in the folder of its noun; `kernel/settings` joins them."""
