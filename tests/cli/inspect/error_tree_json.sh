dtinfo inspect x --tree --json
