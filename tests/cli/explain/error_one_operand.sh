dtinfo explain a
