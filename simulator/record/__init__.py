"""`sim record`: a listener between real agents and their engine that passes every byte on and notes what passed."""
