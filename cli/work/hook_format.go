package work

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/hooks"
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
