dtinfo bench expsin --dtypes int8 --time 0.01
dtinfo bench expsin --dtype int8 --time 0.01
dtinfo bench cast --dtypes fp32
dtinfo bench --help | grep -e --dtypes
