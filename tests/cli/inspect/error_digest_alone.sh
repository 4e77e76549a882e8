dtinfo inspect a --digest --stats
