dtinfo iinfo fp16
