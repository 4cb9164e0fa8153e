package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/output"
)

// The help of every command fits the terminal and has the same words at every width.
func TestHelpFits(t *testing.T) {
	root := tree(&env.Env{Printer: output.Printer{Getenv: func(string) string { return "" }}}, []string{"man"})
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		want := strings.Fields(helpText(c, 1000))
		for _, width := range []int{60, 80, 100} {
			text := helpText(c, width)
			if got := strings.Fields(text); !slices.Equal(got, want) {
				t.Errorf("%s: the words differ in %d columns:\n%s", c.CommandPath(), width, text)
			}
			for line := range strings.SplitSeq(text, "\n") {
				if ansi.StringWidth(line) > width && (width >= 80 || !strings.Contains(c.Example, line)) {
					t.Errorf("%s: got more than %d columns: %q", c.CommandPath(), width, line)
				}
			}
		}
		for _, below := range c.Commands() {
			check(below)
		}
	}
	check(root)
}
