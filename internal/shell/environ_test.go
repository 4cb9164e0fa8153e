package shell

import (
	"slices"
	"testing"
)

func TestScriptEnv(t *testing.T) {
	kept := []string{"PATH=/bin", "HOME=/h", "DOCKER_HOST=tcp://d", "KUBECONFIG=/k", "SSH_AUTH_SOCK=/s", "SCREENDIR=/x",
		"AWS_PROFILE=me", "GC_K8S_NAMESPACE=n", "GC_HOME=/g", "GC_BEADS=bd", "GCITY_TRUST=all", "TMUX_TMPDIR=/t",
		"TWO=2", "EMPTY="}
	dropped := []string{
		"GC_SESSION_ID=1", "GC_SESSION_NAME=s", "GC_EXEC_START=1", "GC_RUN=c:1", "GC_DIR=/d", "GCITY_SESSION_SOCKET_FD=3",
		"GC_CITY=/a", "GC_CITY_PATH=/a", "GC_CITY_NAME=a", "GC_RIG=r", "GC_RIG_PATH=/r", "GC_AGENT=a",
		"GC_AUTOMATION=a", "AUTOMATION_DIR=/o", "ORDER_DIR=/o", "PACK_DIR=/p", "GC_PACK_DIR=/p",
		"GC_EVENT_DEPTH=1", "GC_EVENTS_FILE=/f", "GC_FAILED_RUN=1",
		"GC_SLING_BEAD=b", "GC_WATCHDOG=w", "GC_WATCHDOG_BEAT=1", "BEADS_DIR=/b", "GC_EXEC_STATE_DIR=/e",
		"NOTIFY_SOCKET=/n", "WATCHDOG_USEC=1", "LISTEN_FDS=1", "MEMORY_PRESSURE_WATCH=/m", "INVOCATION_ID=i",
		"JOURNAL_STREAM=1:2", "SYSTEMD_EXEC_PID=1", "MANAGERPID=1", "MANAGERPIDFDID=1",
		"TMUX=/t,1,0", "TMUX_PANE=%1", "STY=1.x", "COLUMNS=80", "LINES=24", "PWD=/", "OLDPWD=/",
		"=odd", "odd",
	}
	environ := slices.Concat([]string{"TWO=1"}, dropped, kept)
	own := []string{"GC_CITY=/c", "GC_RIG=mine", "GC_AGENT=me", "HOME=/own", "GC_SESSION_ID=2", "GC_RUN=c:2"}
	got := ScriptEnv(environ, own...)
	want := append(slices.Clone(kept), "GC_CITY=/c", "GC_RIG=mine", "GC_AGENT=me")
	want[slices.Index(want, "HOME=/h")] = "HOME=/own"
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
