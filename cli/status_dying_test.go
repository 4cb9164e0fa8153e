package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gcity/cli/folder"
)

// If the controller exits while it handles the request, status reads the city's files.
func TestStatusWhileTheControllerExits(t *testing.T) {
	dir := t.TempDir()
	text := "[workspace]\nname = \"svc\"\n[[agents]]\nname = \"a\"\nstart_command = \"exec sleep 1000\"\n"
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := folder.SocketPath(dir)
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := l.Accept()
		_ = l.Close()
		if err == nil {
			_ = conn.Close()
		}
	}()
	out, err := exec.Command("gcity", "status", "--city", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no controller has started it yet") {
		t.Errorf("%v\n%s", err, out)
	}
}
