package work

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/hooks"
	"gcity/internal/deadline"
)

func hookFormat(c *cobra.Command, format *string) {
	c.Flags().StringVar(format, "hook-format", "", "print the text in the form in which "+
		"`PROGRAM`'s hooks pass it to the model")
	_ = c.RegisterFlagCompletionFunc("hook-format",
		cobra.FixedCompletions(hooks.Kinds(), cobra.ShellCompDirectiveNoFileComp))
}

// printForModel prints a text so that an agent's program passes it to the model. An unknown program is not an error,
// because some programs discard the user's text if a hook fails.
func printForModel(e *env.Env, format string, c hooks.Command, text string) error {
	text, known := hooks.Output(format, c, text)
	if format != "" && !known {
		fmt.Fprintf(e.Err, "gcity: unknown hook format %q: printing plain text\n",
			output.SafeLine(format))
	}
	_, err := io.WriteString(e.Out, text)
	return err
}

const hookInputLimit = 2 * time.Second

// turnContinued reports whether a hook has already made the model continue in this turn, according to the hook's input.
// It returns false if no input arrives in time.
func turnContinued(ctx context.Context, e *env.Env) bool {
	if e.InTTY {
		return false
	}
	continued, ok := deadline.New[bool](1).Do(ctx, "input", time.Time{}, hookInputLimit,
		func() bool { return hooks.Continued(e.In) })
	return ok && continued
}
