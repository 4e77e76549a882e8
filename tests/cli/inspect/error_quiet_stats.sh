dtinfo inspect -q x --stats
