dtinfo check a --shape '*norm*:2,,3'
