dtinfo finfo --style torch
