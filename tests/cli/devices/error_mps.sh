dtinfo devices --device mps
