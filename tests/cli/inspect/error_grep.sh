dtinfo inspect x --grep '('
