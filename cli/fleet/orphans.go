package fleet

import (
	"context"
	"fmt"
	"strings"

	"gcity/city"
	"gcity/cli/env"
	"gcity/internal/shell"
)

// leftOf says what runs on of a city that nobody runs, and what ends it; "" if nothing does.
func leftOf(i city.Info) string {
	switch i.Left {
	case 0:
		return ""
	case 1:
		return "1 session of it runs on, `gcity stop --city " + shell.Quote(i.Path) + "` ends it"
	}
	return fmt.Sprintf("%d sessions of it run on, `gcity stop --city %s` ends them", i.Left,
		shell.Quote(i.Path))
}

// allLeft says what runs on of the cities that are registered, and that nobody runs; "" if nothing does.
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
