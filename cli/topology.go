package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/disk"
	"gcity/internal/redact"
	"gcity/internal/suggest"
	"gcity/topology"
)

func topologyCommand(e *env.Env) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "The topologies that are kept in repositories, and how their " +
			"copies stand", Args: env.Exactly(0), Aliases: []string{"ls"},
		RunE: func(*cobra.Command, []string) error { return topologies(e) },
	}
	var update bool
	fetch := &cobra.Command{
		Use: "fetch [NAME…]", Short: "Copy topologies from their repositories into .gc/topologies",
		Args: cobra.ArbitraryArgs,
		Long: `fetch brings the copies of topologies to the commits that topologies.lock names,
and writes into it what is new. All that [topologies.NAME] tables declare, or
those that are named. Only with --update a newer commit is taken; nothing is
ever fetched by itself.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return fetchTopologies(cmd.Context(),
				e, args, update)
		},
	}
	fetch.Flags().BoolVar(&update, "update", false, "take the newest commit of each ref")
	c := env.Group("topology", "Topologies that are kept in git repositories",
		env.WithSource(e, list), env.WithSource(e, fetch))
	return c
}

// remotes are the topologies that the configuration has from repositories.
func remotes(e *env.Env) (dir string, _ []topology.Want, err error) {
	if dir, err = e.CityDir(); err != nil {
		return "", nil, err
	}
	s := folder.SourceOf(dir)
	if len(e.Files) > 0 || e.Strict {
		if s, err = e.Source(dir); err != nil {
			return "", nil, err
		}
	}
	return s.Remotes()
}

// topologyShape is one topology in JSON.
type topologyShape struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Ref    string `json:"ref,omitempty"`
	Commit string `json:"commit,omitempty"`
	State  string `json:"state"` // "fetched", or why its copy cannot be used
}

const noRemotes = "no topology is kept in a repository; a [topologies.NAME] table with source = " +
	"\"…\" in city.toml makes one known"

func topologies(e *env.Env) error {
	dir, wants, err := remotes(e)
	if err != nil {
		return err
	}
	states, err := topology.States(dir, wants)
	if err != nil {
		return err
	}
	shapes := make([]topologyShape, len(states))
	var rows [][]output.Cell
	for i, s := range states {
		source := redact.Text(s.Source)
		shapes[i] = topologyShape{s.Name, source, s.Ref, s.Commit, "fetched"}
		colour := output.Green
		if s.Stale != "" {
			shapes[i].State, colour = redact.Text(s.Stale), output.Yellow
		}
		rows = append(rows, []output.Cell{{Text: s.Name}, {Text: source}, {Text: s.Ref},
			{Text: fmt.Sprintf("%.12s", s.Commit)}, {Text: shapes[i].State, Colour: colour}})
	}
	switch {
	case e.JSON:
		return e.WriteJSON(output.ListOf(shapes))
	case len(rows) == 0:
		e.Sayf(noRemotes)
		return nil
	}
	return e.Table(e.Out, e.Columns(), []string{"NAME", "SOURCE", "REF", "COMMIT", "STATE"}, rows)
}

// fetchedShape is what a fetch did, in JSON.
type fetchedShape struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
	Was    string `json:"was,omitempty"`
	Mended bool   `json:"mended,omitempty"`
}

func fetchTopologies(ctx context.Context, e *env.Env, names []string, update bool) error {
	if e.ReadOnly {
		return exit.Usage("--read-only changes nothing, and a fetch does")
	}
	dir, wants, err := remotes(e)
	if err != nil {
		return err
	}
	if err := checkTopologies(names, wants); err != nil {
		return err
	}
	if len(wants) == 0 && !e.JSON {
		e.Sayf(noRemotes)
		return nil
	}
	if err := disk.MakePrivate(folder.StateDir(dir)); err != nil {
		return err
	}
	var done []fetchedShape
	var failed []string
	for _, w := range wants {
		if len(names) > 0 && !slices.Contains(names, w.Name) {
			continue
		}
		r, err := topology.Fetch(ctx, dir, w, update, os.Environ())
		if err != nil {
			failed = append(failed, redact.Text(err.Error()))
			continue
		}
		done = append(done, fetchedShape(r))
		sayFetched(e, r)
	}
	if e.JSON {
		if err := e.WriteJSON(output.ListOf(done)); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return nil
}

// checkTopologies returns an error for a name that is not configured.
func checkTopologies(names []string, wants []topology.Want) error {
	known := make([]string, len(wants))
	for i, w := range wants {
		known[i] = w.Name
	}
	for _, n := range names {
		if slices.Contains(known, n) {
			continue
		}
		if near := suggest.Nearest(n, known); near != "" {
			return fmt.Errorf("there is no topology %q, did you mean %q?", n, near)
		}
		return fmt.Errorf("there is no topology %q; a [topologies.%s] table in city.toml would "+
			"make it known", n, n)
	}
	return nil
}

func sayFetched(e *env.Env, r topology.Result) {
	switch {
	case r.Mended:
		e.Sayf("%s is at %.12s, and its files were not: it has been fetched anew", r.Name,
			r.Commit)
	case r.Was == r.Commit:
		e.Sayf("%s is at %.12s already", r.Name, r.Commit)
	case r.Was == "":
		e.Sayf("fetched %s at %.12s", r.Name, r.Commit)
	default:
		e.Sayf("fetched %s at %.12s; it was at %.12s", r.Name, r.Commit, r.Was)
	}
}
