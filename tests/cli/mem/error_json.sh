dtinfo mem 7B bf61 --json
