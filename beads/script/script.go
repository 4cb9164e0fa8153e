// Package script implements a bead store on top of a script in the city: `exec:<script>`. It calls the script once
// per operation, as `<script> OPERATION [ARGUMENT…]`, without a shell. The script reads JSON from stdin and writes
// JSON to stdout. Exit code 0 means success, and 2 means that the script does not support the operation. Any other
// exit code means failure, and stderr contains the reason.
//
// The script must implement create, get, update, close and list. gcity implements the other operations with these if
// the script exits with code 2. A script may support only some of a bead's fields: if a field that was written cannot
// be read back, gcity reports an error that names it.
package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/beads"
	"gcity/beads/foreign"
	"gcity/internal/disk"
	"gcity/internal/shell"
)

// CallLimit is the timeout for one call to the script.
const CallLimit = 30 * time.Second

const unsupported = 2

// required contains the operations that every script implements. For them, the exit code unsupported is an ordinary
// failure, because shells and jq also exit with this code after some errors.
var required = []string{"create", "get", "update", "close", "list"}

// Options configure a store.
type Options struct {
	Script string   // a path, or a name to search for on the PATH
	Dir    string   // folder of the city or rig, which is the script's working folder
	City   string   // folder of the city
	Prefix string   // prefix of new IDs, if the script supports it
	Env    []string // variables that gcity sets for the script

	// MayRun returns an error if the script must not be called. It may be nil.
	MayRun func(context.Context) error

	// Serve makes Close call the script's shutdown operation, for processes that keep the store open.
	Serve bool
}

// Store is a bead store that uses a script.
type Store struct {
	*foreign.Store
	k *backend
}

// Open returns the store for a script. It does not call the script.
func Open(o Options) (*Store, error) {
	if err := beads.CheckPrefix(o.Prefix); err != nil {
		return nil, err
	}
	o.Env = shell.ScriptEnv(os.Environ(), o.Env...)
	k := &backend{o: o, missing: map[string]bool{}}
	return &Store{Store: foreign.New(k, filepath.Join(o.Dir, ".beads", "gcity.lock")), k: k}, nil
}

const closeLimit = 5 * time.Second

// Close calls the script's shutdown operation if Serve is set. It takes at most closeLimit.
func (s *Store) Close() error { return s.CloseWithin(context.Background()) }

// CloseWithin is like Close, but also respects ctx's deadline.
func (s *Store) CloseWithin(ctx context.Context) error {
	if !s.k.o.Serve || !s.k.begun() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	_, err := s.k.call(ctx, nil, "shutdown")
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// CallLimit implements beads.CallLimiter.
func (s *Store) CallLimit() time.Duration { return CallLimit }

type backend struct {
	o Options

	mu      sync.Mutex
	started bool
	missing map[string]bool
}

func (k *backend) begun() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.started
}

// call returns errors.ErrUnsupported for an unsupported operation.
func (k *backend) call(ctx context.Context, stdin []byte, op string, args ...string) ([]byte,
	error) {
	k.mu.Lock()
	missing := k.missing[op]
	k.started = true
	k.mu.Unlock()
	if missing {
		return nil, k.unsupported(op)
	}
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	if k.o.MayRun != nil {
		if err := k.o.MayRun(ctx); err != nil {
			return nil, fmt.Errorf("cannot run the store script: %w", err)
		}
	}
	got, err := shell.Call(ctx, shell.Program{Path: k.path(), Args: append([]string{op}, args...),
		Dir: k.o.Dir, Env: k.o.Env, Stdin: stdin})
	switch {
	case errors.Is(err, shell.ErrTooMuch):
		return nil, fmt.Errorf("the store script %s printed more than %d bytes during %s, so "+
			"it was killed", k.o.Script, shell.MaxStdout, op)
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("the store script did not respond to %s: %w", op, err)
	case errors.Is(err, exec.ErrNotFound) && k.isInFolder():
		return nil, fmt.Errorf("the store script cannot be run: %w; write \"exec:./%s\" for the "+
			"file in the city's folder", err, k.o.Script)
	case err != nil:
		return nil, fmt.Errorf("the store script cannot be run: %w; create it and make it "+
			"executable, or choose a different [beads] provider", err)
	case got.Code == unsupported && !slices.Contains(required, op):
		k.mu.Lock()
		k.missing[op] = true
		k.mu.Unlock()
		return nil, k.unsupported(op)
	case got.Code != 0:
		return nil, k.failure(op, args, got)
	}
	return got.Stdout, nil
}

func (k *backend) path() string {
	if strings.Contains(k.o.Script, "/") && !filepath.IsAbs(k.o.Script) {
		return filepath.Join(k.o.Dir, k.o.Script)
	}
	return k.o.Script
}

// isInFolder reports whether the city's folder contains a script that is only looked up on the PATH.
func (k *backend) isInFolder() bool {
	if strings.Contains(k.o.Script, "/") || k.o.City == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(k.o.City, k.o.Script))
	return err == nil
}

func (k *backend) unsupported(op string) error {
	return fmt.Errorf("the store script %s does not support the operation %s: %w", k.o.Script, op,
		errors.ErrUnsupported)
}

func ofOne(op string) bool {
	return slices.Contains([]string{"get", "update", "close", "set-metadata", "children"}, op)
}

func (k *backend) failure(op string, args []string, got shell.CallResult) error {
	why := foreign.FirstLine(got.Stderr)
	if why == "" {
		why = foreign.FirstLine(string(got.Stdout))
	}
	if ofOne(op) && foreign.IsNotFound(why, args[0]) {
		return beads.NotFound(args[0])
	}
	if why == "" {
		why = "it printed nothing"
	}
	if got.Code < 0 {
		return fmt.Errorf("the store script %s was killed by a signal during %s: %s", k.o.Script,
			op,
			why)
	}
	if got.Code == unsupported {
		why += "; a store script must implement " + op
	}
	return fmt.Errorf("the store script %s failed during %s (exit code %d): %s", k.o.Script,
		op, got.Code,
		why)
}

// Ready implements foreign.Backend.
func (k *backend) Ready(ctx context.Context) error {
	mark := filepath.Join(k.o.Dir, ".beads", "gcity.script")
	if err := disk.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return fmt.Errorf("cannot create the store's folder: %w", err)
	}
	if _, err := k.call(ctx, nil, "ensure-ready"); err != nil &&
		!errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	want := k.o.Script + "\n" + k.o.Prefix + "\n"
	if have, err := disk.ReadFile(mark); err == nil && string(have) == want {
		return nil
	}
	for _, op := range [][]string{{"init", k.o.Dir, k.o.Prefix},
		{"config-set", "issue_prefix", k.o.Prefix}} {
		if _, err := k.call(ctx, nil, op[0], op[1:]...); err != nil &&
			!errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return disk.Replace(mark, []byte(want), 0o600)
}

// Get implements foreign.Backend.
func (k *backend) Get(ctx context.Context, id string) (beads.Bead, error) {
	out, err := k.call(ctx, nil, "get", id)
	if err != nil {
		return beads.Bead{}, err
	}
	b, there, err := parseOne(out)
	if err != nil {
		return beads.Bead{}, fmt.Errorf("cannot get bead %s from the store script %s: %w", id,
			k.o.Script, err)
	}
	if !there || b.ID != id {
		return beads.Bead{}, beads.NotFound(id)
	}
	return b, nil
}

// maxLabelled is a limit high enough for all beads. Some scripts return no beads if the limit is 0.
const maxLabelled = "1000000"

// Find implements foreign.Backend.
func (k *backend) Find(ctx context.Context, q beads.Query) (foreign.Found, error) {
	op := []string{"list"}
	switch {
	case q.Ready:
		op = []string{"ready"}
	case q.Parent != "" && beads.CheckID(q.Parent) == nil:
		op = []string{"children", q.Parent}
	case len(q.Labels) > 0 && q.Labels[0] != "" && q.Labels[0][0] != '-':
		op = []string{"list-by-label", q.Labels[0], maxLabelled}
	}
	found, err := k.beads(ctx, op...)
	if errors.Is(err, errors.ErrUnsupported) && op[0] != "list" {
		found, err = k.beads(ctx, "list")
	}
	return found, err
}

func (k *backend) beads(ctx context.Context, op ...string) (found foreign.Found, err error) {
	out, err := k.call(ctx, nil, op[0], op[1:]...)
	if err != nil {
		return found, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(out, &raw); err != nil || raw == nil {
		return found, fmt.Errorf("for %s, the store script %s must print a JSON array, or [] "+
			"if there are no beads, but it printed %s", op[0], k.o.Script, shown(out))
	}
	for _, text := range raw {
		if b, err := read(text); err != nil {
			found.Unreadable = append(found.Unreadable, foreign.Record{Partial: b, Why: err})
		} else {
			found.Beads = append(found.Beads, b)
		}
	}
	return found, nil
}
