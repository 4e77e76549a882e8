dtinfo completion tcsh
