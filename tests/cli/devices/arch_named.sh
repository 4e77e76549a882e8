dtinfo devices --arch ampere
dtinfo devices --arch m4
dtinfo devices 'sapphire rapids'
dtinfo devices --arch cdna
dtinfo devices --arch gfx942 -v
dtinfo devices --arch amd -q
dtinfo devices --arch SM80 Cc9.0 rdna-4 -q
dtinfo devices --arch all -q | wc -l
