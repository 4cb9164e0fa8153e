package env

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"gcity/city"
	"gcity/cli/output"
	"gcity/cli/workstore"
)

// Env contains the streams, the environment and the common flags of a command.
type Env struct {
	output.Printer
	In      *os.File
	InTTY   bool
	Version string
	Program string // name under which gcity was started

	Dir      string // value of --city
	ReadOnly bool

	// why the city's programs are not allowed to run; printed when the command ends
	Untrusted error
	Completes bool // set while the shell completes names

	Files  []string // values of -f
	Strict bool
	Op     string // value of --op

	// Reach opens the city in dir, with or without a controller.
	Reach func(ctx context.Context, dir string) (*Link, error)
	// Dial opens the city of a running controller.
	Dial func(dir string) (city.Control, func(), error)
	// Cities lists this machine's cities. It returns nil without an error if no supervisor is running.
	Cities func() (city.Directory, func(), error)
	// Store opens a work store.
	Store func(p workstore.Place) (workstore.Store, error)
}

// RemoteVar is an environment variable that contains the path of a city. It means that the city's files are on another
// machine, for example because the command runs in a pod. Commands reach that city only through its controller.
const RemoteVar = "GCITY_REMOTE"

// Remote reports whether the files of the city with this folder are on another machine; see RemoteVar.
func (e *Env) Remote(dir string) bool {
	at := e.Getenv(RemoteVar)
	if at == "" || at == dir {
		return at != ""
	}
	theirs, err := os.Stat(at)
	if err != nil {
		return false
	}
	own, err := os.Stat(dir)
	return err == nil && os.SameFile(theirs, own)
}

// Unreachable returns the error for a command that cannot reach the controller of a city on another machine.
func Unreachable(err error) error {
	return city.Errorf(city.Unavailable, "cannot reach the city's controller, which is on "+
		"another machine: %v", err)
}

// Actor returns the actor for this command's events: an agent, an automation or the user.
func (e *Env) Actor() string {
	return cmp.Or(e.Getenv("GC_AGENT"), e.Getenv("GC_AUTOMATION"), "operator")
}

// TypedAhead reports whether the terminal already has unread input.
func TypedAhead(e *Env) bool {
	waits := []unix.PollFd{{Fd: int32(e.In.Fd()), Events: unix.POLLIN}}
	if !term.IsTerminal(e.In.Fd()) {
		return false
	}
	n, err := unix.Poll(waits, 0)
	return err == nil && n > 0 && waits[0].Revents&unix.POLLIN != 0
}

// Ask asks a yes-or-no question and reports whether the answer is yes. Enter alone means yes.
func Ask(e *Env, question string) bool {
	fmt.Fprintf(e.Err, "%s [Y/n] ", question)
	answer, ok := ReadAnswer(e)
	return ok && (answer == "" || answer == "y" || answer == "yes")
}

// ReadAnswer reads a line in lower case. ok is false if the input ends before that.
func ReadAnswer(e *Env) (answer string, ok bool) {
	answer, err := bufio.NewReader(e.In).ReadString('\n')
	return strings.ToLower(strings.TrimSpace(answer)), err == nil
}

// Depth returns the number of nested automation runs that led to this command, or 0.
func (e *Env) Depth() int {
	n, err := strconv.Atoi(e.Getenv("GC_EVENT_DEPTH"))
	if err != nil {
		return 0
	}
	return n
}
