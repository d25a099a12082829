"""What a person, or a program, sees of a conversation on the command line."""
