# a digest of the right kind and the wrong length is quoted in full
dtinfo check a --digest sha256:abcd; echo "exit $?"
dtinfo check a --digest SHA256:00000000000000000000000000000000000000000000000000000000000000000; echo "exit $?"
