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

// An agent that lacks options of its program's preset can get the work of another agent.
func TestJudgeOptions(t *testing.T) {
	const whole = "codex --no-daemon -c allow_login_shell=false"
	want := func(name, command string) agent.Want {
		return agent.Want{Name: name, Declared: name, Spec: session.Spec{Command: command}}
	}
	for _, c := range []struct {
		wants         []agent.Want
		state, detail string
	}{
		{[]agent.Want{want("a", whole+" -x"), want("b", "claude"), want("c", "./codexes && codex"), want("d", `codex --no-daemon -c "allow_login_shell=false"`), want("e", "codex --no-daemon --config 'allow_login_shell=false'")}, "ok",
			"no command lacks an option of its program"},
		{[]agent.Want{want("a", "exec /opt/codex -x"), want("a", "exec /opt/codex -x"), want("b", "codex -c allow_login_shell=false"), want("c", "A=1 codex --no-daemon -c x=y")}, "note",
			"a: its command lacks --no-daemon -c allow_login_shell=false\nb: its command lacks --no-daemon\nc: its command lacks -c allow_login_shell=false"},
	} {
		if f := judgeOptions(c.wants); f.State != c.state || f.Detail != c.detail {
			t.Errorf("got %+v", f)
		}
	}
}
