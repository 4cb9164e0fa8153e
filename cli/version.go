package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"gcity/cli/doctor"
	"gcity/cli/env"
	"gcity/session/pty/holdbin"
)

func versionCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program",
		RunE: func(*cobra.Command, []string) error {
			if e.JSON {
				return e.WriteJSON(map[string]string{
					"version": e.Version, "go": runtime.Version(), "platform": doctor.Platform(),
					"holder": holderKind(),
				})
			}
			e.Sayf("gcity %s (%s, %s)", e.Version, runtime.Version(), doctor.Platform())
			e.Sayf("holder: %s", holderText())
			return nil
		},
	}
}

func holderKind() string {
	if holdbin.Image() == nil {
		return "self"
	}
	return "embedded"
}

func holderText() string {
	if image := holdbin.Image(); image != nil {
		return fmt.Sprintf("embedded (%.1f MB)", float64(len(image))/1e6)
	}
	return "this program itself; `make build` embeds a smaller one"
}

func completionCommand(e *env.Env) *cobra.Command {
	shell := func(name string, write func(root *cobra.Command, w io.Writer) error,
		hint string) *cobra.Command {
		return env.TextOnly(e, &cobra.Command{
			Use: name, Short: "For " + name + ": " + hint,
			RunE: func(cmd *cobra.Command, _ []string) error { return write(cmd.Root(), e.Out) },
		})
	}
	return env.Group("completion", "Print a completion script for your shell",
		shell("bash", bashCompletion, "source <(gcity completion bash)"),
		shell("zsh", func(r *cobra.Command, w io.Writer) error { return r.GenZshCompletion(w) },
			`gcity completion zsh > "${fpath[1]}/_gcity"`),
		shell("fish", func(r *cobra.Command,
			w io.Writer) error {
			return r.GenFishCompletion(w, true)
		},
			"gcity completion fish > ~/.config/fish/completions/gcity.fish"),
	)
}
