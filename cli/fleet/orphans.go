package fleet

import (
	"context"
	"fmt"
	"strings"

	"gcity/city"
	"gcity/cli/env"
	"gcity/internal/shell"
)

// leftOf returns which sessions of a city are running without a controller, and how to stop them;
// otherwise "".
func leftOf(i city.Info) string {
	switch i.Left {
	case 0:
		return ""
	case 1:
		return "1 session of it is still running, `gcity " +
			"stop --city " + shell.Quote(i.Path) + "` stops it"
	}
	return fmt.Sprintf("%d sessions of it are still running, `gcity stop --city %s` stops them",
		i.Left,
		shell.Quote(i.Path))
}

// allLeft returns which sessions of registered cities are running without a controller; otherwise "".
func allLeft(ctx context.Context, e *env.Env) string {
	all, err := CityList(ctx, e)
	if err != nil {
		return ""
	}
	var out []string
	for _, i := range all {
		if text := leftOf(i); text != "" {
			out = append(out, i.Name+": "+text)
		}
	}
	return strings.Join(out, "\n")
}
