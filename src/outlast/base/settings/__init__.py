"""What tables of settings are written with and read by. Each table is in the folder of its noun; `kernel/settings` puts
them together."""
