"""What tables of settings are written with and read by. The tables lie with what they belong to; `kernel/settings` puts
them together."""
