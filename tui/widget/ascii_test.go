package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
)

// Every symbol that gcity draws has an ASCII equivalent of the same width. Letters, and symbols that are part of a
// wider character, stay unchanged.
func TestASCIIScreens(t *testing.T) {
	g := themes.Unicode()
	ours := g.Running + g.Suspended + g.Failed + g.Starting + g.Waiting + g.Backoff + g.Leaving +
		g.Done + g.OK + g.More + g.Dot + g.Thin + g.Heavy +
		g.Bar + g.HeavyBar + strings.Join(g.Corner[:], "") + strings.Join(g.Foot[:], "")
	for _, row := range append(g.Join[:], g.Top[:]...) {
		ours += strings.Join(row[:], "")
	}
	for _, row := range g.Spark {
		ours += strings.Join(row[:], "")
	}
	if got := ToASCII(ours); !IsASCII(got) || Width(got) != Width(ours) {
		t.Errorf("of %q becomes %q", ours, got)
	}
	for in, want := range map[string]string{
		"crashed 6× in 4m → “quarantine” …":      `crashed 6x in 4m-> "quarantine" ~`,
		"│a → b│ c → d   x  │":                   "|a-> b| c -> d  x  |",
		"a→b":                                    "a>b",
		"\x1b[1m3 → 1\x1b[m \x1b[2mx\x1b[m    y": "\x1b[1m3 -> 1\x1b[m \x1b[2mx\x1b[m   y",
		"\x1b[31m●\x1b[m 日本 é":                   "\x1b[31m*\x1b[m 日本 é",
		"plain":                                  "plain",
		"▶\ufe0f":                                "▶\ufe0f",
	} {
		if got := ToASCII(in); got != want || ansi.StringWidth(got) != ansi.StringWidth(in) {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
