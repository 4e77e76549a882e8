dtinfo inspect x --each
