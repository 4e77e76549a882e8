dtinfo calc
dtinfo calc bf16
dtinfo calc 1+1
dtinfo calc 1 + 1
dtinfo calc bf16 1+1
dtinfo calc 1+1 bf17
dtinfo calc 1+1 mxfp4
dtinfo calc 1+1 bf16,complex64
dtinfo calc 1+1 bf16 --accumulate complex64
dtinfo calc 1+1 bf16 --order blockd:4
dtinfo calc 1+1 bf16 --order blocked:0
dtinfo calc 1+1 bf16 --order kahan:2
dtinfo calc 1+1 bf16 --fail-on owerflow
dtinfo calc 1+1 bf16 --overflow wrap
dtinfo calc 'sofmax([1])' bf16
dtinfo calc '2**3' bf16
dtinfo calc '(1 + 2' bf16
dtinfo calc 'x + 1' bf16
dtinfo calc '[1, 2] + [1, 2, 3]' bf16
dtinfo calc 'rand(1000000000)' bf16
dtinfo calc 1+1 bf16 --ftz
dtinfo calc 'sofmax([1])' bf16 --json
