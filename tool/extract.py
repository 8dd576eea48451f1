#!/usr/bin/env python3
"""Write the ```c blocks of a Markdown page, in order, as one C file: extract.py PAGE.md OUT.c"""
import re
import sys

page, out = sys.argv[1:3]
with open(page, encoding='utf-8') as f:
    blocks = re.findall(r'^```c\n(.*?)^```', f.read(), re.M | re.S)
with open(out, 'w', encoding='utf-8') as f:
    f.write('\n'.join(blocks))
