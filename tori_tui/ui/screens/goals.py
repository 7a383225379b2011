"""What a talk screen has of the plan: the tree with its filter, the strip in narrow windows, a goal's page.

Must not change a goal; what the user wants of one goes on as the tree's intent.
"""

from __future__ import annotations

from collections.abc import Callable

from tori_tui.ui.palette import Palette
from tori_tui.ui.screens.goal_page import GoalPage, GoalPageEnd
from tori_tui.ui.screens.looking import LookingScreen
from tori_tui.ui.widgets.goal_filter_bar import GoalFilterBar
from tori_tui.ui.widgets.goal_tree import GoalTree
from tori_tui.ui.widgets.plan_strip import PlanStrip


class GoalsScreen(LookingScreen):
    """Shows the plan beside the conversation, or in its place."""

    def __init__(self, palette: Palette, *, clock: Callable[[], float]) -> None:
        super().__init__(palette, clock=clock)
        self.goals = GoalTree(palette, clock=clock, id="goals")
        self.goal_filter = GoalFilterBar(id="goal-filter")
        self.plan_strip = PlanStrip(palette, self.goals.times, id="plan")
        self._goal_page: GoalPage | None = None

    def show_plan(self) -> None:
        """Show the plan of the state."""
        self.goals.show(self.state)
        self.plan_strip.show(self.state)
        if self._goal_page is not None:
            self._goal_page.show(self.state)

    def tick_plan(self) -> None:
        """Let the times that run go on."""
        self.goals.tick()
        self.plan_strip.tick()
        if self._goal_page is not None:
            self._goal_page.tick()

    # ── intents of the tree ──

    def on_goal_tree_jumped(self, message: GoalTree.Jumped) -> None:
        """Show where work on a goal began."""
        self._uncover()
        if self.transcript.go_to_goal(message.goal_id):
            self.transcript.focus()

    def on_goal_tree_details_wanted(self, message: GoalTree.DetailsWanted) -> None:
        """Show all that is known of a goal, until the user has seen it."""
        page = GoalPage(self.palette, self.state, message.goal_id, running_of=self.goals.times.running_of)

        def ended(end: GoalPageEnd | None) -> None:
            self._goal_page = None
            match end:
                case GoalPageEnd(wish="jump"):
                    self.goals.post_message(GoalTree.Jumped(end.goal_id))
                case GoalPageEnd(wish="diff" | "comment" as wish):
                    self.goals.post_message(GoalTree.Intended(wish, end.goal_id))

        self._goal_page = page
        self.app.push_screen(page, ended)

    def on_goal_tree_filter_wanted(self, message: GoalTree.FilterWanted) -> None:
        """Let the user type what he looks for."""
        self.goal_filter.open(self.goals.filter_text)
        self.goal_filter.show(self.goals.filter(self.goals.filter_text))

    def on_goal_filter_bar_changed(self, message: GoalFilterBar.Changed) -> None:
        """Show what fits."""
        self.goal_filter.show(self.goals.filter(message.words))

    def on_goal_filter_bar_stepped(self, message: GoalFilterBar.Stepped) -> None:
        """Move in the tree while the filter is typed."""
        self.goals.action_move_cursor(message.step)

    def on_goal_filter_bar_closed(self, message: GoalFilterBar.Closed) -> None:
        """Go on in the tree."""
        self.goals.focus()

    def _uncover(self) -> None:
        """Show the conversation where another pane has taken its place."""
        self.remove_class("-goals-shown")
        if self.has_class("-narrow"):
            self.remove_class("-context-shown")

    # ── actions ──

    def action_toggle_goals(self) -> None:
        """Show or hide the goal tree; in a narrow window it takes the conversation's place."""
        if self.has_class("-narrow"):
            self.remove_class("-context-shown")
            self.toggle_class("-goals-shown")
            target = self.goals if self.has_class("-goals-shown") else self.home
        else:
            self.toggle_class("-goals-hidden")
            target = self.home if self.has_class("-goals-hidden") else self.goals
        target.focus()

    def action_goal_details(self) -> None:
        """Show all that is known of the goal that is worked on."""
        self.goals.post_message(GoalTree.DetailsWanted(self.state.tree.current_id or self.goals.cursor))

    def action_filter_goals(self) -> None:
        """Show the goals, and let the user type what he looks for."""
        if not self.goals.display:
            self.action_toggle_goals()
        self.goals.action_filter()


__all__ = ["GoalsScreen"]
