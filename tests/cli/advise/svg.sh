# the picture as a document, whose names are escaped; what it cannot replace, and what it must not be
python3 "$MAKERS/make_language_model.py" 'a<b>&c'
dtinfo advise 'a<b>&c' --fit 17kB --menu stored,int8,nvfp4 --svg picture.svg -q
cat picture.svg
python3 -c 'import xml.dom.minidom; print(xml.dom.minidom.parse("picture.svg").documentElement.tagName)'
dtinfo advise 'a<b>&c' --fit 17kB --svg picture.svg -q 2>&1
echo "exit $?"
dtinfo advise 'a<b>&c' --fit 17kB --svg - 2>&1
echo "exit $?"
dtinfo advise 'a<b>&c' --fit 17kB -o plan.json --svg plan.json 2>&1
echo "exit $?"
ls
