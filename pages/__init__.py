"""Everything a reader sees: one thin file per chapter, the frame around it, and the code that serves both."""
