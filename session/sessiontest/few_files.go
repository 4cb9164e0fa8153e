package sessiontest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session"
)

const fewFilesSessions = 20

// FewFiles checks that a provider without free file descriptors does not record live sessions as lost and kill their
// processes. The arguments make the test binary call AdoptWithFewFiles for the same city.
func FewFiles(t *testing.T, p session.Provider, spec func(name string) session.Spec,
	args ...string) {
	t.Helper()
	agents := map[string]int{}
	for i := range fewFilesSessions {
		st := Start(t, p, spec(fmt.Sprintf("a%d", i)))
		agents[st.Name] = st.PID
	}
	out, err := exec.Command(os.Args[0], args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for name, pid := range agents {
		if st, err := proc.ReadStat(pid); err != nil || st.Exited() {
			t.Errorf("agent %s was killed", name)
		}
	}
}

// AdoptWithFewFiles opens the city repeatedly. Each time, the process can open one more file. Without that limit, the
// provider must then find all sessions.
func AdoptWithFewFiles(open func() (p session.Provider, shut func(), err error)) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	// the Go runtime cannot create its poller later, at the limit
	if _, err := os.ReadFile(os.DevNull); err != nil {
		return err
	}
	used, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	set := func(n uint64) error {
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: limit.Max})
	}
	for few := range 3 * fewFilesSessions {
		if err := set(uint64(len(used) + few)); err != nil {
			return err
		}
		p, shut, openErr := open()
		if openErr == nil {
			_, _ = p.List(context.Background()) // may fail
		}
		if err := set(limit.Cur); err != nil {
			return err
		}
		if openErr != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
		living, err := countAlive(ctx, p)
		cancel()
		if err != nil || living != fewFilesSessions {
			return fmt.Errorf("after a limit of %d files: %d sessions are alive, %v", few, living,
				err)
		}
		shut()
	}
	return nil
}

func countAlive(ctx context.Context, p session.Provider) (n int, err error) {
	list, err := p.List(ctx)
	for _, st := range list {
		if st.Alive {
			n++
		}
	}
	return n, err
}
