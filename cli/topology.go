package cli

import (
	"context"
	"errors"
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
	"gcity/trust"
)

func topologyCommand(e *env.Env) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the topologies from git repositories, and the state of " +
			"their copies", Aliases: []string{"ls"},
		RunE: func(*cobra.Command, []string) error { return topologies(e) },
	}
	var o fetchOptions
	fetch := &cobra.Command{
		Use: "fetch [NAME…]", Short: "Copy topologies from their repositories into .gc/topologies",
		Long: `fetch updates the copies of topologies to the commits in topologies.lock, and adds
new topologies to that file. Without names it fetches all topologies that
[topologies.NAME] tables declare. It fetches newer commits only with --update. If
the configuration was valid before and newer commits make it invalid, fetch
restores the previous commits and exits with code 78, unless --force is set.
gcity never fetches anything on its own.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return fetchTopologies(cmd.Context(), e, args, o)
		},
	}
	flags := fetch.Flags()
	flags.BoolVar(&o.update, "update", false, "fetch the newest commit of each ref")
	flags.BoolVar(&o.force, "force", false,
		"keep newer commits even if they make the configuration invalid")
	return env.Group("topology", "Manage topologies from git repositories",
		env.WithSource(e, list), env.WithSource(e, env.Changes(e, fetch)))
}

func remotes(e *env.Env) (dir string, _ []topology.Remote, err error) {
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

type topologyShape struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Ref    string `json:"ref,omitempty"`
	Commit string `json:"commit,omitempty"`
	State  string `json:"state"` // "fetched", or why the copy cannot be used
}

const noRemotes = `no topology comes from a repository; ` +
	`add a [topologies.NAME] table with source = "…" to city.toml`

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
	table := output.NewTable("NAME", "SOURCE", "REF", "COMMIT", "STATE")
	for i, s := range states {
		source := redact.Text(s.Source)
		shapes[i] = topologyShape{s.Name, source, s.Ref, s.Commit, "fetched"}
		color := output.Green
		if s.Stale != "" {
			shapes[i].State, color = redact.Text(s.Stale), output.Yellow
		}
		table.Add(s.Name, source, s.Ref, fmt.Sprintf("%.12s", s.Commit),
			output.Tinted(shapes[i].State, color))
	}
	switch {
	case e.JSON:
		return e.WriteJSON(output.ListOf(shapes))
	case len(table.Rows) == 0:
		e.Sayf(noRemotes)
		return nil
	}
	return e.Table(table)
}

type fetchedShape struct {
	Name     string `json:"name"`
	Commit   string `json:"commit"`
	Was      string `json:"was,omitempty"`
	Repaired bool   `json:"mended,omitempty"`
}

type fetchOptions struct{ update, force bool }

func fetchTopologies(ctx context.Context, e *env.Env, names []string, o fetchOptions) error {
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
	// the user can commit topologies.lock before the city's first start
	if err := folder.HideFromGit(folder.StateDir(dir)); err != nil {
		e.Warn("git will not ignore the copies in .gc: " + err.Error())
	}
	_, invalid := e.LoadAt(dir, nil)
	restore := invalid == nil && !o.force
	wants = slices.DeleteFunc(wants, func(w topology.Remote) bool {
		return len(names) > 0 && !slices.Contains(names, w.Name)
	})
	done, failed := fetchEach(ctx, e, dir, wants, o.update)
	checked := checkFetched(ctx, e, dir, done, restore)
	if e.JSON {
		shapes := make([]fetchedShape, len(done))
		for i, r := range done {
			shapes[i] = fetchedShape{r.Name, r.Commit, r.Was, r.Repaired}
		}
		if err := e.WriteJSON(output.ListOf(shapes)); err != nil {
			return err
		}
	}
	if len(failed) > 0 && checked != nil {
		failed = append(failed, checked.Error())
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return checked
}

func fetchEach(ctx context.Context, e *env.Env, dir string, wants []topology.Remote,
	update bool) (done []topology.Result, failed []string) {
	progress := e.NewProgress()
	defer progress.Clear()
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	for i, w := range wants {
		progress.Show(fmt.Sprintf("fetching topology %s, %d of %d", w.Name, i+1, len(wants)))
		r, err := topology.Fetch(ctx, dir, w, update, os.Environ())
		if err != nil && ctx.Err() != nil {
			return done, append(failed, "interrupted while fetching the topology "+w.Name)
		}
		if err != nil {
			failed = append(failed, redact.Text(err.Error()))
			continue
		}
		done = append(done, r)
		progress.Clear()
		sayFetched(e, r)
	}
	return done, failed
}

// checkFetched returns an error if topologies have other commits than before and the configuration is invalid. With
// restore, it then restores the previous commits, also in done. It says if the new commits wait for the user's trust.
func checkFetched(ctx context.Context, e *env.Env, dir string, done []topology.Result,
	restore bool) error {
	changed := func(r topology.Result) bool { return r.Was != "" && r.Was != r.Commit }
	if !slices.ContainsFunc(done, changed) {
		return nil
	}
	c, err := e.LoadAt(dir, nil)
	if err == nil || !restore {
		for _, r := range done {
			r.Keep()
		}
	}
	if err != nil {
		_, text := exit.Verdict(err)
		text = "with the new commits, " + text
		for i, r := range done {
			if changed(r) {
				text += "\n" + undoFetch(ctx, &done[i], restore)
			}
		}
		return exit.Errorf(exit.CodeConfig, "%s", text)
	}
	if r, untrusted := errors.AsType[*trust.Refusal](folder.Trusted(dir, c).Err()); untrusted {
		e.Warn("the new commits wait until you run `" + r.Command() + "`: " + r.Why)
	}
	return nil
}

// undoFetch restores a topology's previous commit if restore is set, and returns a text for the user about it.
func undoFetch(ctx context.Context, r *topology.Result, restore bool) string {
	failed := ""
	if restore {
		err := r.Undo(ctx)
		if err == nil {
			text := fmt.Sprintf("%[1]s is at %.12[2]s again; to use %.12[3]s anyway, run `gcity "+
				"topology fetch %[1]s --update --force`", r.Name, r.Was, r.Commit)
			r.Commit = r.Was
			return text
		}
		failed = fmt.Sprintf("cannot restore the previous commit of %s: %v\n", r.Name, err)
	}
	return failed + fmt.Sprintf("to return to the previous commit of %[1]s, replace its commit "+
		"in %[2]s by %[3]s, and run `gcity topology fetch %[1]s`", r.Name, topology.LockFile, r.Was)
}

func checkTopologies(names []string, wants []topology.Remote) error {
	known := make([]string, len(wants))
	for i, w := range wants {
		known[i] = w.Name
	}
	for _, n := range names {
		if slices.Contains(known, n) {
			continue
		}
		return suggest.NotFound(suggest.Topology, n, known)
	}
	return nil
}

func sayFetched(e *env.Env, r topology.Result) {
	switch {
	case r.Repaired:
		e.Sayf("fetched %s at %.12s again, because its files differed from those in the commit",
			r.Name, r.Commit)
	case r.Was == r.Commit:
		e.Sayf("%s is already at %.12s", r.Name, r.Commit)
	case r.Was == "":
		e.Sayf("fetched %s at %.12s", r.Name, r.Commit)
	default:
		e.Sayf("fetched %s at %.12s (previously at %.12s)", r.Name, r.Commit, r.Was)
	}
}
