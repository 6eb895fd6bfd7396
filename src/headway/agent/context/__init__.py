"""What an agent is told besides its task: instructions, skills, files that the user mentions; and how much fits."""
