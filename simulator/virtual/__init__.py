"""Virtual time: the sessions' plans through the engine's own scheduler, on a clock that jumps, without HTTP."""
