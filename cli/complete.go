package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/automation"
	"gcity/city"
)

// completeWithin is how long a shell waits for names at most; whoever presses a key has not asked for more.
var completeWithin = 200 * time.Millisecond

// complete offers the names of things as a command's first argument. What is not known in time is not offered.
func (a *app) complete(kinds ...kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.namesFor(cmd.Context(), completeWithin, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeWith offers names as a command's first argument, and these words as its second.
func (a *app) completeWith(k kind, second ...string) cobra.CompletionFunc {
	first := a.complete(k)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return second, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, typed)
	}
}

// completeCity offers the names of the cities that are registered, else folders.
func (a *app) completeCity(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
	defer cancel()
	seen := make(chan []registered, 1)
	go func() { // as with namesFor
		var all []registered
		if home, err := a.home(); err == nil {
			all, _ = a.known(ctx, home)
		}
		seen <- all
	}()
	var names []string
	select {
	case all := <-seen:
		for _, e := range all {
			if strings.HasPrefix(e.Name, typed) {
				names = append(names, e.Name)
			}
		}
	case <-ctx.Done():
	}
	if len(names) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// namesFor looks up names, for as long as a shell waits. The look may outlive that: the process ends with it.
func (a *app) namesFor(ctx context.Context, limit time.Duration, kinds []kind) []string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	seen := make(chan *city.Snapshot, 1)
	go func() { seen <- a.glance(ctx) }()
	var s *city.Snapshot
	select {
	case s = <-seen:
	case <-ctx.Done():
	}
	if s == nil {
		return nil
	}
	var names []string
	for _, k := range kinds {
		names = append(names, namesOf(s, k)...)
	}
	slices.SortFunc(names, city.CompareNames)
	return slices.Compact(names)
}

// glance is the city that is meant as far as its names go: of the controller, else of the files alone, nil if neither can be read.
func (a *app) glance(ctx context.Context) *city.Snapshot {
	dir, err := a.cityDir()
	if err != nil {
		return nil
	}
	if near, closeNear, err := a.dial(dir); err == nil {
		defer closeNear()
		if s, err := near.Snapshot(ctx); err == nil {
			return s
		}
		return nil
	}
	c, err := loadCity(dir)
	if err != nil {
		if k := knownAt(dir); k != nil {
			return k.snapshot(dir)
		}
		return nil
	}
	s := &city.Snapshot{}
	for _, w := range plan(c, dir) {
		s.Agents = append(s.Agents, city.Agent{Name: w.Name})
	}
	for _, p := range poolPlan(c, dir) {
		s.Pools = append(s.Pools, city.Pool{Name: p.Name})
	}
	for _, r := range rigPlan(c) {
		s.Rigs = append(s.Rigs, city.Rig{Name: r.Name})
	}
	found, _ := scanFor(&automation.Scanner{}, c, a.Now())
	for _, d := range found.Automations {
		s.Automations = append(s.Automations, city.Automation{Name: d.Scoped()})
	}
	return s
}

// completions is what shells are told beyond what each command says of itself: the values of flags, and where files are meant. It
// is asked for by a shell only.
func (a *app) completions(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	values := map[string]cobra.CompletionFunc{
		"rig": a.offer(kindRig), "pool": a.offer(kindPool), "assignee": a.offer(kindAgent, kindPool), "city": dirsAlone, "file": filesToo,
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for name, offer := range values {
			if flag := c.Flags().Lookup(name); flag != nil && flag.Value.Type() != "bool" {
				_ = c.RegisterFlagCompletionFunc(name, offer) // it fails where there is one already
			}
		}
		if flag := c.PersistentFlags().Lookup("city"); flag != nil {
			_ = c.RegisterFlagCompletionFunc("city", dirsAlone)
		}
		if c.ValidArgsFunction == nil {
			switch {
			case strings.Contains(c.Use, "FILE"):
				c.ValidArgsFunction = filesToo
			case strings.Contains(c.Use, "PATH"), strings.Contains(c.Use, "DIR"):
				c.ValidArgsFunction = dirsAlone
			}
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
}

// offer is complete for the value of a flag.
func (a *app) offer(kinds ...kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return a.namesFor(cmd.Context(), completeWithin, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

func filesToo(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func dirsAlone(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// bashWords splits the line where the package bash-completion, on which the script leans for that, is not installed. Unlike bash it
// does not end a word at a colon, which names of automations have.
const bashWords = `
    if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        local line=${COMP_LINE:0:$COMP_POINT}
        read -r -a words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1)) cur=${words[${#words[@]} - 1]} prev=${words[${#words[@]} - 2]-}
        return
    fi
`

// bashColons takes off the proposals what bash takes for a word of its own already, up to the last colon.
const bashColons = `
    __gcity_process_completion_results
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && ! declare -F __ltrim_colon_completions >/dev/null 2>&1; then
        local i before=${cur%"${cur##*:}"}
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
    elif declare -F __ltrim_colon_completions >/dev/null 2>&1; then
        __ltrim_colon_completions "$cur"
    fi
}

if [[`

func bashCompletion(root *cobra.Command, w io.Writer) error {
	var b strings.Builder
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	text := strings.Replace(b.String(), "    COMPREPLY=()\n    _get_comp_words_by_ref", "    COMPREPLY=()"+bashWords+"    _get_comp_words_by_ref", 1)
	text = strings.Replace(text, "\n    __gcity_process_completion_results\n}\n\nif [[", bashColons, 1)
	_, err := io.WriteString(w, text)
	return err
}
