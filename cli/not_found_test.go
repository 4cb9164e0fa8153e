package cli

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"gcity/api"
	"gcity/api/client"
	"gcity/api/socket"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/offline"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/controller/controllertest"
)

// wrongArgs maps a placeholder to the name of an object that does not exist. It maps a placeholder for any other text
// to "".
var wrongArgs = map[string]string{
	"AGENT": "nothing", "POOL": "nothing", "AGENT|POOL": "nothing", "NAME": "nothing", "CONVOY": "to-999", "BEAD": "to-999", "ID": "to-999",
	"RUN": "", "KEY": "", "TEXT": "", "N|auto": "2", "TOPIC": "nothing", "COMMAND": "nothing", "NAME|DIR": "nothing",
	"BEAD|FORMULA|TEXT": "nothing", "TARGET": "nothing",
	"MAILBOX": "", "TO": "", "SUBJECT": "", "MESSAGE": "", "TITLE": "", "TYPE": "", "PATH": "", "DIR": "", "FILE": "",
	"start|wake|nudge|nothing": "", "list": "",
}

// notNamed lists the commands whose argument may be a new name.
var notNamed = []string{"gcity convoy create"}

func wrongNames(t *testing.T, c *cobra.Command) map[string][]string {
	lines := map[string][]string{}
	for _, below := range c.Commands() {
		maps.Copy(lines, wrongNames(t, below))
	}
	words := strings.Fields(strings.NewReplacer("[", "", "]", "", "…", "", " | ", " ").Replace(c.Use))
	if c.HasSubCommands() || len(words) < 2 || c.Hidden || slices.Contains(notNamed, c.CommandPath()) {
		return lines
	}
	var args []string
	for i, word := range words[1:] {
		arg, known := wrongArgs[word]
		if !known {
			t.Errorf("%s: wrongArgs has no entry for %s", c.CommandPath(), word)
		}
		if i == 0 && arg == "" {
			return lines
		}
		if one := c.Name() == "help" && i > 0; !one {
			args = append(args, cmp.Or(arg, "Enter"))
		}
	}
	if c.Args != nil && c.Args(c, args) != nil {
		args = args[:1]
	}
	lines[strings.TrimPrefix(c.CommandPath(), "gcity ")] = args
	return lines
}

// Every command reports an unknown name with the same sentence and exit code, with and without a controller.
func TestNameNotFound(t *testing.T) {
	all := []string{"completion"}
	lines := wrongNames(t, tree(&env.Env{Printer: output.Printer{Getenv: func(string) string { return "" }}}, all))
	for line, args := range map[string][]string{"nothing": nil, "agent nothing": nil, "bead create": {"x", "--needs", "to-999"},
		"bead list": {"--rig", "nothing"}, "bead ready": {"--rig", "nothing"}, "formula cook": {"task", "--pool", "nothing"},
		"convoy create": {"x", "to-999"}, "mail send": {"pool:nothing", "x"}, "bead update": {"to-999", "--title", "x"}} {
		lines[line] = args
	}
	if len(lines) < 60 {
		t.Errorf("only %d commands take a name", len(lines))
	}
	town := controllertest.Town(t)
	far := overSocket(t, town)
	for where, c := range map[string]city.Control{"offline": nil, "controller": town, "api": far} {
		t.Run(where, func(t *testing.T) {
			for _, line := range slices.Sorted(maps.Keys(lines)) {
				args := append(strings.Fields(line), lines[line]...)
				code, out, errs := runAt(t, town.Dir, c, args...)
				if code != exit.CodeUsage || out != "" || !strings.Contains(errs, "\" not found; ") {
					t.Errorf("%q: got exit %d, stdout %q, stderr %q", args, code, out, errs)
				}
			}
		})
	}
}

func overSocket(t *testing.T, c city.Control) city.Control {
	l, err := socket.Listen(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, l, c, api.Options{Version: "test"}) }()
	t.Cleanup(func() { stop(); <-served })
	far, err := client.Dial(filepath.Join(filepath.Dir(l.Addr().String()), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	return far
}

// runAt runs a command without a controller if c is nil.
func runAt(t *testing.T, dir string, c city.Control, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	e := &env.Env{
		Printer: output.Printer{Out: &out, Err: &errs, Now: time.Now, Getenv: func(name string) string {
			return map[string]string{"GC_CITY_PATH": dir, "PATH": "/bin:/usr/bin", "GC_HOME": dir}[name]
		}},
		Version: "test", Store: workstore.OpenStore,
		Dial: func(string) (city.Control, func(), error) {
			if c == nil {
				return nil, nil, client.ErrNotRunning
			}
			return c, func() {}, nil
		},
	}
	e.Reach = func(ctx context.Context, dir string) (*env.Link, error) {
		if c == nil {
			return offline.ReachCity(ctx, e, dir)
		}
		return &env.Link{Control: c, Dir: dir, Live: true, Close: func() {}}, nil
	}
	code = run(t.Context(), e, args)
	return code, out.String(), errs.String()
}
