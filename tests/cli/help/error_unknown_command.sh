dtinfo help csat
