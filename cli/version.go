package cli

import (
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "The version of this program", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.writeJSON(map[string]string{"version": a.version, "go": runtime.Version(), "platform": platform()})
			}
			a.sayf("gcity %s (%s, %s)", a.version, runtime.Version(), platform())
			return nil
		},
	}
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

func (a *app) completionCommand() *cobra.Command {
	shell := func(name string, write func(root *cobra.Command, w io.Writer) error, hint string) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: "For " + name + ": " + hint, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return write(cmd.Root(), a.out) },
		}
	}
	return group("completion", "A completion script for your shell",
		shell("bash", bashCompletion,
			"source <(gcity completion bash)"),
		shell("zsh", func(r *cobra.Command, w io.Writer) error { return r.GenZshCompletion(w) },
			`gcity completion zsh > "${fpath[1]}/_gcity"`),
		shell("fish", func(r *cobra.Command, w io.Writer) error { return r.GenFishCompletion(w, true) },
			"gcity completion fish > ~/.config/fish/completions/gcity.fish"),
	)
}
