"""The oracle: a recorded solution told as a model would tell it, with mistakes by rates that are known."""
