package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/internal/suggest"
)

func agentKeys(e *env.Env) *cobra.Command {
	var literal bool
	c := forTyping(e, &cobra.Command{
		Use: "send-keys AGENT KEY…", Short: "Press keys in an agent's terminal: Enter, " +
			"Escape, C-c, Up, F5, or text",
		Long: `send-keys presses the named keys one after the other: Enter, Tab, BTab, Escape,
Space, BSpace, Insert, Delete, PageUp, PageDown, Up, Down, Left, Right, Home, End, F1 to F12,
C-c for Ctrl+C, M-x for Alt+X. Any other word is typed as text. A word that resembles
the name of a key, such as enter or Ctrl-C, is an error, because it may be a typo.`,
		Example: "  gcity agent send-keys worker Escape ':q' Enter",
	}, func(agent string, keys []string) (city.Command, error) {
		if wrong := Misspelled(keys); wrong != "" && !literal {
			return nil, exit.Usage("%s Add --literal to type it as text", wrong)
		}
		return city.SendKeys{Agent: agent, Keys: keys}, nil
	})
	c.Flags().BoolVar(&literal, "literal", false,
		"type words as text even if they look like names of keys")
	return c
}

func forTyping(e *env.Env, c *cobra.Command,
	command func(agent string, words []string) (city.Command, error)) *cobra.Command {
	return forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found,
		words []string) error {
		g := f.Agent
		what, err := command(g.Name, words)
		if err != nil {
			return err
		}
		if !g.Running && l.Live {
			return city.Errorf(city.Conflict, "agent %q has no session: its state is %s (%s)",
				g.Name, g.State, g.Reason)
		}
		defer sayWaiting(ctx, e, l, f)()
		return e.Do(ctx, l, what)
	}, suggest.Agent)
}

// Misspelled returns an error message if one of the words resembles the name of a key, or "" if none does.
func Misspelled(keys []string) string {
	for _, key := range keys {
		near, wrong := otherSpelling(key)
		if near == "" && !wrong && looksLikeKey(key) {
			near = suggest.Nearest(key, keyNames())
			wrong = near != ""
		}
		switch {
		case wrong && near != "":
			return fmt.Sprintf("unknown key %q; did you mean %q?", key, near)
		case wrong:
			return fmt.Sprintf("unknown key %q; use C-c for Ctrl+C, and M-x for Alt+X.", key)
		}
	}
	return ""
}

func otherSpelling(word string) (name string, is bool) {
	if name = keyCalled(word); name != "" {
		return name, name != word
	}
	if rest, ok := strings.CutPrefix(word, "^"); ok && len(rest) == 1 {
		return "C-" + strings.ToLower(rest), true
	}
	modifier, key := word, ""
	if i := strings.IndexAny(word, "-+"); i > 0 {
		modifier, key = word[:i], word[i+1:]
	}
	prefix := modifierCalled(modifier)
	switch named := keyCalled(key); {
	case prefix == "" || word == modifier || strings.Contains(word, "+") && len(modifier) == 1:
		return "", false
	case key == "":
		return "", true
	case named != "":
		if name = prefix + named; prefix != "M-" && !slices.Contains(keyNames(), name) {
			return "", true
		}
	case len(key) == 1 && prefix != "S-" && len(modifier) > 1:
		name = prefix + strings.ToLower(key)
	case len(key) == 1 && prefix != "S-":
		name = prefix + key
	default:
		return "", false
	}
	return name, name != word
}

func modifierCalled(word string) string {
	switch strings.ToLower(word) {
	case "c", "ctrl", "control":
		return "C-"
	case "m", "alt", "meta":
		return "M-"
	case "s", "shift":
		return "S-"
	}
	return ""
}

// keyCalled returns the key that a word names, or "". It ignores case, except for IC and DC, because dc is also a
// program.
func keyCalled(word string) string {
	switch strings.ToLower(word) {
	case "esc":
		return "Escape"
	case "return":
		return "Enter"
	case "backspace":
		return "BSpace"
	case "del":
		return "Delete"
	}
	for _, name := range keyNames() {
		if word == name || name != "IC" && name != "DC" && strings.EqualFold(word, name) {
			return name
		}
	}
	return ""
}

func looksLikeKey(s string) bool {
	if len(s) < 3 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

func keyNames() []string {
	return []string{
		"Enter", "Tab", "BTab", "S-Tab", "Escape", "Space", "BSpace", "Insert", "IC", "Delete",
		"DC", "PageUp", "PPage", "PgUp",
		"PageDown", "NPage", "PgDn", "Up", "Down", "Left", "Right", "Home", "End", "C-Space", "F1",
		"F2", "F3", "F4", "F5", "F6",
		"F7", "F8", "F9", "F10", "F11", "F12",
	}
}
