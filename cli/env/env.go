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

// Env is what the commands share: the streams, the environment, and the common flags.
type Env struct {
	output.Printer
	In      *os.File
	InTTY   bool
	Version string
	Program string // the name with which the program was started

	Dir      string // --city
	ReadOnly bool

	Untrusted error // why programs of the city may not run; printed at the end
	Completes bool  // set while completing names for a shell: warnings are not printed

	Files  []string // -f
	Strict bool     // --strict
	Op     string   // --op

	// Reach opens the city in a folder: its running controller, or package offline without one.
	Reach func(ctx context.Context, dir string) (*Link, error)
	// Dial opens only a running controller.
	Dial func(dir string) (city.Control, func(), error)
	// Cities opens the list of the cities of this machine. It returns nil without an error if it does not exist.
	Cities func() (city.Directory, func(), error)
	// Store opens the store of a place.
	Store func(p workstore.Place) (workstore.Store, error)
}

// Actor returns the author of this command for events: the agent or the automation that it runs in, or the user.
func (e *Env) Actor() string {
	return cmp.Or(e.Getenv("GC_AGENT"), e.Getenv("GC_AUTOMATION"), "operator")
}

// Ask asks a yes-or-no question; enter means yes.
func Ask(e *Env, question string) bool {
	fmt.Fprintf(e.Err, "%s [Y/n] ", question)
	answer, err := bufio.NewReader(e.In).ReadString('\n')
	if err != nil {
		return false
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "" || answer == "y" || answer == "yes"
}

// Depth returns how many runs of automations have triggered one another up to this command, 0 outside of runs. A
// limit on it ends endless chains.
func (e *Env) Depth() int {
	n, err := strconv.Atoi(e.Getenv("GC_EVENT_DEPTH"))
	if err != nil {
		return 0 // not within a run
	}
	return n
}
