dtinfo inspect
