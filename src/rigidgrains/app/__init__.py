"""What stands behind the command line: runs with their folders, summaries of files, the benchmark."""
