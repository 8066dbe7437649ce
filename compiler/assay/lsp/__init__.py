"""The language server for specs: `project` answers about files, `server` speaks the protocol."""
