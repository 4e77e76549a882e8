dtinfo inspect -q x --tree
