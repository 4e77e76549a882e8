dtinfo finfo float17
