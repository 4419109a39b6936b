"""What Cline-style clients put on the wire, as pure functions of a recorded solution: see profiles.py, conversation.py,
results.py and retry.py."""
