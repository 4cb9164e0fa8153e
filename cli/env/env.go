package env

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"gcity/city"
	"gcity/cli/output"
	"gcity/cli/workstore"
)

// Env is what the commands share: the streams, the surroundings, the flags that all of them have.
type Env struct {
	output.Printer
	In      *os.File
	InTTY   bool
	Version string
	Program string // as it was started

	Dir      string // --city
	ReadOnly bool

	Untrusted error // why no program of the city that is read may run; said at the end
	Completes bool  // this names things for a shell: nothing is said

	Files  []string // -f
	Strict bool     // --strict
	Op     string   // --op

	// Reach opens the city at a folder: the running controller, or what can be told without one.
	Reach func(ctx context.Context, dir string) (*Link, error)
	// Dial opens the running controller alone.
	Dial func(dir string) (city.Control, func(), error)
	// Cities opens the list of the cities of this machine, nil without an error where there is none.
	Cities func() (city.Directory, func(), error)
	// Store opens the work of a place.
	Store func(p workstore.Place) (workstore.Store, error)
}

// Actor is who gives this command: the agent whose session it runs in, the automation whose run, or a person.
func (e *Env) Actor() string {
	return cmp.Or(e.Getenv("GC_AGENT"), e.Getenv("GC_AUTOMATION"), "operator")
}

// Ask puts a question that enter answers with yes.
func Ask(e *Env, question string) bool {
	fmt.Fprintf(e.Err, "%s [Y/n] ", question)
	answer, err := bufio.NewReader(e.In).ReadString('\n')
	if err != nil {
		return false
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "" || answer == "y" || answer == "yes"
}

// Depth is how many runs of automations have led to one another and to this command, 0 outside of any: what they begin
// by their events ends somewhere, if it is told.
func (e *Env) Depth() int {
	n, err := strconv.Atoi(e.Getenv("GC_EVENT_DEPTH"))
	if err != nil {
		return 0 // not within a run
	}
	return n
}
