"""Which names of tools stay: those that a session declares, and those of agents that anybody can install."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from simulator.trace.trace_file import TracedSession

#: what an OpenAI-compatible server takes as one
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
#: of Cline's two clients, Claude Code, Codex, OpenHands, SWE-agent, mini-SWE-agent, opencode, Gemini CLI and such
_PUBLIC = """
read_file read_files write_to_file replace_in_file list_files search_files list_code_definition_names execute_command
browser_action use_mcp_tool access_mcp_resource ask_followup_question attempt_completion new_task plan_mode_respond
act_mode_respond load_mcp_documentation condense report_bug new_rule web_fetch web_search apply_patch run_commands
search_codebase editor fetch_web_content skills ask_question use_skill use_subagents spawn_agent submit_and_exit
generate_explanation focus_chain summarize_task apply_diff insert_content search_and_replace switch_mode codebase_search
update_todo_list fetch_instructions
Read Write Edit MultiEdit NotebookEdit NotebookRead Bash BashOutput KillShell KillBash Glob Grep LS Task Agent TodoWrite
TodoRead WebFetch WebSearch ExitPlanMode EnterPlanMode SlashCommand Skill AskUserQuestion TaskCreate TaskUpdate TaskList
TaskGet TaskOutput TaskStop ToolSearch LSP
shell local_shell exec_command exec_shell write_stdin update_plan view_image container.exec unified_exec
execute_bash execute_ipython_cell str_replace_editor str_replace_based_edit_tool str_replace finish think terminal
file_editor task_tracker browser browse delegate glob grep edit_file run run_ipython
bash create str_view view open goto scroll_up scroll_down search_file search_dir find_file edit insert submit exit_cost
read write patch task todowrite todoread webfetch websearch list ls multiedit
read_many_files write_file list_directory glob_files search_file_content google_web_search run_shell_command
save_memory computer text_editor code_execution
"""
PUBLIC = frozenset(_PUBLIC.split())


def kept(traced: TracedSession) -> frozenset[str]:
    """The names that are told; every other one, also of a tool that was only called, is replaced."""
    return PUBLIC | {name for name in _declared(traced) if _NAME.fullmatch(name)}


def _declared(traced: TracedSession) -> Iterator[str]:
    for body in (traced.line.body, *(turn.body for turn in traced.turns)):
        tools = (body or {}).get("tools")
        for tool in tools if isinstance(tools, list) else ():
            function: Any = tool.get("function") if isinstance(tool, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                yield function["name"]
