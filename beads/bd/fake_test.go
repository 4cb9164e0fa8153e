package bd_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tool simulates bd 1.0. It stores its data in one file.
type tool struct {
	file string
	db   struct {
		Prefix string
		Config map[string]string
		Issues []*issue
	}
}

type issue struct {
	ID          string            `json:"id"`
	Title       string            `json:"title"`
	Description string            `json:"description,omitempty"`
	Status      string            `json:"status"`
	Priority    int               `json:"priority"`
	Type        string            `json:"issue_type"`
	Assignee    string            `json:"assignee,omitempty"`
	Parent      string            `json:"parent,omitempty"`
	Labels      []string          `json:"labels,omitempty"`
	Metadata    map[string]any    `json:"metadata,omitempty"`
	Reason      string            `json:"close_reason,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	ClosedAt    *time.Time        `json:"closed_at,omitempty"`
	Needs       []string          `json:"-"`
	KeptNeeds   []string          `json:"kept_needs,omitempty"` // stored only in the file
	Links       []map[string]any  `json:"dependencies,omitempty"`
	Extra       map[string]string `json:"-"`
}

func playTool(args []string) int {
	t := &tool{file: filepath.Join(dataFolder(), "metadata.json")}
	err := t.run(args)
	if err == nil {
		return 0
	}
	text, _ := json.Marshal(map[string]string{"error": err.Error()})
	fmt.Println(string(text))
	return 1
}

// dataFolder returns the folder of the database. Like bd, it skips folders without bd's files, and continues in the
// parent folders of the current folder.
func dataFolder() string {
	own := redirected(os.Getenv("BEADS_DIR"))
	if used(own) {
		return own
	}
	at, _ := os.Getwd()
	for ; at != "/"; at = filepath.Dir(at) {
		if dir := redirected(filepath.Join(at, ".beads")); used(dir) {
			return dir
		}
	}
	return own
}

func used(dir string) bool {
	for _, name := range []string{"metadata.json", "config.yaml", "beads.db"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func redirected(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "redirect"))
	if err != nil {
		return dir
	}
	return filepath.Join(filepath.Dir(dir), strings.TrimSpace(string(text)))
}

func (t *tool) run(args []string) error {
	if len(args) == 0 {
		return errors.New("no command")
	}
	if os.Getenv("BEADS_DIR") == "" || os.Getenv("SECRET") != "" {
		return errors.New("unexpected environment")
	}
	if args[0] == "version" {
		fmt.Println("bd version 1.1.0 (dev)")
		return nil
	}
	if args[0] == "init" {
		return t.init(args[1:])
	}
	data, err := os.ReadFile(t.file)
	if err != nil {
		return errors.New("no beads database found")
	}
	if err := json.Unmarshal(data, &t.db); err != nil {
		return err
	}
	for _, i := range t.db.Issues {
		i.Needs, i.KeptNeeds = i.KeptNeeds, nil
	}
	do := map[string]func([]string) error{
		"create": t.create, "show": t.show, "list": t.list, "update": t.update, "close": t.close, "delete": t.remove, "dep": t.dep, "config": t.config,
	}[args[0]]
	if do == nil {
		return fmt.Errorf("unknown command %q", args[0])
	}
	return do(args[1:])
}

func (t *tool) save() error {
	for _, i := range t.db.Issues {
		i.KeptNeeds, i.Links = i.Needs, nil
	}
	data, err := json.Marshal(t.db)
	if err != nil {
		return err
	}
	next := fmt.Sprintf("%s.%d", t.file, os.Getpid()) // other processes might read the file
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, t.file)
}

func flags(args []string, define func(*flag.FlagSet)) ([]string, error) {
	f := flag.NewFlagSet("bd", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Bool("json", false, "")
	define(f)
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
}

func (t *tool) init(args []string) error {
	_, err := flags(args, func(f *flag.FlagSet) {
		f.StringVar(&t.db.Prefix, "p", "", "")
		for _, name := range []string{"quiet", "stealth", "skip-hooks"} {
			f.Bool(name, false, "")
		}
	})
	if err != nil || t.db.Prefix == "" {
		return fmt.Errorf("no prefix: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return err
	}
	for _, old := range []string{t.file, filepath.Join(filepath.Dir(t.file), "beads.db")} {
		if _, err := os.Stat(old); err == nil {
			return fmt.Errorf("Found existing database: %s\n\nThis workspace is already initialized.", old)
		}
	}
	return t.save()
}

// print writes issues like "bd show" if long is true, and otherwise like "bd list", in the requested envelope. A line
// that is not JSON comes first.
func (t *tool) print(long bool, what any, of ...*issue) error {
	fmt.Fprintln(os.Stderr, "warning: something about the role")
	fmt.Println("note: something about the database")
	for _, i := range of {
		i.KeptNeeds, i.Links = nil, nil
		for _, id := range i.Needs {
			if id == i.Parent { // bd keeps only one link between two issues
				continue
			}
			i.Links = append(i.Links, t.link(long, i.ID, id, "blocks"))
		}
		if i.Parent != "" {
			i.Links = append(i.Links, t.link(long, i.ID, i.Parent, "parent-child"))
		}
	}
	if os.Getenv("BD_JSON_ENVELOPE") == "1" {
		what = map[string]any{"schema_version": 1, "data": what}
	}
	return json.NewEncoder(os.Stdout).Encode(what)
}

func (t *tool) link(long bool, from, on, kind string) map[string]any {
	if long {
		return map[string]any{"id": on, "title": "whatever", "dependency_type": kind}
	}
	return map[string]any{"issue_id": from, "depends_on_id": on, "type": kind}
}

func (t *tool) get(id string) (*issue, error) {
	for _, i := range t.db.Issues {
		if i.ID == id {
			return i, nil
		}
	}
	return nil, fmt.Errorf("no issue found matching %q", id)
}

func (t *tool) create(args []string) error {
	i := &issue{Status: "open", CreatedAt: time.Now().UTC()}
	var deps, meta, body string
	var labels list
	force := false
	rest, err := flags(args, func(f *flag.FlagSet) {
		f.StringVar(&i.Title, "title", "", "")
		f.StringVar(&i.Type, "t", "task", "")
		f.IntVar(&i.Priority, "p", 2, "")
		f.StringVar(&i.ID, "id", "", "")
		f.BoolVar(&force, "force", false, "")
		f.Var(&labels, "labels", "")
		f.StringVar(&i.Assignee, "assignee", "", "")
		f.StringVar(&i.Parent, "parent", "", "")
		f.StringVar(&deps, "deps", "", "")
		f.StringVar(&i.Description, "description", "", "")
		f.StringVar(&body, "body-file", "", "")
		f.StringVar(&meta, "metadata", "", "")
	})
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("create: %v %w", rest, err)
	}
	if !t.isType(&i.Type) {
		fmt.Fprintln(os.Stderr, "warning: something about the role\nError: validation failed for issue : invalid issue type:", i.Type)
		os.Exit(1)
	}
	if err := bodyFrom(i, cmp.Or(body, i.Description)); err != nil {
		return err
	}
	i.Labels = labels
	if i.Parent != "" {
		p, err := t.get(i.Parent)
		if err != nil {
			return err
		}
		i.Labels = append(i.Labels, p.Labels...)
	}
	slices.Sort(i.Labels)
	i.Labels = slices.Compact(i.Labels)
	for id := range strings.SplitSeq(deps, ",") {
		if t.linkable(i, id) == nil {
			i.Needs = append(i.Needs, id)
		}
	}
	if meta != "" {
		if err := json.Unmarshal([]byte(meta), &i.Metadata); err != nil {
			return err
		}
	}
	if i.ID == "" {
		sum := sha256.Sum256([]byte(i.Title + i.CreatedAt.String()))
		i.ID = fmt.Sprintf("%s-%x", t.db.Prefix, sum[:3])
	} else if _, err := t.get(i.ID); err == nil && !force {
		return fmt.Errorf("issue %s already exists", i.ID)
	} else if err == nil { // the new issue replaces the old one
		t.db.Issues = slices.DeleteFunc(t.db.Issues, func(o *issue) bool { return o.ID == i.ID })
	}
	i.UpdatedAt = i.CreatedAt
	made := *i
	i.CreatedAt, i.UpdatedAt = i.CreatedAt.Round(time.Second), i.CreatedAt.Round(time.Second)
	t.db.Issues = append(t.db.Issues, i)
	if err := t.save(); err != nil {
		return err
	}
	i.CreatedAt, i.UpdatedAt = made.CreatedAt, made.UpdatedAt // bd prints more precise times than it stores
	i.KeptNeeds, i.Parent = nil, ""                           // the output has no links
	return t.print(false, i)
}

func (t *tool) isType(name *string) bool {
	if *name == "feat" {
		*name = "feature"
	}
	builtin := []string{"bug", "feature", "task", "epic", "chore", "decision", "molecule"}
	return slices.Contains(append(builtin, strings.Split(t.db.Config["types.custom"], ",")...), *name)
}

func (t *tool) isStatus(name string) bool {
	known := []string{"open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked"}
	for custom := range strings.SplitSeq(t.db.Config["status.custom"], ",") {
		custom, _, _ = strings.Cut(custom, ":")
		known = append(known, custom)
	}
	return slices.Contains(known, name)
}

func bodyFrom(i *issue, from string) error {
	if from != "-" {
		return nil
	}
	text, err := io.ReadAll(os.Stdin)
	i.Description = string(text)
	return err
}

func (t *tool) show(args []string) error {
	ids, err := flags(args, func(*flag.FlagSet) {})
	if err != nil || len(ids) != 1 {
		return fmt.Errorf("show %v: %w", ids, err)
	}
	i, err := t.get(ids[0])
	if err != nil {
		return err
	}
	return t.print(true, []*issue{i}, i)
}

type words []string

func (w *words) String() string { return strings.Join(*w, ",") }

func (w *words) Set(s string) error {
	*w = append(*w, s)
	return nil
}

// list is the value of a flag that contains CSV.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(s string) error {
	items, err := csv.NewReader(strings.NewReader(s)).Read()
	*l = append(*l, items...)
	return err
}

func (t *tool) list(args []string) error {
	var all, infra, gates bool
	var labels list
	var assignee, parent string
	limit := 0
	rest, err := flags(args, func(f *flag.FlagSet) {
		f.BoolVar(&all, "all", false, "")
		f.BoolVar(&infra, "include-infra", false, "")
		f.BoolVar(&gates, "include-gates", false, "")
		f.IntVar(&limit, "limit", 50, "")
		f.Var(&labels, "label", "")
		f.StringVar(&assignee, "assignee", "", "")
		f.StringVar(&parent, "parent", "", "")
	})
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("list: %v %w", rest, err)
	}
	found := []*issue{}
	frozen := strings.Split(t.db.Config["status.custom"], ",")
	for _, i := range t.db.Issues {
		hidden := !all && (i.Status == "closed" || i.Status == "pinned" || slices.Contains(frozen, i.Status+":frozen")) || !infra && i.Type == "message" || limit > 0 && len(found) == limit ||
			assignee != "" && i.Assignee != assignee || parent != "" && i.Parent != parent ||
			slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(i.Labels, l) })
		if !hidden {
			found = append(found, i)
		}
	}
	return t.print(false, found, found...)
}

func (t *tool) update(args []string) error {
	var add, less list
	var set, unset words
	given := map[string]*string{}
	ids, err := flags(args, func(f *flag.FlagSet) {
		for _, name := range []string{"title", "status", "type", "assignee", "parent", "description", "body-file", "metadata", "if-assignee"} {
			f.Func(name, "", func(v string) error { given[name] = &v; return nil })
		}
		f.Func("priority", "", func(v string) error { given["priority"] = &v; return nil })
		f.Var(&add, "add-label", "")
		f.Var(&less, "remove-label", "")
		f.Var(&set, "set-metadata", "")
		f.Var(&unset, "unset-metadata", "")
	})
	if err != nil || len(ids) != 1 {
		return fmt.Errorf("update %v: %w", ids, err)
	}
	i, err := t.get(ids[0])
	if err != nil {
		return err
	}
	if v := given["status"]; v != nil && !t.isStatus(*v) {
		return fmt.Errorf("invalid status %q", *v)
	}
	checkHolder(i, given["assignee"], given["if-assignee"])
	for name, to := range map[string]*string{"title": &i.Title, "type": &i.Type, "assignee": &i.Assignee, "parent": &i.Parent, "description": &i.Description} {
		if v := given[name]; v != nil {
			*to = *v
		}
	}
	if !t.isType(&i.Type) {
		return fmt.Errorf("invalid issue type: %s", i.Type)
	}
	for _, name := range []string{"description", "body-file"} {
		if v := given[name]; v != nil {
			if err := bodyFrom(i, *v); err != nil {
				return err
			}
		}
	}
	if v := given["priority"]; v != nil {
		i.Priority = int((*v)[0] - '0')
	}
	if v := given["status"]; v != nil {
		i.Status, i.ClosedAt = *v, nil
	}
	i.Labels = slices.DeleteFunc(append(i.Labels, add...), func(l string) bool { return slices.Contains(less, l) })
	slices.Sort(i.Labels)
	i.Labels = slices.Compact(i.Labels)
	if i.Metadata == nil {
		i.Metadata = map[string]any{}
	}
	if v := given["metadata"]; v != nil {
		if err := json.Unmarshal([]byte(*v), &i.Metadata); err != nil {
			return err
		}
	}
	for _, kv := range append(set, unset...) {
		if k, _, _ := strings.Cut(kv, "="); !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.]*$`).MatchString(k) {
			return fmt.Errorf("metadata edit failed for %s: invalid metadata key %q", i.ID, k)
		}
	}
	for _, kv := range set {
		k, v, _ := strings.Cut(kv, "=")
		var guess any = v
		var as any
		if json.Unmarshal([]byte(v), &as) == nil {
			guess = as
		}
		i.Metadata[k] = guess
	}
	for _, k := range unset {
		delete(i.Metadata, k)
	}
	return t.touch(i)
}

// checkHolder exits if a caller reassigns work in progress without its current assignee. Newer versions of bd have
// this rule.
func checkHolder(i *issue, assignee, named *string) {
	actor := os.Getenv("BEADS_ACTOR")
	switch {
	case named != nil && *named != i.Assignee:
		fmt.Fprintf(os.Stderr, "%s: precondition failed: assignee is %q\n", i.ID, i.Assignee)
		os.Exit(13)
	case named == nil && assignee != nil && i.Status == "in_progress" && i.Assignee != "" && i.Assignee != *assignee && i.Assignee != actor:
		fmt.Fprintf(os.Stderr, "cannot reassign %s: held by %q (in_progress); coordinate with the holder\n", i.ID, i.Assignee)
		os.Exit(1)
	}
}

func (t *tool) touch(i *issue) error {
	i.UpdatedAt = time.Now().UTC().Round(time.Second)
	if err := t.save(); err != nil {
		return err
	}
	return t.print(false, []*issue{i}, i)
}

func (t *tool) close(args []string) error {
	reason := ""
	force := false
	ids, err := flags(args, func(f *flag.FlagSet) {
		f.StringVar(&reason, "reason", "Closed", "")
		f.BoolVar(&force, "force", false, "")
	})
	if err != nil || len(ids) != 1 {
		return fmt.Errorf("close %v: %w", ids, err)
	}
	i, err := t.get(ids[0])
	if err != nil {
		return err
	}
	for _, o := range t.db.Issues {
		if slices.Contains(i.Needs, o.ID) && o.Status != "closed" && !force {
			return fmt.Errorf("cannot close %s: blocked by open issues [%s] (use --force to override)", i.ID, o.ID)
		}
	}
	if i.Status != "closed" {
		now := time.Now().UTC().Round(time.Second)
		i.Status, i.ClosedAt, i.Reason = "closed", &now, reason
	}
	i.UpdatedAt = time.Now().UTC().Round(time.Second)
	if err := t.save(); err != nil {
		return err
	}
	i.KeptNeeds = nil
	return t.print(false, []*issue{i})
}

func (t *tool) dep(args []string) error {
	kind := ""
	rest, err := flags(args, func(f *flag.FlagSet) { f.StringVar(&kind, "type", "blocks", "") })
	if err != nil || len(rest) != 3 {
		return fmt.Errorf("dep %v: %w", rest, err)
	}
	i, err := t.get(rest[1])
	if err != nil {
		return err
	}
	i.Needs = slices.DeleteFunc(i.Needs, func(id string) bool { return id == rest[2] })
	if rest[0] == "add" {
		if err := t.linkable(i, rest[2]); err != nil {
			return err
		}
		i.Needs = append(i.Needs, rest[2])
	}
	return t.touch(i)
}

func (t *tool) linkable(i *issue, id string) error {
	on, err := t.get(id)
	if err == nil && (i.Type == "epic") != (on.Type == "epic") {
		err = errors.New("tasks can only block other tasks, not epics")
	}
	return err
}

func (t *tool) remove(args []string) error {
	force := false
	ids, err := flags(args, func(f *flag.FlagSet) { f.BoolVar(&force, "force", false, "") })
	if err != nil || !force {
		return fmt.Errorf("delete without --force: %w", err)
	}
	gone := func(id string) bool { return slices.Contains(ids, id) }
	t.db.Issues = slices.DeleteFunc(t.db.Issues, func(i *issue) bool { return gone(i.ID) })
	for _, i := range t.db.Issues {
		i.Needs = slices.DeleteFunc(i.Needs, gone)
	}
	return t.save()
}

func (t *tool) config(args []string) error {
	rest, err := flags(args, func(*flag.FlagSet) {})
	if err != nil || len(rest) < 2 {
		return fmt.Errorf("config %v: %w", rest, err)
	}
	if rest[0] == "set" {
		if t.db.Config == nil {
			t.db.Config = map[string]string{}
		}
		t.db.Config[rest[1]] = rest[2]
		return t.save()
	}
	return t.print(false, map[string]string{"key": rest[1], "value": t.db.Config[rest[1]]})
}
