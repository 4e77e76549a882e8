dtinfo iinfo --style torch
