// Testcluster starts a Kubernetes cluster on this machine for the tests of this module. The cluster has one node and
// consists of etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, containerd and runc. Testcluster
// needs root.
//
//	testcluster run COMMAND…   start a cluster, run COMMAND with GCITY_TEST_KUBECONFIG, stop the cluster
//	testcluster up DIR         start a cluster with its files in DIR, and leave it running
//	testcluster down DIR       stop it and remove DIR
//	testcluster kill DIR PART  send SIGKILL to etcd, apiserver, scheduler, controllers, kubelet or containerd
//	testcluster start DIR PART start a part again
//	testcluster build          build the Kubernetes programs into the cache
//
// If run cannot start a cluster, it prints the reason and runs COMMAND with the reason in GCITY_TEST_NO_CLUSTER. Tests
// that need a cluster are then skipped. The Kubernetes programs are built once and cached. GCITY_TESTCLUSTER_CACHE
// replaces the cache folder, and GCITY_TESTCLUSTER_BUILD=no disables the build.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// Environment variables that the tests read.
const (
	kubeconfigEnv = "GCITY_TEST_KUBECONFIG"
	// this program; tests use it to kill parts of the cluster
	programEnv = "GCITY_TEST_CLUSTER"
	dirEnv     = "GCITY_TEST_CLUSTER_DIR"
	skipEnv    = "GCITY_TEST_NO_CLUSTER"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

var errUsage = errors.New(
	"usage: testcluster run COMMAND… | up DIR | down DIR | kill DIR PART | start DIR PART | build",
)

func run(ctx context.Context, args []string) (int, error) {
	word := ""
	if len(args) > 0 {
		word, args = args[0], args[1:]
	}
	switch {
	case word == "run" && len(args) > 0:
		return runTests(ctx, args)
	case word == "build" && len(args) == 0:
		return 0, build(ctx, cacheDir())
	case word == "up" && len(args) == 1:
		c, err := newCluster(args[0])
		if err == nil {
			err = c.up(ctx)
		}
		if err != nil {
			return 1, err
		}
		_, err = fmt.Fprintln(os.Stdout, c.path("kubeconfig"))
		return 0, err
	case word == "down" && len(args) == 1:
		return 0, open(args[0]).down()
	case word == "kill" && len(args) == 2:
		return 0, open(args[0]).kill(args[1])
	case word == "start" && len(args) == 2:
		return 0, open(args[0]).start(ctx, args[1])
	}
	return 2, errUsage
}

// runTests runs a command with a new cluster. If the cluster cannot start, the command's environment contains the
// reason.
func runTests(ctx context.Context, command []string) (int, error) {
	if os.Getenv(kubeconfigEnv) != "" {
		return execute(ctx, command)
	}
	began := time.Now()
	if err := prepare(ctx); err != nil {
		return without(ctx, command, err)
	}
	dir, err := os.MkdirTemp("", "gcity-kube-")
	if err != nil {
		return 1, err
	}
	c, err := newCluster(dir)
	if err == nil {
		err = c.up(ctx)
	}
	if err != nil {
		err = errors.Join(err, c.down())
		return without(ctx, command, err)
	}
	fmt.Fprintf(os.Stderr, "testcluster: up after %s\n", time.Since(began).Round(time.Second))
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	code, err := execute(ctx, command,
		kubeconfigEnv+"="+c.path("kubeconfig"), programEnv+"="+self, dirEnv+"="+dir,
		"PATH="+cacheDir()+string(os.PathListSeparator)+os.Getenv("PATH")) // for kubectl
	return code, errors.Join(err, c.down())
}

// without runs a command without a cluster. The command's environment contains the reason.
func without(ctx context.Context, command []string, reason error) (int, error) {
	fmt.Fprintln(os.Stderr, "testcluster: tests that need a cluster are skipped:", reason)
	return execute(ctx, command, skipEnv+"="+reason.Error())
}

func execute(ctx context.Context, command []string, env ...string) (int, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func cacheDir() string {
	if dir := os.Getenv("GCITY_TESTCLUSTER_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "gcity-testcluster", kubernetes)
}
