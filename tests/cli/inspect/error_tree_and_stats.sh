dtinfo inspect x --tree --stats
