package doctor

import (
	"testing"

	"gcity/agent"
	"gcity/session"
)

// Doctor warns if the configuration names no provider, because gcity then runs the first program found.
func TestJudgePrograms(t *testing.T) {
	want := func(name, program, command string) agent.Want {
		return agent.Want{Name: name, Declared: name, Program: program,
			Spec: session.Spec{Command: command}}
	}
	member := want("w-2", "codex", "codex -x")
	member.Declared = "w-1"
	lost, found := want("lost", "amp", "amp"), want("found", "codex", "codex -x")
	lost.MissingPrograms.Programs, found.Found = []string{"amp"}, true
	for _, c := range []struct {
		wants              []agent.Want
		state, detail, fix string
	}{
		{[]agent.Want{want("a", "", "sh"), lost}, "ok", "no agent uses a provider", ""},
		{[]agent.Want{want("a", "claude", "claude"), want("w-1", "codex", "codex -x"), member,
			want("z", "claude", "claude")}, "ok",
			"a, z: claude, run by `claude`\nw-1: codex, run by `codex -x`", ""},
		{[]agent.Want{found, want("z", "claude", "claude")}, "note",
			"found: codex, run by `codex -x`, the first program found, because the configuration names no provider\nz: " +
				"claude, run by `claude`",
			"add provider = \"…\" to [workspace] or the agent: on a different machine, or with a different " +
				"PATH, a different program may be found first"},
	} {
		if f := judgePrograms(c.wants); f.State != c.state || f.Detail != c.detail ||
			f.Fix != c.fix {
			t.Errorf("got %+v", f)
		}
	}
}
