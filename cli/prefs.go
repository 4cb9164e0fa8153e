package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
)

func prefsCommand(e *env.Env) *cobra.Command {
	return env.Group("prefs", "Show and check your own preferences: theme, keys, columns",
		&cobra.Command{Use: "path", Short: "Print the path of the preferences file, whether it " +
			"exists or not",
			RunE: func(*cobra.Command, []string) error { return prefsPath(e) }},
		&cobra.Command{Use: "check", Short: "Check the preferences; exit 78 if they are invalid",
			RunE: func(*cobra.Command, []string) error { return prefsCheck(e) }},
	)
}

func prefsPath(e *env.Env) error {
	f, err := env.PrefsFiles(e)
	if err != nil {
		return err
	}
	if e.JSON {
		_, missing := os.Stat(f.Config)
		return e.WriteJSON(struct {
			Path   string `json:"path"`
			Themes string `json:"themes"`
			Exists bool   `json:"exists"`
		}{f.Config, f.Themes, !errors.Is(missing, fs.ErrNotExist)})
	}
	e.Sayf("%s", f.Config)
	return nil
}

func prefsCheck(e *env.Env) error {
	f, err := env.PrefsFiles(e)
	if err != nil {
		return err
	}
	wrong := env.BadPrefs(e)
	switch {
	case e.JSON:
		if err := e.WriteJSON(output.ListOf(wrong)); err != nil {
			return err
		}
	case len(wrong) == 0 && !env.HasPrefs(f):
		e.Sayf("%s does not exist; the defaults apply", f.Config)
	case len(wrong) == 0:
		e.Sayf("%s: no errors", f.Config)
	default:
		for _, w := range wrong {
			e.Sayf("%s", output.SafeText(w))
		}
	}
	if len(wrong) > 0 {
		return exit.Quietly(exit.CodeConfig)
	}
	return nil
}
