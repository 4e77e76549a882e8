# memos: a place that is no number, one too large, one never set, and one that is
for bytes in 'Vos\npx\n.' 'Vos\np99999999999\n.' 'g7\n.' 'Vos\np0\n0g0\n.' 'Vos\np\n.' 'Vos\np-1\n.'
do
    printf '%b' "$bytes" >memo.pkl
    dtinfo check --pickle memo.pkl -v 2>&1; echo "exit $?"
done
# the most imports that are listed, and one more, in both ways to import
cat >many.py <<'END'
import sys
one = {"global": "cos\nn%d\n0", "stack": "Vos\nVn%d\n\x930"}[sys.argv[1]]
sys.stdout.buffer.write("".join(one % i for i in range(int(sys.argv[2]))).encode("latin-1") + b"N.")
END
for count in 10000 10001
do
    for way in global stack
    do
        python3 many.py $way $count >many.pkl
        dtinfo check --pickle many.pkl -v >many.txt 2>&1; echo "exit $?"
        grep -c "os\.n" many.txt; grep damaged many.txt
    done
done
