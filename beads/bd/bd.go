// Package bd implements a bead store on top of the tool bd (Beads). Each operation runs the tool without a shell and
// parses its JSON output. A call takes half a second or more, so the package avoids one call per bead.
//
// bd has no revisions, so a bead's revision is a hash of its content. A lock excludes other writers that use gcity, but
// not direct users of bd.
package bd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/beads"
	"gcity/beads/foreign"
	"gcity/internal/disk"
	"gcity/internal/shell"
)

// CallLimit is the timeout for one call to the tool.
const CallLimit = 30 * time.Second

// Program is the name of the tool.
const Program = "bd"

// ErrAbsent means that the tool is not installed.
var ErrAbsent = errors.New("the tool bd is not on the PATH, " +
	`but [beads] provider is "bd"`)

const remedy = "install it (npm install -g @beads/bd, or brew install beads), " +
	"or remove the provider to use the built-in store"

// Options configure a store.
type Options struct {
	Dir    string // the folder of the city or rig; bd's data is in its subfolder .beads
	Prefix string // prefix of new IDs, used when the database is created
	Actor  string // the author of changes in bd; "" = bd's default

	// Environ is the caller's environment.
	Environ []string

	Host string // host of the database server for bd; "" = bd's own setting
	Port int    // port of the database server; 0 = bd's own setting
}

// Store is a bead store that uses bd.
type Store struct{ *foreign.Store }

// Open returns the store for a folder. It does not call bd. The first write creates a missing database.
func Open(o Options) (*Store, error) {
	if err := beads.CheckPrefix(o.Prefix); err != nil {
		return nil, err
	}
	at := filepath.Join(o.Dir, ".beads")
	return &Store{foreign.New(&backend{o: o, at: at, env: environment(o, at)},
		filepath.Join(at, "gcity.lock"))}, nil
}

// Close does nothing: every call is a separate process.
func (s *Store) Close() error { return nil }

// CallLimit implements beads.CallLimiter.
func (s *Store) CallLimit() time.Duration { return CallLimit }

type backend struct {
	o   Options
	at  string
	env []string
}

// environment passes on only a few variables, so that the caller's environment does not affect the tool.
func environment(o Options, at string) []string {
	names := []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE",
		"SSL_CERT_DIR", "BEADS_DOLT_PASSWORD"}
	env := []string{"BEADS_DIR=" + at, "BD_JSON_ENVELOPE=1", "BD_NON_INTERACTIVE=1"}
	for _, kv := range o.Environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(names, name) || strings.HasPrefix(name, "LC_") ||
			strings.HasPrefix(name, "XDG_") {
			env = append(env, kv)
		}
	}
	if o.Actor != "" {
		env = append(env, "BEADS_ACTOR="+o.Actor)
	}
	if o.Host != "" {
		env = append(env, "BEADS_DOLT_SERVER_HOST="+o.Host)
	}
	if o.Port != 0 {
		env = append(env, fmt.Sprint("BEADS_DOLT_SERVER_PORT=", o.Port))
	}
	if o.Host != "" || o.Port != 0 {
		env = append(env, "BEADS_DOLT_SERVER_MODE=1")
	}
	return env
}

// dataDir returns the folder that bd uses for BEADS_DIR: the folder itself, or the one that its file "redirect" names.
func (k *backend) dataDir() (string, error) {
	text, err := disk.ReadFile(filepath.Join(k.at, "redirect"))
	if errors.Is(err, fs.ErrNotExist) {
		return k.at, nil
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(k.o.Dir, line)
		}
		// bd ignores a redirection to a folder that does not exist
		if info, err := os.Stat(line); err == nil && info.IsDir() {
			return line, nil
		}
		break
	}
	return k.at, err
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// exists reports whether bd has a database for this folder.
func (k *backend) exists() (bool, error) {
	dir, err := k.dataDir()
	if err != nil {
		return false, err
	}
	return exists(filepath.Join(dir, "metadata.json"))
}

// Ready implements foreign.Backend. It checks that the tool is installed. The first call of the tool for a database
// checks that it works, so without a database, Ready makes a call.
func (k *backend) Ready(ctx context.Context) error {
	if _, err := exec.LookPath(Program); err != nil {
		return fmt.Errorf("%w: %s", ErrAbsent, remedy)
	}
	if there, err := k.exists(); there || err != nil {
		return err
	}
	if err := k.checkOldStore(); err != nil {
		return err
	}
	_, err := k.call(ctx, nil, "version")
	return err
}

// checkOldStore returns an error if the folder contains a database file of the built-in store. Older versions of bd
// used the same file name, so "bd init" fails if the file exists.
func (k *backend) checkOldStore() error {
	dir, err := k.dataDir()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "beads.db")
	if there, err := exists(file); !there || err != nil {
		return err
	}
	return fmt.Errorf("bd creates no database while %[1]s exists, which contains the work of the "+
		"built-in store (to keep it, run `GC_BEADS=file gcity bead export FILE`) or of an old bd; "+
		"move the files %[1]s* to another folder", file)
}

// begin creates the database if it does not exist. If the folder has no configuration of bd, "bd init" uses the
// database of a parent folder instead, so begin creates an empty configuration first.
func (k *backend) begin(ctx context.Context) error {
	there, err := k.exists()
	if there || err != nil {
		return err
	}
	dir, err := k.dataDir()
	if err != nil {
		return err
	}
	file, err := disk.OpenFile(filepath.Join(dir, "config.yaml"),
		os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot prepare the folder for bd's database: %w", err)
	}
	_, failed := k.call(ctx, nil, "init", "--quiet", "--stealth", "-p", k.o.Prefix,
		"--skip-hooks")
	if there, err := k.exists(); there || err != nil { // another process might have created it
		return err
	}
	if failed == nil {
		failed = errors.New("bd init reported success")
	}
	return fmt.Errorf("bd has created no database in %s: %w", dir, failed)
}

func (k *backend) call(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	own, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	got, err := shell.Call(own, shell.Program{Path: Program, Args: args, Dir: k.o.Dir, Env: k.env,
		Stdin: stdin})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: %s", ErrAbsent, remedy)
	case err != nil && own.Err() != nil:
		return nil, fmt.Errorf("bd %s did not respond: %w", args[0], err)
	case err != nil:
		return nil, fmt.Errorf("bd %s: %w", args[0], err)
	case got.Code != 0:
		return nil, failure(args, got)
	}
	return got.Stdout, nil
}

func named(args []string) (about, links []string) {
	switch args[0] {
	case "show", "update", "close":
		about = args[1:2]
	case "delete":
		about = slices.DeleteFunc(slices.Clone(args[1:]), func(arg string) bool {
			return strings.HasPrefix(arg, "--")
		})
	case "dep":
		about, links = args[2:3], args[3:4]
	}
	for _, arg := range args[1:] {
		if id, ok := strings.CutPrefix(arg, "--parent="); ok && id != "" {
			links = append(slices.Clip(links), id)
		} else if ids, ok := strings.CutPrefix(arg, "--deps="); ok {
			links = append(slices.Clip(links), strings.Split(ids, ",")...)
		}
	}
	return about, links
}

// missing returns an error if why, the message from bd, says that one of the beads in args does not exist, and nil
// otherwise. The message does not always contain the ID.
func missing(args []string, why string) error {
	about, links := named(args)
	unknown := func(id string) bool { return foreign.IsNotFound(why, id) }
	given := func(id string) bool {
		return unknown(id) && strings.Contains(strings.ToLower(why), strings.ToLower(id))
	}
	of := ""
	if len(about) > 0 {
		of = about[0]
	}
	for _, is := range []func(string) bool{given, unknown} {
		if i := slices.IndexFunc(links, is); i >= 0 &&
			!(slices.ContainsFunc(about, is) && !given(links[i])) {
			return fmt.Errorf("bd %s: %s: %w", args[0], foreign.FirstLine(why),
				beads.UnknownLink(of, links[i]))
		}
		if slices.ContainsFunc(about, is) {
			return fmt.Errorf("bd %s: %s: %w", args[0], foreign.FirstLine(why), beads.ErrNotFound)
		}
	}
	return nil
}

// codeChanged is the exit code of "bd update" if a condition such as "--if-assignee" is not met.
const codeChanged = 13

// bd reports the reason for a failure as JSON on stdout or stderr, or as text.
func failure(args []string, got shell.CallResult) error {
	why := ""
	for _, out := range [][]byte{got.Stdout, []byte(got.Stderr)} {
		var said struct {
			Error string `json:"error"`
			Data  struct {
				Error string `json:"error"`
			} `json:"data"`
		}
		if text, ok := payload(out); ok && json.Unmarshal(text, &said) == nil &&
			said.Error+said.Data.Error != "" {
			why = said.Error + said.Data.Error
			break
		}
	}
	if why == "" { // on stderr, warnings can precede the error
		why = got.Stderr + "\n" + string(got.Stdout)
		if i := strings.Index(why, "Error"); i >= 0 {
			why = why[i:]
		}
		why = foreign.FirstLine(why)
	}
	if err := missing(args, why); err != nil {
		return err
	}
	if err := refusal(args, why); err != nil {
		return err
	}
	low := strings.ToLower(why)
	switch {
	case got.Code == codeChanged && args[0] == "update":
		return fmt.Errorf("bd %s: %s: %w", args[0], foreign.FirstLine(why), beads.ErrConflict)
	case strings.Contains(low, "already exists") || strings.Contains(low, "duplicate"):
		return fmt.Errorf("bd %s: %s: %w", args[0], foreign.FirstLine(why), beads.ErrConflict)
	case why == "":
		why = "it printed nothing"
	}
	return fmt.Errorf("bd %s failed (exit code %d): %s", args[0], got.Code,
		foreign.FirstLine(why))
}

// Other lines can precede the JSON value in bd's output.
func payload(out []byte) (json.RawMessage, bool) {
	for len(out) > 0 {
		if out[0] == '{' || out[0] == '[' {
			var text json.RawMessage
			if json.NewDecoder(bytes.NewReader(out)).Decode(&text) == nil {
				return unwrapped(text), true
			}
		}
		_, rest, more := bytes.Cut(out, []byte("\n"))
		if !more {
			return nil, false
		}
		out = rest
	}
	return nil, false
}

func unwrapped(text json.RawMessage) json.RawMessage {
	var envelope struct {
		Version int             `json:"schema_version"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(text, &envelope) == nil && envelope.Version > 0 && envelope.Data != nil {
		return envelope.Data
	}
	return text
}

func (k *backend) issues(ctx context.Context, stdin []byte, args ...string) (foreign.Found, error) {
	var found foreign.Found
	out, err := k.call(ctx, stdin, args...)
	if err != nil {
		return found, err
	}
	text, ok := payload(out)
	if !ok {
		return found, fmt.Errorf("bd %s must print JSON, but printed %q", args[0],
			foreign.FirstLine(string(out)))
	}
	var raw []json.RawMessage
	if text[0] == '{' {
		raw = []json.RawMessage{text}
	} else if err := json.Unmarshal(text, &raw); err != nil {
		return found, fmt.Errorf("cannot parse the output of bd %s: %w", args[0], err)
	}
	for _, text := range raw {
		b, err := read(text)
		switch {
		case err == nil:
			found.Beads = append(found.Beads, b)
		case b.ID == "" && len(raw) == 1: // more likely a message than an issue
			return found, fmt.Errorf("bd %s: %w", args[0], err)
		default:
			found.Unreadable = append(found.Unreadable, foreign.Record{Partial: b, Why: err})
		}
	}
	return found, nil
}

func unreadable(op string, r foreign.Record) error {
	return fmt.Errorf("bd %s: bead %q: %w", op, r.Partial.ID, r.Why)
}

// Get implements foreign.Backend.
func (k *backend) Get(ctx context.Context, id string) (beads.Bead, error) {
	there, err := k.exists()
	if err != nil {
		return beads.Bead{}, err
	}
	if err := ctx.Err(); err != nil {
		return beads.Bead{}, fmt.Errorf("bd was not called: %w", err)
	}
	if there {
		found, err := k.issues(ctx, nil, "show", id, "--json")
		if err != nil && !errors.Is(err, beads.ErrNotFound) {
			return beads.Bead{}, err
		}
		// bd also accepts part of an ID
		for _, b := range found.Beads {
			if b.ID == id {
				return b, nil
			}
		}
		for _, r := range found.Unreadable {
			if r.Partial.ID == id || r.Partial.ID == "" {
				return beads.Bead{}, unreadable("show", r)
			}
		}
	}
	return beads.Bead{}, beads.NotFound(id)
}

// Find implements foreign.Backend. It also returns issues that "bd list" hides by default. Only "--all" returns the
// issues with certain statuses that are not closed, but it makes a call slower, so Find uses it only if necessary.
func (k *backend) Find(ctx context.Context, q beads.Query) (foreign.Found, error) {
	if there, err := k.exists(); !there || err != nil {
		return foreign.Found{}, errors.Join(err, ctx.Err())
	}
	args := []string{"list", "--json", "--limit", "0", "--include-infra", "--include-gates"}
	if q.Ready || len(q.Status) == 0 || slices.Contains(q.Status, beads.StatusClosed) {
		args = append(args, "--all")
	}
	if q.Ready { // beads.Ready needs all beads, because any bead can block another
		found, err := k.issues(ctx, nil, args...)
		if err != nil {
			return found, err
		}
		found.Beads = slices.DeleteFunc(found.Beads, isPinned) // in bd, it blocks no other bead
		ready, err := k.withoutHeld(ctx, found.Ready())
		return foreign.Found{Beads: ready}, err
	}
	for _, l := range q.Labels {
		args = append(args, "--label="+listed(l))
	}
	if q.Assignee != "" {
		args = append(args, "--assignee="+q.Assignee)
	}
	if q.Parent != "" {
		args = append(args, "--parent="+q.Parent)
	}
	return k.issues(ctx, nil, args...)
}

func isPinned(b beads.Bead) bool { return b.Metadata[statusKey] == "pinned" }

// withoutHeld removes the beads that are not ready in bd because of their status.
func (k *backend) withoutHeld(ctx context.Context, all []beads.Bead) ([]beads.Bead, error) {
	status := func(b beads.Bead) string { return b.Metadata[statusKey] }
	all = slices.DeleteFunc(all, func(b beads.Bead) bool {
		return status(b) == "blocked" || status(b) == "deferred"
	})
	if !slices.ContainsFunc(all, func(b beads.Bead) bool { return status(b) != "" }) {
		return all, nil
	}
	custom, err := k.setting(ctx, "status.custom") // such as "review:frozen" and "triaged:active"
	return slices.DeleteFunc(all, func(b beads.Bead) bool {
		return status(b) != "" && !slices.Contains(custom, status(b)+":active")
	}), err
}

var (
	_ foreign.Backend = (*backend)(nil)
	_ foreign.Remover = (*backend)(nil)
)
