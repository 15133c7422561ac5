"""The shell around formation: material from the log, triggers and jobs, the gate, and the files that are written."""
