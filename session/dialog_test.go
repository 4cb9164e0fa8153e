package session_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/session"
	"gcity/session/fake"
)

// stage is a program that shows a sequence of screens. It shows the next one after the expected key, or after some
// time.
type stage struct {
	*fake.Provider
	deaf bool // does not support SendKeys

	mu      sync.Mutex
	scenes  []scene
	since   time.Time
	pressed []string
	told    []string
}

type scene struct {
	screen string
	key    string
	lasts  time.Duration // if key is "", how long the screen is shown
}

func (p *stage) Output(context.Context, string, int) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = time.Now()
	}
	for s := p.scenes[0]; len(p.scenes) > 1 && s.key == "" && time.Since(p.since) >= s.lasts; s = p.scenes[0] {
		p.scenes, p.since = p.scenes[1:], p.since.Add(s.lasts)
	}
	return p.scenes[0].screen, nil
}

func (p *stage) SendKeys(_ context.Context, _ string, keys ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf {
		return session.ErrUnsupported
	}
	p.pressed = append(p.pressed, keys...)
	if len(p.scenes) > 1 && slices.Equal(keys, []string{p.scenes[0].key}) {
		p.scenes, p.since = p.scenes[1:], time.Now()
	}
	return nil
}

func (p *stage) DialogAnswered(s *session.Spec, d session.Dialog) {
	p.told = append(p.told, s.Agent+": "+d.Name)
}

func (p *stage) DialogPending(_ context.Context, s *session.Spec, d *session.Dialog) {
	if d == nil {
		p.told = append(p.told, s.Agent+" no longer asks")
		return
	}
	p.told = append(p.told, s.Agent+" asks: "+d.Name)
}

const (
	trusting = "╭────────────────────────╮\n│ Do you trust the files │\n│ in this folder?        │\n\n❯ 1. Yes, proceed\n  2. No, exit"
	bypass   = "Running in Bypass Permissions mode\n\n❯ 1. No, exit\n  2. Yes, I accept"
	chosen   = "Running in Bypass Permissions mode\n\n  1. No, exit\n❯ 2. Yes, I accept"
	prompt   = "welcome\n❯ "

	noFirst     = "Running in Bypass Permissions mode\n\n ❯ No, exit\n   Yes, I accept\n\n Enter to confirm"
	yesSecond   = "Running in Bypass Permissions mode\n\n   No, exit\n ❯ Yes, I accept\n\n Enter to confirm"
	trustNo     = "Do you trust the files in this folder?\n❯ No, exit\n  Yes, proceed"
	loading     = "  >_ OpenAI Codex (v0.171.0)\n     loading\n\n› Ask Codex to do anything\n\n  ? for shortcuts"
	loaded      = "  >_ OpenAI Codex (v0.171.0)\n     /work\n\n› Ask Codex to do anything\n\n  GPT-5.5 · /work\n  ← for agents · ? for shortcuts"
	codexTrust  = "  Trust this folder? Codex can read files here.\n\n› 1. Trust and continue\n  2. Back\n\n  enter continue"
	unknownList = "An update is available\n❯ 1. Update now\n  2. Skip"
)

// A question that a program asks before it is ready is not mistaken for its prompt.
func TestDialogs(t *testing.T) {
	ask := func(answered bool) []session.Dialog {
		all := []session.Dialog{{Name: "trust", Says: []string{"Do you trust the files in this folder?", "Yes, proceed"}, Option: "Yes, proceed"},
			{Name: "bypass", Says: []string{"Bypass Permissions mode", "Yes, I accept"}, Option: "Yes, I accept"},
			{Name: "letters", Says: []string{"[a] Trust"}, Keys: []string{"a"}}, {Says: []string{"Enter to confirm"}}}
		for i := range all {
			if !answered {
				all[i].Keys, all[i].Option = nil, ""
			}
		}
		return all
	}
	codex := []session.Dialog{{Says: []string{"Ask Codex to do anything ? for shortcuts"}, Loading: true},
		{Name: "trust", Says: []string{"Trust this folder?", "Trust and continue"}, Option: "Trust and continue"}}
	for name, c := range map[string]struct {
		scenes  []scene
		dialogs []session.Dialog
		ready   session.Ready
		deaf    bool
		want    string // pressed keys, reported questions, and "nudged" or the error, separated by semicolons
	}{
		"both are answered": {[]scene{{trusting, "Enter", 0}, {bypass, "Down", 0}, {chosen, "Enter", 0}, {prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false,
			"Enter Down Enter; a: trust, a: bypass; nudged"},
		"no answer is configured": {[]scene{{trusting, "Enter", 0}, {prompt, "", 0}}, ask(false), session.Ready{Prefix: "❯ ", Delay: time.Second}, false,
			"; a asks: trust; the agent did not become ready: it asked about trust, and the question was not answered; answer in the agent's terminal during the next start, or set emits_permission_warning = true to have such questions answered automatically; " +
				"the screen showed: │ Do you trust the files │ ⏎ │ in this folder?        │ ⏎  ⏎ ❯ 1. Yes, proceed ⏎ 2. No, exit"},
		"a user answers at the terminal": {[]scene{{trusting, "", 20 * time.Second}, {prompt, "", 0}}, ask(false), session.Ready{Prefix: "❯ ", Delay: time.Second}, false, "; a asks: trust, a no longer asks; nudged"},
		"the answer does not help": {[]scene{{trusting, "never", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false,
			"Enter; a: trust, a asks: trust; the agent did not become ready: it still asked about trust after gcity had answered; the screen showed: " +
				"│ Do you trust the files │ ⏎ │ in this folder?        │ ⏎  ⏎ ❯ 1. Yes, proceed ⏎ 2. No, exit"},
		"no keys can be pressed": {[]scene{{bypass, "Down", 0}}, ask(true), session.Ready{Prefix: "❯ "}, true,
			"; a asks: bypass; the agent did not become ready: it asked about bypass, but the session provider cannot press keys to answer; the screen showed: Running in Bypass Permissions mode ⏎  ⏎ ❯ 1. No, exit ⏎ 2. Yes, I accept"},
		"half a question is not a prompt": {[]scene{{"Running in Bypass Permissions mode\n\n❯ 1. No, exit", "", 5 * time.Millisecond}, {bypass, "Down", 0}, {chosen, "Enter", 0}, {prompt, "", 0}},
			ask(true), session.Ready{Prefix: "❯ "}, false, "Down Enter; a: bypass; nudged"},
		"a question while only a delay is configured": {[]scene{{trusting, "Enter", 0}, {"welcome", "", 0}}, ask(true), session.Ready{Delay: 5 * time.Second}, false, "Enter; a: trust; nudged"},
		"the other option is highlighted, without numbers": {[]scene{{noFirst, "Down", 0}, {yesSecond, "Enter", 0}, {prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false,
			"Down Enter; a: bypass; nudged"},
		"the highlight is below the option": {[]scene{{"Bypass Permissions mode\n  1. Yes, I accept\n❯ 2. No", "Up", 0}, {prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false,
			"Up; ; nudged"},
		"no option is highlighted": {[]scene{{"Bypass Permissions mode\nNo, exit\nYes, I accept", "", 2 * time.Minute}, {prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ ", Delay: time.Second}, false,
			"; a asks: bypass, a no longer asks; nudged"},
		"the highlight does not move": {[]scene{{bypass, "", 0}}, ask(true), session.Ready{Prefix: "❯ ", Delay: time.Second}, false,
			"Down; a asks: bypass; the agent did not become ready: it asked about bypass, and gcity could not select the option \"Yes, I accept\"; answer in the agent's terminal during the next start; " +
				"the screen showed: Running in Bypass Permissions mode ⏎  ⏎ ❯ 1. No, exit ⏎ 2. Yes, I accept"},
		"a letter answers": {[]scene{{"[a] Trust [q] Quit", "a", 0}, {prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false, "a; a: letters; nudged"},
		"an unknown list": {[]scene{{unknownList, "", 2 * time.Minute}, {prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ ", Delay: time.Second}, false,
			"; a asks: , a no longer asks; nudged"},
		"an unknown list with a dot": {[]scene{{"* \n╭──────╮\n│   1. Sign in │\n│ ● 2. Use a key │\n╰──────╯", "", 20 * time.Second}, {"│ ● 1. Sign in │\n│   2. Use a key │\n\n * ", "", 0}}, ask(false),
			session.Ready{Prefix: "* "}, false, "; a asks: , a no longer asks; nudged"},
		"an unknown list of an unknown program": {[]scene{{unknownList, "", 20 * time.Second}, {prompt, "", 0}}, nil, session.Ready{Prefix: "❯ ", Delay: time.Second}, false,
			"; a asks: , a no longer asks; nudged"},
		"an unknown question that a program is known to end in this way": {[]scene{{"❯ No, thanks\n  Install it\n Enter to confirm · Esc to cancel", "", 0}}, ask(false), session.Ready{Delay: time.Second}, false,
			"; a asks: ; the agent did not become ready: it asked a question that gcity does not know; answer in the agent's terminal during the next start; " +
				"the screen showed: ❯ No, thanks ⏎ Install it ⏎ Enter to confirm · Esc to cancel"},
		"a prompt below a message that begins with a number": {[]scene{{"❯ 1. read the plan\n  2. begin\n\n❯\u00a0", "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false, "; ; nudged"},
		"instructions that contain the text of questions":    {[]scene{{"❯ Do you trust the files in this folder?\n  Yes, proceed\n  Enter to confirm\n\n❯ \n", "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false, "; ; nudged"},
		"a message that begins with a number":                {[]scene{{"❯ 1. read the plan\n\n1. the plan\n2. has steps", "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false, "; ; nudged"},
		"a user answers between the keys": {[]scene{{noFirst, "Down", 0}, {"starting", "", time.Second}, {trustNo, "Down", 0}, {trusting, "Enter", 0}, {prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false,
			"Down Down Enter; a: trust; nudged"},
		"a prompt in a frame": {[]scene{{"╭───╮\n│ ❯\u00a0type here │\n╰───╯", "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false, "; ; nudged"},
		"time passes between two questions": {[]scene{{trusting, "", 20 * time.Second}, {"", "", time.Second}, {bypass, "", 20 * time.Second}, {prompt, "", 0}}, ask(false), session.Ready{Prefix: "❯ ", Delay: 3 * time.Second}, false,
			"; a asks: trust, a no longer asks, a asks: bypass, a no longer asks; nudged"},
		"a prompt while the program loads": {[]scene{{loading, "", 4 * time.Second}, {codexTrust, "Enter", 0}, {loading, "", 4 * time.Second}, {loaded, "", 0}}, codex,
			session.Ready{Prefix: "› ", Delay: 3 * time.Second}, false, "Enter; a: trust; nudged"},
		"a question late in a slow start": {[]scene{{"", "", 65 * time.Second}, {bypass, "Down", 0}, {chosen, "Enter", 0}, {"welcome", "", 0}}, ask(true),
			session.Ready{Prefix: "❯ ", Delay: 30 * time.Second}, false, "Down Enter; a: bypass; nudged"},
		"an empty screen after a user's answer": {[]scene{{bypass, "", 2 * time.Minute}, {"", "", 0}}, ask(false),
			session.Ready{Prefix: "❯ ", Delay: 3 * time.Second}, false, "; a asks: bypass, a no longer asks; nudged"},
		"time passes between loading and a question": {[]scene{{loading, "", 20 * time.Second}, {"wait", "", time.Second}, {codexTrust, "Enter", 0}, {loaded, "", 0}}, codex,
			session.Ready{Prefix: "› ", Delay: 3 * time.Second}, false, "Enter; a: trust; nudged"},
		"a prompt that looks as if the program loads forever": {[]scene{{loading, "", 0}}, codex, session.Ready{Prefix: "› ", Delay: time.Second}, false,
			"; ; nudged"},
		"no question at all":                         {[]scene{{prompt, "", 0}}, ask(true), session.Ready{Prefix: "❯ "}, false, "; ; nudged"},
		"a delay, and a prompt that does not appear": {[]scene{{"welcome", "", 0}}, nil, session.Ready{Prefix: "❯ ", Delay: 3 * time.Second}, false, "; ; nudged"},
		"a prompt that does not appear": {[]scene{{"welcome", "", 0}}, nil, session.Ready{Prefix: "❯ "}, false,
			`; ; the agent did not become ready: no line on its screen began with "❯ " within 1m; the screen showed: welcome`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &stage{Provider: fake.New(), scenes: c.scenes, deaf: c.deaf}
				s := session.Spec{Name: "a", Agent: "a", City: "/city", ID: "id-1", Command: "x", Nudge: "go", Ready: c.ready, Dialogs: c.dialogs}
				_, err := session.Launch(t.Context(), p, s, nil)
				end := "nudged"
				if err != nil {
					end = err.Error()
				} else if out, _ := p.Provider.Output(t.Context(), "a", 0); out != "go" {
					t.Errorf("typed %q", out)
				}
				if got := fmt.Sprintf("%s; %s; %s", strings.Join(p.pressed, " "), strings.Join(p.told, ", "), end); got != c.want {
					t.Errorf("\n got %s\nwant %s", got, c.want)
				}
			})
		})
	}
}

// Without a known prompt, only dialogs are questions, wherever they are on the screen.
func TestQuestionWithoutAPrompt(t *testing.T) {
	trust := session.Dialog{Name: "trust", Says: []string{"Trust this folder?"}}
	for shown, want := range map[string]string{"Next steps:\n1. test\n2. commit": "", "● 1. test\n  2. commit": "",
		"Trust this folder?\n\n  1. yes\n  2. no\n": "trust"} {
		got := ""
		if d := session.Question(shown, "", []session.Dialog{trust}); d != nil {
			got = cmp.Or(d.Name, "unknown")
		}
		if got != want {
			t.Errorf("%q: got the question %q, want %q", shown, got, want)
		}
	}
}

// An agent is ready when its screen shows the prompt or when the delay has passed, whichever comes first. After the
// delay, an empty screen means that the program is still loading.
func TestReadyByPromptOrDelay(t *testing.T) {
	for name, c := range map[string]struct {
		scenes []scene
		want   time.Duration
	}{
		"soon":           {[]scene{{"", "", time.Second}, {prompt, "", 0}}, time.Second},
		"never":          {[]scene{{"", "", time.Second}, {"x", "", 0}}, 10 * time.Second},
		"still loading":  {[]scene{{"\n╭──╮\n", "", 25 * time.Second}, {"x", "", 0}}, 25 * time.Second},
		"nothing at all": {[]scene{{"", "", 0}}, 70 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &stage{Provider: fake.New(), scenes: c.scenes}
			began := time.Now()
			if _, err := session.Launch(t.Context(), p, session.Spec{Name: "a", Agent: "a", ID: "1", Ready: session.Ready{Prefix: "❯ ", Delay: 10 * time.Second}}, nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < c.want || took > c.want+250*time.Millisecond {
				t.Errorf("%s: got ready after %s", name, took)
			}
		})
	}
}

// When a controller exits, the wait ends and the session continues, even while a question is on the screen.
func TestControllerExitsDuringDialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stage{Provider: fake.New(), scenes: []scene{{trusting, "Enter", 0}}}
		ctx, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { leave(session.ErrLeave) })
		_, err := session.Launch(ctx, p, session.Spec{Name: "a", Agent: "a", ID: "1", Ready: session.Ready{Prefix: "❯ "},
			Dialogs: []session.Dialog{{Name: "trust", Says: []string{"Do you trust the files in this folder?"}}}}, nil)
		if !errors.Is(err, session.ErrLeave) {
			t.Error(err)
		}
		if all, _ := p.List(t.Context()); len(all) != 1 || !all[0].Alive || all[0].Ready {
			t.Errorf("%+v", all)
		}
	})
}

// An agent with a prompt on its command line is ready when its program has submitted the prompt, because the program
// can discard text that was typed earlier.
func TestReadyByEcho(t *testing.T) {
	const echoed = "❯ You are\n  the builder.\n\n● I heard\n\n❯ "
	for screen, want := range map[string]time.Duration{echoed: 3 * time.Second, "❯ another": 6 * time.Second, "": 6 * time.Second, "❯ xYou are the builder.": 6 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			scenes := []scene{{"", "", time.Second}, {prompt, "", 2 * time.Second}, {screen, "", 0}}
			if screen == "" { // the program draws its screen again and again
				scenes = append(scenes[:2], scene{"", "", time.Second}, scene{prompt, "", 0})
			}
			p := &stage{Provider: fake.New(), scenes: scenes}
			began := time.Now()
			ready := session.Ready{Prefix: "❯ ", Delay: time.Minute, Echo: session.EchoOf("\n# You are the builder.\n")}
			if _, err := session.Launch(t.Context(), p, session.Spec{Name: "a", Agent: "a", ID: "1", Ready: ready}, nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < want || took > want+250*time.Millisecond {
				t.Errorf("%q: got ready after %s", screen, took)
			}
		})
	}
	if got, want := session.EchoOf("- Build `this`:\n\n\tall of  it, with each and every one of its tests"), "Build `this`: all of it, with each and"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
