"""Team workflow: memories that a repository keeps (team.md). Recall, stage, review, prepare, promote, synthesize."""
