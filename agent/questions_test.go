package agent

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"gcity/config"
	"gcity/session"
	"gcity/session/fake"
)

// still is a program whose screen does not change.
type still struct {
	*fake.Provider
	screen string
	got    []string
}

func (p *still) Output(context.Context, string, int) (string, error) { return p.screen, nil }

func (p *still) SendKeys(_ context.Context, _ string, keys ...string) error {
	p.got = append(p.got, keys...)
	return nil
}

func (p *still) DialogAnswered(_ *session.Spec, d session.Dialog) {
	p.got = append(p.got, "answers the question about "+d.Name)
}

func (p *still) DialogPending(_ context.Context, _ *session.Spec, d *session.Dialog) {
	if d != nil && d.Name == "" {
		p.got = append(p.got, "asks something unknown")
	}
}

// The presets recognize the questions that the programs ask, both at a start and later ("" = none). testdata/questions
// contains parts of real screens.
func TestQuestionsOfPrograms(t *testing.T) {
	want := map[string][2]string{
		"claude-theme":      {"Enter, answers the question about the theme", "the theme"},
		"claude-notes":      {"Enter, answers the question about security notes", "security notes"},
		"claude-trust":      {"Enter, answers the question about trust in the folder", "trust in the folder"},
		"claude-bypass":     {"Down", "permissions bypassed"},
		"claude-key":        {"asks something unknown", "something unknown"},
		"claude-permission": {"asks something unknown", "something unknown"},
		"claude-color":      {"asks something unknown", "something unknown"},
		"claude-prompt":     {"ready", ""},
		"claude-works":      {"ready", ""},
		"claude-list":       {"ready", ""},
		"claude-login":      {"ready", "the login"},
		"codex-permission":  {"asks something unknown", "something unknown"},
		"gemini-permission": {"asks something unknown", "something unknown"},
		"gemini-list":       {"ready", ""},
	}
	files, _ := filepath.Glob("testdata/questions/*.txt")
	if len(files) != len(want) {
		t.Errorf("got %d screens, want %d", len(files), len(want))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		program, _, _ := strings.Cut(name, "-")
		c, err := config.Parse("/city", []byte("[[agents]]\nname = 'a'\nprovider = '"+program+
			"'\nemits_permission_warning = true"))
		if err != nil {
			t.Fatal(err)
		}
		p := c.ProgramOf(&c.Agents[0], nil)
		synctest.Test(t, func(t *testing.T) {
			s := &still{Provider: fake.New(), screen: string(data)}
			_, err := session.Launch(t.Context(), s, session.Spec{Name: "a", Agent: "a", ID: "1", Ready: ready(&p), Dialogs: dialogs(&p)}, nil)
			if err == nil {
				s.got = append(s.got, "ready")
			}
			if got := strings.Join(s.got, ", "); got != want[name][0] {
				t.Errorf("%s: got %q, want %q; %v", name, got, want[name][0], err)
			}
			q := cmp.Or(session.Question(string(data), p.ReadyPromptPrefix, dialogs(&p)), session.Notice(string(data), p.ReadyPromptPrefix, dialogs(&p)))
			later := ""
			if q != nil {
				later = cmp.Or(q.Name, "something unknown")
			}
			if later != want[name][1] {
				t.Errorf("%s: got the question %q of a running program, want %q", name, later, want[name][1])
			}
		})
	}
}
