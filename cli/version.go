package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"gcity/session/pty/holdbin"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "The version of this program", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.WriteJSON(map[string]string{
					"version": a.version, "go": runtime.Version(), "platform": platform(), "holder": holderKind(),
				})
			}
			a.Sayf("gcity %s (%s, %s)", a.version, runtime.Version(), platform())
			a.Sayf("holder: %s", holderText())
			return nil
		},
	}
}

// holderKind says what holds a session in this build: "embedded" or "self".
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

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

func (a *app) completionCommand() *cobra.Command {
	shell := func(name string, write func(root *cobra.Command, w io.Writer) error, hint string) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: "For " + name + ": " + hint, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return write(cmd.Root(), a.Out) },
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
