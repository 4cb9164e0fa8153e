package api_test

import (
	"os"
	"path/filepath"
	"testing"

	"gcity/api"
	"gcity/internal/hungfs"
)

// A hung token file does not block another token file.
func TestKeepUnreadableToken(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, free := hungfs.Mount(t, false)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	d, addr := keep(t), freeAddr(t)
	d.wants <- api.TCP{Addr: addr, TokenFile: filepath.Join(hung, "token")}
	d.until("", "is not available")
	d.wants <- api.TCP{Addr: addr, TokenFile: file}
	d.until(addr, "")
	free()
}
