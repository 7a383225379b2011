"""Comments and where they fall: the table by which the classifier's prompt is judged.

Every plan is written as its lines stand in the prompt's plan; `>` marks the focused goal. The examples
in the prompt itself are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tori_tui.domain.goals import Goal, GoalStatus, GoalTree, Mission
from tori_tui.domain.ids import GoalId, MissionId
from tori_tui.domain.routing import Impact


@dataclass(frozen=True, slots=True)
class Pair:
    """A plan, a comment, and what is right."""

    plan: str
    comment: str
    impact: Impact
    goals: tuple[str, ...] = ()
    rejects: bool = False


def plan_of(text: str) -> GoalTree:
    """Read a plan: first line the mission, then `x`, `>`, `-`, `!` (done, focused, pending, abandoned)."""
    mission, *lines = text.strip().splitlines()
    statuses: dict[str, GoalStatus] = {
        "x": "completed",
        ">": "in_progress",
        "-": "pending",
        "!": "abandoned",
    }
    goals: list[Goal] = []
    current: GoalId | None = None
    for line in lines:
        mark, number, description = line.strip().split(" ", 2)
        goal = Goal(GoalId(number), description, statuses[mark], "done" if mark == "x" else None)
        goals.append(goal)
        current = goal.id if mark == ">" else current
    ids = tuple(goal.id for goal in goals)
    return GoalTree(
        (Mission(MissionId("m1"), mission, None, ids),), MissionId("m1"), current, goals=tuple(goals)
    )


LOGIN = """
Add login to the web shop
x 1 Read the user model
x 2 Write the login endpoint
> 3 Write the registration endpoint
- 4 Write tests for both endpoints
- 5 Document the API in README.md
"""

PARSER = """
Speed up the CSV parser
x 1 Measure the parser on big.csv
> 2 Replace the regex by a state machine
- 3 Compare results on the old fixtures
- 4 Update CHANGELOG.md
"""

SITE = """
把公司网站改成响应式布局
x 1 分析现有页面
x 2 改写导航栏
> 3 改写产品页
- 4 改写联系页
- 5 在手机上测试
"""

MOVE = """
Move the service from Flask to FastAPI
x 1 List all routes
! 2 Convert routes with a script
> 3 Convert routes by hand
- 4 Convert the error handlers
- 5 Adapt the Dockerfile
- 6 Load test
"""

DATA = """
清洗销售数据并生成报告
x 1 读取 sales.csv
x 2 去除重复行
> 3 计算每月汇总
- 4 画图
- 5 写成 PDF 报告
"""

PAIRS: tuple[Pair, ...] = (
    Pair(LOGIN, "use pytest fixtures when you get to the tests", "future", ("4",)),
    Pair(LOGIN, "we don't need documentation, leave it out", "future", ("5",), True),
    Pair(LOGIN, "also test what happens with an empty password", "future", ("4",)),
    Pair(LOGIN, "the README should show a curl example", "future", ("5",)),
    Pair(LOGIN, "at the end run the linter over everything", "future"),
    Pair(LOGIN, "registration has to check that the mail address is unique", "current", ("3",)),
    Pair(LOGIN, "no, do not store the password in plain text there!", "current", ("3",), True),
    Pair(LOGIN, "why do you read settings.py?", "current"),
    Pair(LOGIN, "please keep functions short", "current"),
    Pair(LOGIN, "the registration form has a captcha already, use it", "current", ("3",)),
    Pair(LOGIN, "stop using sqlalchemy for this endpoint, write plain SQL", "current", ("3",), True),
    Pair(LOGIN, "the login endpoint must return 401, not 403", "past", ("2",), True),
    Pair(LOGIN, "login should be rate limited, please add that", "past", ("2",)),
    Pair(
        LOGIN, "you read the wrong user model, the right one is in accounts/models.py", "past", ("1",), True
    ),
    Pair(LOGIN, "forget passwords, we will only offer login with Google", "requirement_change", (), True),
    Pair(LOGIN, "actually this is for the admin panel, not for the shop", "requirement_change"),
    Pair(PARSER, "the fixtures moved to tests/data", "future", ("3",)),
    Pair(PARSER, "mention the speedup in the changelog", "future", ("4",)),
    Pair(PARSER, "skip the changelog", "future", ("4",), True),
    Pair(PARSER, "after that, publish a new version", "future"),
    Pair(PARSER, "compare with pandas as well when you get there", "future", ("3",)),
    Pair(PARSER, "remember quoted newlines in the state machine", "current", ("2",)),
    Pair(PARSER, "a state machine is too slow in Python, use the csv module", "current", ("2",), True),
    Pair(PARSER, "how is it going?", "current"),
    Pair(PARSER, "add type hints while you are at it", "current", ("2",)),
    Pair(PARSER, "that loop allocates too much, do it without slicing", "current", ("2",), True),
    Pair(PARSER, "your measurement used the debug build, measure again", "past", ("1",), True),
    Pair(PARSER, "big.csv is the wrong file, huge.csv is what customers send", "past", ("1",), True),
    Pair(PARSER, "please also measure memory, not only time", "past", ("1",)),
    Pair(PARSER, "we drop CSV altogether and read Parquet from now on", "requirement_change", (), True),
    Pair(PARSER, "speed does not matter any more, make it correct for broken files", "requirement_change"),
    Pair(SITE, "联系页要加一张地图", "future", ("4",)),
    Pair(SITE, "手机测试先不做", "future", ("5",), True),
    Pair(SITE, "测试的时候也看一下平板", "future", ("5",)),
    Pair(SITE, "全部做完以后部署到测试服务器", "future"),
    Pair(SITE, "联系页不用改了", "future", ("4",), True),
    Pair(SITE, "产品图片要懒加载", "current", ("3",)),
    Pair(SITE, "不要用 flex，产品页用 grid", "current", ("3",), True),
    Pair(SITE, "现在改到哪个文件了？", "current"),
    Pair(SITE, "注意代码缩进用两个空格", "current"),
    Pair(SITE, "产品页的价格要右对齐", "current", ("3",)),
    Pair(SITE, "导航栏在小屏幕上被遮住了，重做", "past", ("2",), True),
    Pair(SITE, "导航栏少了登录按钮", "past", ("2",)),
    Pair(SITE, "分析漏掉了 blog 页面", "past", ("1",), True),
    Pair(SITE, "网站不要了，我们做小程序", "requirement_change", (), True),
    Pair(SITE, "其实只要英文版，中文版全部删掉", "requirement_change"),
    Pair(MOVE, "the load test should use 200 users", "future", ("6",)),
    Pair(MOVE, "leave the Dockerfile alone, ops does that", "future", ("5",), True),
    Pair(MOVE, "error handlers must log the request id", "future", ("4",)),
    Pair(MOVE, "use async def only where there is IO", "current", ("3",)),
    Pair(MOVE, "not in one file! one router a module", "current", ("3",), True),
    Pair(MOVE, "you missed the websocket routes in your list", "past", ("1",), True),
    Pair(MOVE, "the list should name the HTTP methods too", "past", ("1",)),
    Pair(MOVE, "we stay on Flask after all; only upgrade it to version 3", "requirement_change", (), True),
    Pair(MOVE, "good, go on", "current"),
    Pair(DATA, "图用蓝色，不要红色", "future", ("4",)),
    Pair(DATA, "报告改成 HTML，不要 PDF", "future", ("5",)),
    Pair(DATA, "不用画图", "future", ("4",), True),
    Pair(DATA, "汇总按财年，不按自然月", "current", ("3",), True),
    Pair(DATA, "汇总里再加一列平均价", "current", ("3",)),
    Pair(DATA, "慢慢来，不着急", "current"),
    Pair(DATA, "去重把不同门店的单子也删了，这不对", "past", ("2",), True),
    Pair(DATA, "去重的时候还要看订单号", "past", ("2",)),
    Pair(DATA, "文件读错了，应该是 sales_2026.csv", "past", ("1",), True),
    Pair(DATA, "不做报告了，改成一个实时看板", "requirement_change", (), True),
)

__all__ = ["PAIRS", "Pair", "plan_of"]
