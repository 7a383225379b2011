from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.permission.policy import PermissionQuestion, decide
from tori_tui.permission.reading_commands import classify_command

FREE = r"""
pwd
ls
ls -la
ls -la src
ls *.py
ls 'my folder'
cat README.md
cat -n src/app.py
cat "my file.txt"
head -n 20 README.md
head -50 src/app.py
tail -n 20 log.txt
tail -20 log.txt
wc -l src/app.py
wc -l *.py
nl app.py
file a.bin
stat app.py
du -sh src
df -h
tree -L 2
tree -a -I node_modules
whoami
date
date +%s
date -u
uname -a
which python
type ls
echo hello
echo "a && b"
echo 'a; b | c > d $(e) `f`'
true
basename src/app.py
realpath src
diff a.txt b.txt
diff -u a.txt b.txt
cmp a b
sort names.txt
sort -u -k2,2 names.txt
sort -t, -n names.csv
uniq -c names.txt
cut -f1 names.txt
cut -d: -f1 names.txt
sha256sum app.py
grep foo app.py
grep -n "foo bar" src/app.py
grep -in 'def .*test' app.py
grep -rn --include='*.py' foo src
grep -rn --include=*.py foo .
grep -c '^$' app.py
rg foo
rg -n "class Foo" src
rg -t py foo
rg --files
rg -g '*.py' foo
rg -g '!*.md' foo
find .
find . -name '*.py'
find src -type f -not -name "*.pyc" -maxdepth 3
find . -mtime -1 -size +10k
sed -n '10,20p' app.py
sed -n 5p app.py
git status
git status -sb
git status --porcelain
git log
git log --oneline -5
git log -n 3 --stat
git log --format='%h %s' --since=2024-01-01
git diff
git diff --stat
git diff HEAD~1 -- src/app.py
git diff --cached --name-only
git diff main...HEAD
git show HEAD
git show HEAD:src/app.py
git --no-pager log -3
git branch
git branch -a
git branch --show-current
git tag -l
git remote -v
git stash list
git blame -L 1,20 app.py
git ls-files
git ls-files --others --exclude-standard
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git grep -n foo
git shortlog -sn
git describe --tags
python --version
"""

ASKED = r"""
ls && touch PWN
ls; touch PWN
ls | tee PWN
ls & touch PWN
ls &
ls $(touch PWN)
ls `touch PWN`
ls <(touch PWN)
ls > PWN
ls >PWN
ls 2>PWN
ls >>PWN
ls < in
cat <<EOF
ls || touch PWN
echo "$(touch PWN)"
echo "`touch PWN`"
echo $HOME
echo "$HOME"
echo ${x:=y}
echo $'\x41'
ls \; touch PWN
l\s
l''s
"ls"
'ls'
$x
FOO=1 ls
PAGER=sh git log
ls ~
cat ~/.ssh/id_rsa
cat {a,b}
ls # comment
(ls)
{ ls; }
! ls
time ls
if true; then ls; fi
eval ls
exec ls
command ls
builtin ls
env
env ls
printenv
xargs cat
nohup ls
sudo ls
nice ls
timeout 5 ls
watch ls
ssh host ls
sh -c ls
bash -c 'ls'
bash script.sh
python -c 'print(1)'
python script.py
node -e 1
awk 'BEGIN{system("touch PWN")}' f
awk '{print}' f
perl -e 1
find . -exec touch PWN ;
find . -exec touch PWN +
find . -execdir touch PWN +
find . -ok touch PWN
find . -delete
find . -name '*.py' -delete
find . -fprint PWN
find . -fprintf PWN x
find . -fls PWN
find / -name x
rg --pre sh x
rg --pre=sh x
rg --pre-glob '*' x
rg --hostname-bin x y
rg -z x
rg -uu x
rg --hidden x
rg -. x
rg -L x
rg -f pats x
rg -g '*' KEY
rg -g '.e*' KEY
rg -g'*' KEY
rg --glob='.*' KEY
rg --no-ignore x
fd -x touch
fd foo
grep -r foo .
grep -rn foo src
grep -R foo src
grep --recursive foo src
grep -r --include='*' foo .
grep -r --include='.e*' foo .
grep -f pats app.py
sed 's/a/b/' f
sed -i 's/a/b/' f
sed -n 'w PWN' f
sed -n '1e touch PWN' f
sed -n 1p -i f
sed --in-place=.bak s/a/b/ f
sort -o PWN f
sort -uo PWN f
sort --output=PWN f
sort --out=PWN f
sort --compress-program=sh f
sort -T /tmp f
uniq in out
tee PWN
tree -o PWN
git
git -c core.pager='touch PWN' -p log
git -c alias.x='!touch PWN' x
git -C /other status
git --git-dir=/x status
git --exec-path=. status
git -p log
git diff --output=PWN
git diff --outp=PWN
git diff --ext-diff
git diff --textconv
git diff --no-index a b
git show --textconv HEAD
git grep -O sh foo
git grep --open-files-in-pager=sh foo
git status --x
git statusx
git status-stash
git branch new
git branch -D old
git branch -m a b
git tag v1
git tag -d v1
git remote add x y
git stash
git stash pop
git reflog expire
git config user.name x
git checkout main
git commit -m x
git push
git fetch
git reset --hard
git clean -fdx
git bisect run sh
git shell
date 010203042024
date -s tomorrow
file -C -m x
tail -f log
diff -r a b
cat *
cat *.py
head .e*
cat .env
cat ./.env.local
cat /etc/passwd
cat ../other/file
cat src/../../x
head -n 5 id_rsa
cat server.pem
ls /
ls /etc
cat .git/config
cat .git/hooks/pre-commit
ls .tori
git show HEAD:.env
git cat-file -p HEAD:.env
grep KEY .env
grep -f.env x
diff --to-file=.env a
rg KEY .env
find .ssh
wc --files0-from=/etc/passwd
rm f
mv a b
cp a b
touch f
mkdir d
chmod +x f
ln -s a b
dd if=a of=b
curl http://x
wget http://x
make
npm test
pytest
pip install x
cd src
cd /tmp/x && rm -rf ./*
less f
vim f
man ls
jq . f
xxd -r a b
tar xf a
open f
kill 1
./script
src/tool
/bin/ls
"""

FREE_LINES = [line for line in FREE.strip().splitlines() if line]
ASKED_LINES = [
    *(line for line in ASKED.strip().splitlines() if line),
    "ls\ntouch PWN",
    "ls\rtouch PWN",
    "ls\0",
    "cat\u00a0x",
    "echo 'a\nb'",
    "ls \u202e x",
    "",
    " ",
]


def question(command: str) -> PermissionQuestion:
    return PermissionQuestion("bash", "execute", root="/home/me/project", command=command)


@pytest.mark.parametrize("command", FREE_LINES)
def test_a_plain_reading_command_runs_free(command: str) -> None:
    assert classify_command(command).reason == ""
    assert decide("ask", question(command)).decision == "allow"
    assert decide("plan", question(command)).decision == "allow"


@pytest.mark.parametrize("command", ASKED_LINES)
def test_everything_else_is_asked(command: str) -> None:
    verdict = decide("ask", question(command))
    assert verdict.decision == "ask"
    assert verdict.reason
    assert decide("edit", question(command)).decision == "ask"
    assert decide("plan", question(command)).decision in ("deny", "ask")


def test_the_tables_are_large() -> None:
    assert len(FREE_LINES) >= 60
    assert len(ASKED_LINES) >= 120


@given(st.text(alphabet="lscat gi'\"\\$`;|&<>(){}*?~#!=-/.\n\tabc0", max_size=30))
def test_what_is_called_reading_has_the_words_that_a_shell_sees(command: str) -> None:
    seen = classify_command(command)
    if seen.words:
        assert list(seen.words) == shlex.split(command)


@given(st.sampled_from(FREE_LINES), st.sampled_from([";", "&&", "|", "&", ">", "\n", "$(x)", "`x`", "<(x)"]))
def test_no_operator_rides_along(command: str, operator: str) -> None:
    assert not classify_command(f"{command} {operator} touch PWN").is_reading
    assert not classify_command(f"{command}{operator}touch PWN").is_reading
