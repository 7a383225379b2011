"""A hundred commands with which a person, or an agent, looks around in a project on an ordinary day."""

from __future__ import annotations

from typing import Final

EVERYDAY: Final = r"""
ls
ls -la
ls -la src/
ls -lh build
ls src/*.py
ls | head -20
ls -t | head -5
pwd
cat README.md
cat package.json
cat src/app.py | head -50
cat -n src/app.py | sed -n '10,40p'
cat pyproject.toml | grep -A5 dependencies
head -n 30 src/app.py
tail -n 50 logs/app.log
sed -n '100,150p' src/app.py
sed -n '/class Foo/,/^class/p' src/app.py
wc -l src/app.py
wc -l src/*.py
find . -name '*.py' | wc -l
find . -name "*.py" -not -path "./venv/*"
find . -type f -name '*.ts' | head -20
find . -type d -name tests
find src -name '*.py' | xargs wc -l | sort -n | tail -5
find . -name '*.py' | xargs grep -l "import os"
find . -name '*.py' -exec grep -l foo {} \;
find . -maxdepth 2 -type d
find . -newer setup.py -name '*.py'
grep -n "def main" src/app.py
grep -rn "TODO" src
grep -rn "foo" --include="*.py" .
grep -rl "import re" src tests
grep -c "" src/app.py
grep -E "^(import|from)" src/app.py
grep -v '^#' requirements.txt
grep -i error logs/app.log | tail -20
grep -rn "foo\|bar" src | head -30
grep -A 5 -B 2 "class Foo" src/app.py
rg foo
rg -n "def \w+" src
rg -l foo | sort
rg --files | head -50
rg -t py "import requests"
rg -A 3 "fn main" src
git status
git status --short
git diff
git diff --stat
git diff HEAD~1
git diff --cached
git diff main...HEAD --stat
git log --oneline -10
git log --oneline --graph --all | head -20
git log -p -1
git log --format='%h %an %s' -5
git log --since='1 week ago' --oneline
git log -- src/app.py
git show HEAD
git show HEAD~2:src/app.py
git show --stat HEAD
git branch
git branch -a
git branch --show-current
git remote -v
git blame src/app.py
git blame -L 10,20 src/app.py
git stash list
git tag
git ls-files
git ls-files | wc -l
git ls-files '*.py' | xargs wc -l
git rev-parse HEAD
git rev-parse --show-toplevel
git grep -n foo
git log -S 'foo' --oneline
cd src && ls
cd src && grep -n foo *.py
cd tests && find . -name 'test_*.py' | sort
which python
python --version
node --version && npm --version
pip list | grep -i django
uname -a
date
echo $PATH
echo "done"
env | grep PATH
ps aux | grep python
df -h
du -sh *
du -sh node_modules
tree -L 2
file src/app.bin
stat README.md
diff a.txt b.txt
diff -u old.py new.py | head -40
sort names.txt | uniq -c | sort -rn | head
cut -d, -f1 data.csv | sort -u
awk '{print $1}' access.log | sort | uniq -c
jq '.dependencies' package.json
for f in src/*.py; do echo "== $f"; head -5 "$f"; done
test -f Makefile && cat Makefile
[ -d node_modules ] && echo yes || echo no
""".strip().splitlines()

__all__ = ["EVERYDAY"]
