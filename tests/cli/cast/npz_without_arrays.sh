# an archive without arrays becomes one without arrays
python3 -c "import zipfile; zipfile.ZipFile('none.npz', 'w').close()"
dtinfo cast none.npz bf16 -o cast.npz
cmp none.npz cast.npz && python3 -c "import zipfile; print(zipfile.ZipFile('cast.npz').namelist())"
