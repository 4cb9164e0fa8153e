package bd_test

import (
	"os"
	"path/filepath"
	"testing"

	"gcity/beads/bd"
)

// A server in bd's configuration is the city's own only if its database is in the city's folder.
func TestLocalServer(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o700); err != nil {
		t.Fatal(err)
	}
	const config = `{"dolt_mode":"server","dolt_server_port":3307,"dolt_database":"hq"}`
	if err := os.WriteFile(filepath.Join(dir, ".beads", "metadata.json"), []byte(config),
		0o600); err != nil {
		t.Fatal(err)
	}
	if host, port, ok := bd.LocalServer(dir); ok {
		t.Errorf("the user's server: got %s:%d", host, port)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".beads", "dolt", "hq", ".dolt"), 0o700); err != nil {
		t.Fatal(err)
	}
	if host, port, ok := bd.LocalServer(dir); !ok || host != "127.0.0.1" || port != 3307 {
		t.Errorf("the city's server: got %s:%d, %t", host, port, ok)
	}
}
