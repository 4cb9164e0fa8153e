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
		Use: "send-keys AGENT KEY…", Short: "Press keys in its terminal: Enter, Escape, C-c, Up, " +
			"F5, or text",
		Long: `send-keys presses keys by name, one after the other: Enter, Tab, BTab, Escape,
Space, BSpace, Insert, Delete, PageUp, PageDown, Up, Down, Left, Right, Home,
End, F1 to F12, with Ctrl as C-c, with Alt as M-x. Anything else is typed as it
stands, except what is nearly such a name, which is refused.`,
		Example: "  gcity agent send-keys worker Escape ':q' Enter",
	}, func(agent string, keys []string) (city.Command, error) {
		if wrong := Misspelt(keys); wrong != "" && !literal {
			return nil, exit.Usage("%s --literal types it as it stands", wrong)
		}
		return city.SendKeys{Agent: agent, Keys: keys}, nil
	})
	c.Flags().BoolVar(&literal, "literal", false,
		"type what only looks like the name of a key, too")
	return c
}

// forTyping gives a command its deed: something to be typed into the terminal of the agent that its first argument
// names.
func forTyping(e *env.Env, c *cobra.Command,
	command func(agent string, words []string) (city.Command, error)) *cobra.Command {
	c.Args = env.Between(2, 1<<20)
	return forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found,
		words []string) error {
		g := f.Agent
		what, err := command(g.Name, words)
		if err != nil {
			return err
		}
		if !g.Running {
			return &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("agent %q has no terminal to type into: it is %s (%s)", g.Name,
					g.State, g.Reason)}
		}
		return e.Do(ctx, l, what)
	}, env.KindAgent)
}

// Misspelt says which of the keys is none but nearly the name of one, "" if there is no such.
func Misspelt(keys []string) string {
	for _, key := range keys {
		known := keyNames()
		if !looksLikeKey(key) || slices.Contains(known, key) {
			continue
		}
		if near := suggest.Nearest(key, known); near != "" {
			return fmt.Sprintf("there is no key %q, did you mean %q?", key, near)
		}
	}
	return ""
}

// looksLikeKey reports whether somebody may have meant the name of a key: a word with a capital first letter.
func looksLikeKey(s string) bool {
	if len(s) < 3 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// keyNames are the keys that session.Keyer knows by name, those with a letter (C-c, M-x) left out.
func keyNames() []string {
	return []string{
		"Enter", "Tab", "BTab", "S-Tab", "Escape", "Space", "BSpace", "Insert", "IC", "Delete",
		"DC", "PageUp", "PPage", "PgUp",
		"PageDown", "NPage", "PgDn", "Up", "Down", "Left", "Right", "Home", "End", "C-Space", "F1",
		"F2", "F3", "F4", "F5", "F6",
		"F7", "F8", "F9", "F10", "F11", "F12",
	}
}
